package extract

import (
	"fmt"
	"math"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
)

// spans copies the spans of all tracks, cut at the edges of the range.
func (x *extraction) spans() error {
	for i, t := range x.tracks {
		if t == nil {
			continue
		}
		from := x.rec.Tracks[i]
		for n, lanes := range from.Columns(&x.rec.Calls) {
			if n > 0 {
				// Spans that overlap without nesting get tracks of their own: after
				// cutting, they could seem to nest.
				t = x.b.Track(recording.TrackKey{Kind: from.Kind, PID: from.PID, TID: from.TID, Name: fmt.Sprintf("%s (%d)", from.Name, n+1)})
				t.SetSort(from.Sort)
			}
			c := &column{x: x, t: t, track: i, at: make([]int, len(lanes)), last: make([]int, len(lanes))}
			for k, lane := range lanes {
				c.lanes = append(c.lanes, &from.Lanes[lane])
				c.at[k], c.last[k] = x.in.SpansIn(c.lanes[k])
			}
			c.emit(0, recording.NoCall, math.MinInt64, math.MaxInt64)
			if x.ctx.Err() != nil {
				return x.ctx.Err()
			}
		}
	}
	return nil
}

// states copies thread states, cut at the edges of the range.
func (x *extraction) states() error {
	for i, t := range x.tracks {
		if t == nil {
			continue
		}
		l := &x.rec.Tracks[i].States
		first, last := x.in.SpansIn(l)
		for k := first; k < last; k++ {
			start, end := l.Start(k), l.End(k)
			if x.in.Ranged {
				start, end = max(start, x.in.From), min(end, x.in.To)
			}
			call, ok := x.stacks.call(l.Call(k))
			if !ok || !x.has(i, start, end) {
				continue
			}
			waker := recording.NoWaker
			if start == l.Start(k) {
				waker = x.waker(x.rec.Waker(x.rec.Tracks[i], k))
			}
			t.StateBy(start, end, call, waker)
		}
		if x.ctx.Err() != nil {
			return x.ctx.Err()
		}
	}
	return nil
}

// waker returns the copied waker, NoWaker if its track is left out.
func (x *extraction) waker(w recording.Waker) recording.WakerID {
	if w.Track == recording.NoTrack || x.tracks[w.Track] == nil {
		return recording.NoWaker
	}
	call, ok := recording.NoCall, true
	if w.Call != recording.NoCall {
		call, ok = x.stacks.call(w.Call)
	}
	if !ok {
		call = recording.NoCall
	}
	return x.b.Waker(x.tracks[w.Track].Index(), call)
}

// column is a column of a track being copied.
type column struct {
	x        *extraction
	t        *recording.TrackBuilder
	track    int
	lanes    []*lanes.Lane
	at, last []int
}

// emit adds the spans of lane k inside a span of the lane above, from..to.
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
				return // the span belongs to the next span above
			}
			continue // a zero-length span at the edge, inside a span that is left out
		}
		if !c.x.has(c.track, start, end) {
			continue
		}
		mine, _ := c.x.stacks.call(call)
		c.t.BeginCall(max(start, c.x.from), mine, l.Args(i))
		c.emit(k+1, call, start, end)
		c.t.End(min(end, c.x.to))
	}
}
