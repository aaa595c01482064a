package source

import (
	"runtime"
	"runtime/debug"
	"sync"
)

// Group runs functions in goroutines that may read mapped files. The zero value is ready.
type Group struct {
	wg    sync.WaitGroup
	first sync.Once
	fault any
}

// Go runs f in a goroutine of its own. The fault of reading a mapped file ends f, and
// [Group.Wait] panics with it.
func (g *Group) Go(f func()) {
	g.wg.Go(func() {
		defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
		defer func() {
			p := recover()
			if _, ok := p.(interface {
				runtime.Error
				Addr() uintptr
			}); ok {
				g.first.Do(func() { g.fault = p })
			} else if p != nil {
				panic(p)
			}
		}()
		f()
	})
}

// Wait waits until all functions have ended. A fault in one of them goes on here, so
// that a [Guard] around it makes it an error.
func (g *Group) Wait() {
	g.wg.Wait()
	if g.fault != nil {
		panic(g.fault)
	}
}
