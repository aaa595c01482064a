package timeline

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// mostGoroutines is how many look at a recording for a picture: others have to
// read the file.
const mostGoroutines = 4

// shared is work on some items of which its owner needs one after another. Others
// begin at the end and do what the owner has not come to. It never waits for one
// that found no time to begin: cores may be busy with reading.
type shared struct {
	items []sharedItem
	do    func(i int)
}

type sharedItem struct {
	taken atomic.Bool
	done  sync.WaitGroup
}

// newShared begins work on n items on up to as many goroutines, the owner's
// included.
func newShared(n, goroutines int, do func(i int)) *shared {
	s := &shared{make([]sharedItem, n), do}
	for i := range s.items {
		s.items[i].done.Add(1)
	}
	for range min(goroutines, mostGoroutines, runtime.GOMAXPROCS(0), n) - 1 {
		go func() {
			for i := len(s.items) - 1; i >= 0; i-- {
				s.take(i)
			}
		}()
	}
	return s
}

func (s *shared) take(i int) {
	if it := &s.items[i]; it.taken.CompareAndSwap(false, true) {
		s.do(i)
		it.done.Done()
	}
}

// need returns when an item is done.
func (s *shared) need(i int) {
	s.take(i)
	s.items[i].done.Wait()
}

// share does all of n items.
func share(n, goroutines int, do func(i int)) {
	s := newShared(n, goroutines, do)
	for i := range n {
		s.need(i)
	}
}
