// Command ashlar opens profiles and traces in a window and answers questions about them on
// the command line. Package command documents its use.
package main

import (
	"os"

	"ashlar/app/command"
	"ashlar/app/core/cache"
	"ashlar/app/core/settings"
	"ashlar/app/window"
)

func main() {
	attachConsole()
	// The desktop's event loop needs the main goroutine, but only if a window is wanted.
	windowed := make(chan command.WindowOptions)
	done := make(chan int)
	run := command.Runner{
		Render: render,
		Store:  settings.Open,
		Cache:  kept,
		Window: func(o command.WindowOptions) error {
			windowed <- o
			select {} // show's result ends the program
		},
	}
	go func() { done <- command.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, run) }()
	select {
	case code := <-done:
		os.Exit(code)
	case o := <-windowed:
		window.Main(func() int { return show(o, run) })
	}
}

// kept returns the cache of large recordings as configured in the settings.
func kept() *cache.Cache {
	var s settings.CacheSettings
	if st, err := settings.Open(); err == nil {
		s = st.Cache()
	}
	return cache.Open(s)
}
