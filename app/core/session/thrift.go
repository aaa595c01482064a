package session

import (
	"runtime/debug"
	"sync"

	"ashlar/ingest/input/memory"
)

// thrift keeps what comparing takes of memory near what the recordings take, also once
// they are read: two large ones leave twice the garbage of one. That costs little, since
// nearly all that recordings hold are columns without pointers, which the collector need
// not look through.
type thrift struct {
	mu     sync.Mutex
	spares *memory.Sparing // nil while they are not large
	tidied int             // how often
}

// thriftSpans is from how many spans on recordings are large.
const thriftSpans = 1 << 20

// thriftPercent limits garbage to this percentage of the live heap.
const thriftPercent = 30

func (t *thrift) large(a *CompareAnswer) bool {
	return a.Recs[0].Counts.Spans+a.Recs[1].Counts.Spans >= thriftSpans
}

// save begins to save once recordings are large.
func (t *thrift) save(a *CompareAnswer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.spares == nil && t.large(a) {
		t.spares = memory.Spare(thriftPercent)
	}
}

// end ends saving.
func (t *thrift) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.spares != nil {
		t.spares.End()
		t.spares = nil
	}
}

// tidy gives back what large recordings have left: some hundred megabytes once
// they are read, and again after the first pass over all spans.
func (t *thrift) tidy(a *CompareAnswer, times int) {
	if t.tidied < times && a.whole() && t.large(a) {
		t.tidied = times
		debug.FreeOSMemory()
	}
}
