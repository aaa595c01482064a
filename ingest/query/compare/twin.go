package compare

import (
	"context"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare/match"
)

// Find returns the index of a function in Tree.Funcs, -1 if it is nil or not there.
func (c *Comparison) Find(n *recording.FuncName) int32 {
	if n == nil {
		return -1
	}
	for f := range c.Matching.Funcs {
		if c.Matching.Funcs[f].FuncName == *n {
			return int32(f)
		}
	}
	return -1
}

// An Occurrence is one span in one of two recordings; Side is 0 or 1.
type Occurrence struct {
	Side              int
	Track, Lane, Span int
}

// A Place is an occurrence with its number, times and call.
type Place struct {
	Occurrence
	// Number counts the calls of the same function on the thread, from 1.
	Number     int
	Start, End int64
	Call       recording.CallID
}

// Lead returns the index in Runs of a side's first recording.
func (c *Comparison) Lead(side int) int { return side * c.Sides }

// Twin returns the span that corresponds to at in the other side's first recording: the
// call of the same function with the same number on the matching thread. at is in its
// side's first recording; threads matches the threads of both. It returns nil if there are
// fewer calls or no such function or thread.
func (c *Comparison) Twin(ctx context.Context, threads *match.Matching, at Occurrence) *Place {
	here, there := at.Side, 1-at.Side
	lead, led := c.Lead(here), c.Lead(there)
	rec, other := c.recs[lead], c.recs[led]
	if at.Track >= len(rec.Tracks) || at.Lane < 0 || at.Lane >= len(rec.Tracks[at.Track].Lanes) || at.Span < 0 || at.Span >= rec.Tracks[at.Track].Lanes[at.Lane].Len() {
		return nil
	}
	own := rec.Func(rec.Tracks[at.Track].Lanes[at.Lane].Call(at.Span))
	fn := c.Matching.Funcs[c.Matching.IDs[lead][own]].In[led]
	thread := threads.Funcs[threads.IDs[here][at.Track]].In[there]
	if fn < 0 || thread < 0 {
		return nil
	}
	number := 0
	eachCall(ctx, rec, rec.Tracks[at.Track], own, func(lane, span int) bool {
		number++
		return lane != at.Lane || span != at.Span
	})
	var found *Place
	n := 0
	lanes := other.Tracks[thread].Lanes
	eachCall(ctx, other, other.Tracks[thread], recording.FuncID(fn), func(lane, span int) bool {
		if n++; n < number {
			return true
		}
		l := &lanes[lane]
		found = &Place{Occurrence: Occurrence{there, int(thread), lane, span}, Number: number, Start: l.Start(span), End: l.End(span), Call: l.Call(span)}
		return false
	})
	return found
}

// eachCall visits the spans of a function on a track in the order in which they
// began, until visit returns false.
func eachCall(ctx context.Context, rec *recording.Recording, t *recording.Track, f recording.FuncID, visit func(lane, span int) bool) {
	is := make([]bool, rec.Calls.Len())
	depths := map[int]bool{}
	for c := 1; c < len(is); c++ {
		if rec.Func(recording.CallID(c)) == f {
			is[c] = true
			depths[rec.Calls.Depth(recording.CallID(c))] = true
		}
	}
	// A recursive function has spans on several lanes.
	type walk struct{ lane, at int }
	var walks []walk
	next := func(lane, i int) int {
		l := &t.Lanes[lane]
		for i < l.Len() && ctx.Err() == nil {
			cs := l.Calls(i)
			for k, c := range cs {
				if is[c] {
					return i + k
				}
			}
			i += len(cs)
		}
		return -1
	}
	for lane := range t.Lanes {
		if l := &t.Lanes[lane]; l.Len() > 0 && depths[rec.Calls.Depth(l.Call(0))] {
			if i := next(lane, 0); i >= 0 {
				walks = append(walks, walk{lane, i})
			}
		}
	}
	for len(walks) > 0 {
		first := 0
		for k := range walks {
			if t.Lanes[walks[k].lane].Start(walks[k].at) < t.Lanes[walks[first].lane].Start(walks[first].at) {
				first = k
			}
		}
		w := &walks[first]
		if !visit(w.lane, w.at) {
			return
		}
		if w.at = next(w.lane, w.at+1); w.at < 0 {
			walks = append(walks[:first], walks[first+1:]...)
		}
	}
}
