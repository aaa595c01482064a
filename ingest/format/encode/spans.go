package encode

import (
	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
)

// Span is one span of a lane.
type Span struct {
	Start, End int64
	Call       recording.CallID
	Args       uint64
	Unfinished bool
	Depth      int // counted from 0
}

func SpanAt(l *lanes.Lane, i, depth int) Span {
	return Span{l.Start(i), l.End(i), l.Call(i), l.Args(i), l.Unfinished(i), depth}
}

// A Column is a run of a track's lanes whose spans nest like calls: each lane's spans are
// within those of the lane above. A track has several columns if spans overlap without
// nesting.
type Column struct {
	Lanes []*lanes.Lane
	at    []int // the next span of each lane
	left  int64 // number of spans that have not begun
	calls *recording.Calls
}

// Columns splits a track's lanes into columns.
func Columns(rec *recording.Recording, t *recording.Track) (cs []*Column) {
	for _, lanes := range t.Columns(&rec.Calls) {
		c := &Column{calls: &rec.Calls, at: make([]int, len(lanes))}
		for _, i := range lanes {
			c.Lanes = append(c.Lanes, &t.Lanes[i])
		}
		cs = append(cs, c)
	}
	return cs
}

// Spans counts the spans of a column.
func (c *Column) Spans() int64 {
	var n int64
	for _, l := range c.Lanes {
		n += int64(l.Len())
	}
	return n
}

// Walk visits the spans of a column in order of time. It calls begin for a span before it
// visits the spans inside, and end after them. An error from either stops the walk.
func (c *Column) Walk(begin, end func(*Span) error) error {
	clear(c.at)
	c.left = c.Spans()
	var open []Span
	for {
		k := c.next(open)
		if k < 0 {
			break
		}
		for len(open) > k {
			if err := end(&open[len(open)-1]); err != nil {
				return err
			}
			open = open[:len(open)-1]
		}
		l, i := c.Lanes[k], c.at[k]
		c.at[k]++
		c.left--
		open = append(open, SpanAt(l, i, len(open)))
		if err := begin(&open[len(open)-1]); err != nil {
			return err
		}
	}
	for n := len(open) - 1; n >= 0; n-- {
		if err := end(&open[n]); err != nil {
			return err
		}
	}
	return nil
}

// next returns the lane of the span that begins next, -1 at the end. Lanes inside the
// innermost open span are tried first, because the next span of a lane above begins after
// everything in the open span.
func (c *Column) next(open []Span) int {
	for k := min(len(open), len(c.Lanes)-1); k >= 0; k-- {
		l, i := c.Lanes[k], c.at[k]
		if i == l.Len() {
			continue
		}
		if k > 0 {
			p := &open[k-1]
			if l.Start(i) > p.End || l.End(i) > p.End || c.calls.Parent(l.Call(i)) != p.Call {
				continue
			}
		}
		return k
	}
	if c.left > 0 {
		return c.earliest()
	}
	return -1
}

// earliest returns the lane of the earliest span left, -1 if none is left. It ensures
// that nothing is lost if lanes do not nest correctly.
func (c *Column) earliest() int {
	best := -1
	for k, l := range c.Lanes {
		if c.at[k] < l.Len() && (best < 0 || l.Start(c.at[k]) < c.Lanes[best].Start(c.at[best])) {
			best = k
		}
	}
	return best
}

// Done reports, within a walk, whether every span has begun.
func (c *Column) Done() bool { return c.left == 0 }

// LaneLatest returns the latest time in a lane, ignoring the ends of unfinished spans.
func LaneLatest(l *lanes.Lane) int64 {
	for i := l.Len() - 1; i >= 0; i-- {
		if !l.Unfinished(i) {
			return max(l.End(i), l.Start(l.Len()-1))
		}
	}
	if n := l.Len(); n > 0 {
		return l.Start(n - 1)
	}
	return 0
}
