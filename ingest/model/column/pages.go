package column

import (
	"sync"
	"unsafe"

	"ashlar/ingest/input/memory"
)

// Columns are written once, front to back, so writing asks the system for page after
// page. With pages of 4 kB, this and TLB misses take a quarter of the time for reading
// simple formats. So the memory of chunks is requested in pages of 2 MB, on systems that
// provide them on request.

// pageBits sets the size of a large page.
const pageBits = 21

// large holds the large pages requested so far, by address. Go keeps its address space,
// so each needs only one request.
var large struct {
	sync.Mutex
	pages map[uintptr]struct{}
	small bool // memory is short: keep the system's page size
	look  int  // number of pages to request before free memory is checked again
}

// roomy is the free memory required for large pages, because part of each large page
// stays unused. With less free memory, it is checked less often.
const (
	roomy             = 1 << 30
	lookAt, lookShort = 32, 4096
)

// smallPage is roughly the size of an ordinary page, in bytes.
const smallPage = 4 << 10

// Fresh returns n elements on the heap, in large pages if they take more than a small one.
// It is for hash tables, too: the system provides a small page twice if it is read before it
// is written.
func Fresh[T any](n int) []T {
	var x T
	run, size := make([]T, n), uintptr(n)*unsafe.Sizeof(x)
	if size >= smallPage {
		askLarge(uintptr(unsafe.Pointer(unsafe.SliceData(run))), size)
	}
	return run
}

// askLarge asks for large pages. The system may ignore it.
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
