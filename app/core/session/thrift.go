package session

import (
	"runtime/debug"
	"sync"

	"ashlar/ingest/input/memory"
)

// thrift limits the garbage of a comparison, even after reading has ended: two large
// recordings leave twice as much garbage as one. More frequent collections cost little,
// because recordings are mostly columns without pointers, which the collector does not
// scan.
type thrift struct {
	mu     sync.Mutex
	spares *memory.Sparing // nil unless the recordings are large
	tidied int             // how often memory was returned
}

// thriftSpans is the number of spans from which recordings count as large.
const thriftSpans = 1 << 20

// thriftPercent limits garbage to this percentage of the live heap.
const thriftPercent = 30

func (t *thrift) large(a *CompareAnswer) bool {
	return a.Recs[0].Counts.Spans+a.Recs[1].Counts.Spans >= thriftSpans
}

// save limits garbage once the recordings are large.
func (t *thrift) save(a *CompareAnswer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.spares == nil && t.large(a) {
		t.spares = memory.Spare(thriftPercent)
	}
}

// end removes the limit.
func (t *thrift) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.spares != nil {
		t.spares.End()
		t.spares = nil
	}
}

// tidy returns unused memory of large recordings to the system: some hundred megabytes
// after reading, and again after the first pass over all spans.
func (t *thrift) tidy(a *CompareAnswer, times int) {
	if t.tidied < times && a.whole() && t.large(a) {
		t.tidied = times
		debug.FreeOSMemory()
	}
}
