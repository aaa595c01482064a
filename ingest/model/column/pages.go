package column

import (
	"sync"
	"unsafe"

	"ashlar/ingest/input/memory"
)

// Columns are written once from one end to the other, so the system is asked for a page
// at every step: with pages of 4 kB that, and finding pages again that processors have
// forgotten, takes a quarter of the time in which simple formats are read. So the memory
// around chunks is asked for in pages of 2 MB, where the system gives such to who asks.

// pageBits sets the size of a large page.
const pageBits = 21

// large are the large pages that were asked for, by address. Go keeps addresses: one that
// is there was asked for once and for all.
var large struct {
	sync.Mutex
	pages map[uintptr]struct{}
	small bool // memory is short: the pages of the system stay as they are
	look  int  // how many more pages may come before what is left is looked at again
}

// roomy is how much memory there must be left for large pages, a part of which is taken
// and never used. While there is less it is looked at more seldom.
const (
	roomy             = 1 << 30
	lookAt, lookShort = 32, 4096
)

// smallPage is about the size of other pages.
const smallPage = 4 << 10

// fresh makes n elements on the heap, in large pages where they take more than a small one.
func fresh[T any](n int) []T {
	var x T
	run, size := make([]T, n), uintptr(n)*unsafe.Sizeof(x)
	if size >= smallPage {
		askLarge(uintptr(unsafe.Pointer(unsafe.SliceData(run))), size)
	}
	return run
}

// askLarge asks for memory in large pages. That is no more than advice.
func askLarge(first, size uintptr) {
	last := first + size - 1
	large.Lock()
	defer large.Unlock()
	if large.pages == nil {
		large.pages = map[uintptr]struct{}{}
	}
	for p := first >> pageBits; p <= last>>pageBits; p++ {
		if _, asked := large.pages[p]; asked {
			continue
		}
		if large.look--; large.look < 0 {
			room, known := memory.Room()
			if large.small, large.look = known && room < roomy, lookAt; large.small {
				large.look = lookShort
			}
		}
		if !large.small {
			large.pages[p] = struct{}{}
			advise(p<<pageBits, 1<<pageBits)
		}
	}
}
