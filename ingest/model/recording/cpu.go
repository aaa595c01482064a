package recording

import (
	"sync"
	"sync/atomic"

	"ashlar/ingest/model/column"
	"ashlar/ingest/model/lanes"
)

// CPUTimes is how long the spans of a recording ran on CPU.
type CPUTimes struct {
	mu    sync.Mutex
	known atomic.Pointer[OnCPU]
}

// OnCPU is the CPU time of each span in picoseconds, [Missing] if unknown.
type OnCPU struct {
	Spans [][][]int64 // by track, lane and span
	Outer []int64     // by track: of the outermost of its spans that tell, together
}

// Pack keeps nothing: what was found is found again.
func (*CPUTimes) Pack(*column.Archive) {}

// Of finds it where it is not known yet.
func (c *CPUTimes) Of(find func() (*OnCPU, error)) (*OnCPU, error) {
	if of := c.Known(); of != nil {
		return of, nil
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if of := c.Known(); of != nil {
		return of, nil
	}
	of, err := find()
	if err == nil {
		c.known.Store(of)
	}
	return of, err
}

// Known returns what has been found, nil before. It never waits.
func (c *CPUTimes) Known() *OnCPU { return c.known.Load() }

// SpanCPU is how long span i of a lane ran on CPU, in picoseconds: never
// longer than it lasted, however coarse the thread's clock is. A span that never
// ended does not tell.
func (r *Recording) SpanCPU(l *lanes.Lane, i int) (ps int64, known bool) {
	ref := l.Args(i)
	if r.CPU == nil || ref == 0 || l.Unfinished(i) {
		return 0, false
	}
	if ps, known = r.CPU(ref); !known {
		return 0, false
	}
	return max(0, min(ps, l.End(i)-l.Start(i))), true
}
