package memory

import (
	"math"
	"runtime/debug"
	"runtime/metrics"
	"sync"
)

// Go's runtime lets garbage grow with the live heap, so a recording of some hundred
// megabytes would take twice its size while it is read. But the cost of a collection
// depends only on memory with pointers, and columns have none. So garbage is limited to
// half of the memory with pointers, plus a small amount. The setting (GOGC) is global; if
// several parts set it, the lowest value counts.

var garbage struct {
	sync.Mutex
	wish, set int // percent of the live heap: the default, and the current setting
	wants     map[*Sparing]bool
}

// A Sparing keeps garbage below a percentage of the live heap until End is called.
type Sparing struct{ percent int }

// freeGarbage is the number of bytes of garbage that are always allowed. sparsest is the
// lowest limit, in percent, because a collection takes some time even if it scans little.
// Limits change in steps, because setting one halts all goroutines.
const (
	freeGarbage = 64 << 20
	sparsest    = 10
	step        = 5
)

// Spare starts to limit garbage to this percentage of the live heap.
func Spare(percent int) *Sparing {
	garbage.Lock()
	defer garbage.Unlock()
	if len(garbage.wants) == 0 {
		gogc := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(gogc)
		garbage.wish = int(int32(gogc[0].Value.Uint64())) // below 0 if it is off
		garbage.set, garbage.wants = garbage.wish, map[*Sparing]bool{}
	}
	s := &Sparing{percent}
	garbage.wants[s] = true
	setGarbage()
	return s
}

// Change changes the percentage.
func (s *Sparing) Change(percent int) {
	garbage.Lock()
	defer garbage.Unlock()
	s.percent = percent
	setGarbage()
}

// End removes the limit.
func (s *Sparing) End() {
	garbage.Lock()
	defer garbage.Unlock()
	delete(garbage.wants, s)
	setGarbage()
}

// setGarbage sets the lowest of the requested limits. A collector that is off stays off.
func setGarbage() {
	least := garbage.wish
	for s := range garbage.wants {
		if garbage.wish >= 0 {
			least = min(least, s.percent)
		}
	}
	if least != garbage.set {
		debug.SetGCPercent(least)
		garbage.set = least
	}
}

// fairGarbage returns the garbage limit for the current heap, in percent.
func fairGarbage() int {
	s := []metrics.Sample{{Name: "/gc/heap/live:bytes"}, {Name: "/gc/scan/heap:bytes"}}
	metrics.Read(s)
	return fair(s[0].Value.Uint64(), s[1].Value.Uint64())
}

// fair returns the garbage limit, in percent, for a number of live bytes. scanned is the
// number of bytes with pointers.
func fair(live, scanned uint64) int {
	if live < freeGarbage {
		return math.MaxInt
	}
	return max(sparsest, int(100*(freeGarbage+scanned/2)/live)/step*step)
}
