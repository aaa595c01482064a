package timeline

import (
	"runtime"
	"sync"
	"sync/atomic"

	"ashlar/ingest/input/source"
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
	fault any // of reading a mapped file, which ended it
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
		defer it.done.Done()
		it.fault = source.Catch(func() { s.do(i) })
	}
}

// need returns when an item is done. A fault in it goes on here, for the owner's
// [source.Guard].
func (s *shared) need(i int) {
	s.take(i)
	it := &s.items[i]
	it.done.Wait()
	if it.fault != nil {
		panic(it.fault)
	}
}

// share does all of n items.
func share(n, goroutines int, do func(i int)) {
	s := newShared(n, goroutines, do)
	for i := range n {
		s.need(i)
	}
}
