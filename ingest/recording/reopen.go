package recording

import (
	"cmp"
	"slices"
)

// Forget drops the open spans without recording them: for a decoder that finds
// them not to nest and adds each with Span once it knows its end.
func (t *TrackBuilder) Forget() {
	t.cached = nil
	t.open = t.open[:0]
}

// SetArgs replaces the arguments of the innermost open span, for formats whose
// ends bring some too.
func (t *TrackBuilder) SetArgs(args uint64) {
	t.cached = nil
	t.open[len(t.open)-1].args = args
}

// sortByTime puts a counter's points in order of time, stable, if they are
// not. It builds new columns, so snapshots keep theirs.
func (c *Counter) sortByTime() {
	if !c.unsorted {
		return
	}
	c.unsorted = false
	order := make([]int, c.times.Len())
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(c.times.At(a), c.times.At(b)) })
	c.times, c.values = reorder(&c.times, order, 0), reorder(&c.values, order, 0)
}
