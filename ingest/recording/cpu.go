package recording

import "sync"

// CPUTimes is how long the spans of a recording ran on a processor.
type CPUTimes struct {
	mu      sync.Mutex
	columns [][][]int64
}

// Of is the column of each track and lane: picoseconds by span, Missing where a span
// does not tell. find makes them where they are not known yet.
func (c *CPUTimes) Of(find func() ([][][]int64, error)) (columns [][][]int64, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.columns == nil {
		columns, err = find()
		if err == nil {
			c.columns = columns
		}
	}
	return c.columns, err
}

// SpanCPU is how long span i of a lane ran on a processor, in picoseconds: never
// longer than it lasted, however coarse the thread's clock is. A span that never
// ended does not tell.
func (r *Recording) SpanCPU(l *Lane, i int) (ps int64, known bool) {
	ref := l.Args(i)
	if r.CPU == nil || ref == 0 || l.Unfinished(i) {
		return 0, false
	}
	if ps, known = r.CPU(ref); !known {
		return 0, false
	}
	return max(0, min(ps, l.End(i)-l.Start(i))), true
}
