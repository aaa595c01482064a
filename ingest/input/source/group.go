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

// Go runs f in a goroutine of its own. If reading a mapped file faults, f ends and
// [Group.Wait] panics with the fault.
func (g *Group) Go(f func()) {
	g.wg.Go(func() {
		if fault := Catch(f); fault != nil {
			g.first.Do(func() { g.fault = fault })
		}
	})
}

// Catch runs f. If a fault while reading a mapped file ends f, Catch returns the fault,
// else nil. Panic with it in the goroutine that waits for f, so that a [Guard] there
// turns it into an error. Any other panic goes on.
func Catch(f func()) (fault any) {
	defer debug.SetPanicOnFault(debug.SetPanicOnFault(true))
	defer func() {
		p := recover()
		if _, ok := p.(interface {
			runtime.Error
			Addr() uintptr
		}); ok {
			fault = p
		} else if p != nil {
			panic(p)
		}
	}()
	f()
	return nil
}

// Wait waits until all functions have ended. If one of them ended with a fault, Wait
// panics with it, so that a [Guard] around the call turns it into an error.
func (g *Group) Wait() {
	g.wg.Wait()
	if g.fault != nil {
		panic(g.fault)
	}
}
