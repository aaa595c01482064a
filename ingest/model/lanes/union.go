package lanes

import (
	"iter"

	"ashlar/ingest/model/heap"
)

// Union returns the time ranges, from start to end in picoseconds and in order, that are
// covered by a span of any of the lanes. Adjoining ranges are merged. Empty ranges are
// left out.
func Union(ls []*Lane) iter.Seq2[int64, int64] {
	type cursor struct {
		l     *Lane
		i     int
		start int64
	}
	return func(yield func(start, end int64) bool) {
		next := heap.Heap[cursor]{Before: func(a, b cursor) bool { return a.start < b.start }}
		for _, l := range ls {
			if l.Len() > 0 {
				next.Push(cursor{l, 0, l.Start(0)})
			}
		}
		var start, end int64
		for next.Len() > 0 {
			c := next.Pop()
			if e := c.l.End(c.i); e > c.start {
				if end == start || c.start > end {
					if end > start && !yield(start, end) {
						return
					}
					start, end = c.start, e
				}
				end = max(end, e)
			}
			if c.i++; c.i < c.l.Len() {
				c.start = c.l.Start(c.i)
				next.Push(c)
			}
		}
		if end > start {
			yield(start, end)
		}
	}
}
