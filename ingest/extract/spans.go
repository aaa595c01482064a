package extract

import (
	"fmt"
	"math"

	"ashlar/ingest/recording"
)

// spans takes over the spans of all tracks, cut at the edges of the range.
func (x *extraction) spans() error {
	for i, t := range x.tracks {
		if t == nil {
			continue
		}
		for n, lanes := range columns(x.rec, x.rec.Tracks[i]) {
			if n > 0 {
				// Spans that overlap without nesting stand on tracks of their own:
				// cut, they might seem to nest.
				from := x.rec.Tracks[i]
				t = x.b.Track(recording.TrackKey{Kind: from.Kind, PID: from.PID, TID: from.TID, Name: fmt.Sprintf("%s (%d)", from.Name, n+1)})
				t.SetSort(from.Sort)
			}
			c := &column{x: x, t: t, lanes: lanes, at: make([]int, len(lanes)), last: make([]int, len(lanes))}
			for k, l := range lanes {
				c.at[k], c.last[k] = x.in.SpansIn(l)
			}
			c.emit(0, recording.NoCall, math.MinInt64, math.MaxInt64)
			if x.ctx.Err() != nil {
				return x.ctx.Err()
			}
		}
	}
	return nil
}

// columns takes a track's lanes apart into runs in which each lane's spans lie
// within those of the lane above.
func columns(rec *recording.Recording, t *recording.Track) (cs [][]*recording.Lane) {
	for i := range t.Lanes {
		l := &t.Lanes[i]
		if l.Len() == 0 {
			continue
		}
		if len(cs) == 0 || rec.Calls.Depth(l.Call(0)) == 1 {
			cs = append(cs, nil)
		}
		cs[len(cs)-1] = append(cs[len(cs)-1], l)
	}
	return cs
}

// column is one of them under way.
type column struct {
	x        *extraction
	t        *recording.TrackBuilder
	lanes    []*recording.Lane
	at, last []int
}

// emit adds the spans of lane k that lie within a span of the lane above, which
// is from..to.
func (c *column) emit(k int, parent recording.CallID, from, to int64) {
	if k == len(c.lanes) {
		return
	}
	rec, l := c.x.rec, c.lanes[k]
	for ; c.at[k] < c.last[k]; c.at[k]++ {
		i := c.at[k]
		call, start, end := l.Call(i), l.Start(i), l.End(i)
		if start > to || end > to {
			return
		}
		if start < from || rec.Calls.Parent(call) != parent {
			if start > from {
				return // it lies in the next one
			}
			continue // of no length, at the edge, in one that is left out
		}
		mine, _ := c.x.stacks.call(call)
		c.t.BeginCall(max(start, c.x.from), mine, l.Args(i))
		c.emit(k+1, call, start, end)
		c.t.End(min(end, c.x.to))
	}
}
