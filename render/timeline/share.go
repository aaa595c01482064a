package timeline

import (
	"runtime"
	"sync"
	"sync/atomic"

	"ashlar/ingest/input/source"
)

// mostGoroutines is the maximum number of goroutines that prepare a picture: the other
// cores are needed to read the file.
const mostGoroutines = 4

// shared is work on a list of items whose owner needs the results in order. Other
// goroutines start at the end of the list and do items that the owner has not reached.
// The owner never waits for a goroutine that has not started, because all cores may be
// busy reading the file.
type shared struct {
	items []sharedItem
	do    func(i int)
}

type sharedItem struct {
	taken atomic.Bool
	done  sync.WaitGroup
	fault any // a fault in reading a mapped file, which ended the item
}

// newShared starts work on n items on at most the given number of goroutines, including
// the owner's.
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
		defer it.done.Done()
		it.fault = source.Catch(func() { s.do(i) })
	}
}

// need returns when an item is done. A fault in the item is raised again here, for the
// owner's [source.Guard].
func (s *shared) need(i int) {
	s.take(i)
	it := &s.items[i]
	it.done.Wait()
	if it.fault != nil {
		panic(it.fault)
	}
}

// share does all n items and returns when they are done.
func share(n, goroutines int, do func(i int)) {
	s := newShared(n, goroutines, do)
	for i := range n {
		s.need(i)
	}
}
