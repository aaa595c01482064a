package recording

import (
	"sync"
	"sync/atomic"

	"ashlar/ingest/model/column"
	"ashlar/ingest/model/lanes"
)

// CPUTimes caches how long the spans of a recording ran on CPU.
type CPUTimes struct {
	mu    sync.Mutex
	known atomic.Pointer[OnCPU]
}

// OnCPU is the CPU time of each span in picoseconds, [Missing] if unknown.
type OnCPU struct {
	Spans [][][]int64 // by track, lane and span
	Outer []int64     // by track: the total of its outermost spans with a known time
}

// Pack writes nothing: the times can be computed again.
func (*CPUTimes) Pack(*column.Archive) {}

// Of returns the times, calling find if they are not known yet.
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

// Known returns the times if they are known, otherwise nil. It never waits.
func (c *CPUTimes) Known() *OnCPU { return c.known.Load() }

// SpanCPU returns how long span i of a lane ran on CPU, in picoseconds: at most the
// span's duration, however coarse the thread's clock is. It is unknown for a span that
// never ended.
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
