// Command ashlar looks at recorded runs of programs. Package cli says how it
// is used.
package main

import (
	"os"

	"ashlar/app/command"
	"ashlar/app/core/cache"
	"ashlar/app/core/store"
	"ashlar/app/window"
)

func main() {
	attachConsole()
	// The desktop's event loop wants the main goroutine, but only once it is
	// known that a window is wanted.
	windowed := make(chan cli.WindowOptions)
	done := make(chan int)
	run := cli.Runner{
		Render: render,
		Store:  store.Open,
		Cache:  kept,
		Window: func(o cli.WindowOptions) error {
			windowed <- o
			select {} // show ends the program
		},
	}
	go func() { done <- cli.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr, run) }()
	select {
	case code := <-done:
		os.Exit(code)
	case o := <-windowed:
		window.Main(func() int { return show(o, run) })
	}
}

// kept is where large recordings are kept, as the settings say.
func kept() *cache.Cache {
	var s store.CacheSettings
	if st, err := store.Open(); err == nil {
		s = st.Cache()
	}
	return cache.Open(s)
}
