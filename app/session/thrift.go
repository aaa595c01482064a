package session

import (
	"runtime/debug"
	"sync"
)

// thrift keeps what comparing takes of memory near what the recordings take. Two
// large ones leave twice the garbage of one while they are read, and the runtime
// lets garbage grow with what is held: here it may not grow as much. That costs
// little, since nearly all that recordings hold are columns without pointers,
// which the collector need not look through.
type thrift struct {
	mu     sync.Mutex
	saves  bool
	tidied int // how often
}

// thriftSpans is from how many spans on recordings are large.
const thriftSpans = 1 << 20

// thriftPercent is how much garbage there may be, in percent of what is held.
const thriftPercent = 30

// collected is the runtime's setting, for all comparisons that are open.
var collected struct {
	mu  sync.Mutex
	by  int // how many save
	was int
}

func (t *thrift) large(a *CompareAnswer) bool {
	return a.Recs[0].Counts.Spans+a.Recs[1].Counts.Spans >= thriftSpans
}

// save begins to save once recordings are large.
func (t *thrift) save(a *CompareAnswer) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.saves || !t.large(a) {
		return
	}
	t.saves = true
	collected.mu.Lock()
	defer collected.mu.Unlock()
	if collected.by++; collected.by == 1 {
		if collected.was = debug.SetGCPercent(thriftPercent); collected.was >= 0 && collected.was < thriftPercent {
			debug.SetGCPercent(collected.was)
		}
	}
}

// end ends saving.
func (t *thrift) end() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.saves {
		return
	}
	t.saves = false
	collected.mu.Lock()
	defer collected.mu.Unlock()
	if collected.by--; collected.by == 0 {
		debug.SetGCPercent(collected.was)
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
