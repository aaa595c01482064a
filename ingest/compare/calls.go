package compare

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
)

// mostCalls and mostCopied bound how many calls, and spans in them, are compared
// of one function.
const (
	mostCalls  = 1000
	mostCopied = 2 << 20
)

// call is one span of the function whose calls are compared.
type call struct {
	track, lane, span int
	start, end        int64
}

// FastAndSlow makes two recordings of one: of the fastest and of as many of the
// slowest calls of some functions within a query's range and tracks, a quarter of
// all each but no more than a thousand. Calls within another call of the
// functions are part of that. In the new recordings the calls of a thread follow
// each other without gaps, each with all that ran in it. The error says why there
// is nothing to compare.
func FastAndSlow(rec *recording.Recording, funcs []recording.FuncID, q analyze.Query) (fast, slow *recording.Recording, err error) {
	all := callsOf(rec, funcs, q)
	if len(all) < 2 {
		if rec.Counts.Spans == 0 {
			return nil, nil, errors.New("samples do not tell one call from another; only the spans of a trace do")
		}
		return nil, nil, fmt.Errorf("there are %d calls of it, and comparing takes two", len(all))
	}
	slices.SortStableFunc(all, func(a, b call) int { return cmp.Compare(a.end-a.start, b.end-b.start) })
	n := min(mostCalls, max(1, len(all)/4))
	name := rec.Functions.At(int(funcs[0])).Name
	fast = extract(rec, all[:n], fmt.Sprintf("the %d fastest of %d calls of %s", n, len(all), name))
	slow = extract(rec, all[len(all)-n:], fmt.Sprintf("the %d slowest of %d calls of %s", n, len(all), name))
	return fast, slow, nil
}

// callsOf lists the outermost finished spans of functions.
func callsOf(rec *recording.Recording, funcs []recording.FuncID, q analyze.Query) []call {
	is := make([]bool, rec.Calls.Len())
	depths := map[int]bool{}
	within := make([]bool, rec.Calls.Len())
	for c := 1; c < len(is); c++ {
		id := recording.CallID(c)
		above := within[rec.Calls.Parent(id)]
		mine := slices.Contains(funcs, rec.Func(id))
		is[c], within[c] = mine && !above, mine || above
		if is[c] {
			depths[rec.Calls.Depth(id)] = true
		}
	}
	chosen := q.Scope.TrackTest()
	var all []call
	var room recording.Room
	for ti, t := range rec.Tracks {
		if !chosen(ti) {
			continue
		}
		for li := range t.Lanes {
			l := &t.Lanes[li]
			if l.Len() == 0 || !depths[rec.Calls.Depth(l.Call(0))] {
				continue
			}
			for i := 0; i < l.Len(); {
				starts, ends, cs := l.Columns(i, l.Len(), &room)
				for k := range cs {
					if is[cs[k]] && q.Scope.HasTime(starts[k]) && q.Scope.HasTime(ends[k]) && !l.Unfinished(i+k) {
						all = append(all, call{ti, li, i + k, starts[k], ends[k]})
					}
				}
				i += len(cs)
			}
		}
	}
	return all
}

// extract copies calls, with all spans in them, into a recording of their own.
func extract(rec *recording.Recording, calls []call, name string) *recording.Recording {
	slices.SortFunc(calls, func(a, b call) int {
		return cmp.Or(cmp.Compare(a.track, b.track), cmp.Compare(a.start, b.start))
	})
	b := recording.NewBuilder()
	*b.Source() = rec.Source
	b.Source().Name = name
	*b.Clock() = rec.Clock
	b.AddEvent(recording.SpanEvent())
	if rec.Args != nil {
		b.SetArgs(rec.Args)
	}
	if rec.CPU != nil {
		b.SetCPU(rec.CPU)
	}
	frames := map[recording.FuncID]recording.FrameID{}
	frame := func(c recording.CallID) recording.FrameID {
		f := rec.Func(c)
		id, ok := frames[f]
		if !ok {
			id = b.FunctionFrame(b.Function(rec.Functions.At(int(f))))
			frames[f] = id
		}
		return id
	}
	copied := 0
	track, at := -1, int64(0) // where the next call of the track goes
	for _, c := range calls {
		if copied > mostCopied {
			b.Warn("shortened", "", "the calls have very many spans; only the first are compared")
			break
		}
		t := rec.Tracks[c.track]
		if c.track != track {
			track, at = c.track, 0
		}
		tb := b.Track(keyOf(t))
		tb.SetName(t.Name)
		depth := rec.Calls.Depth(t.Lanes[c.lane].Call(c.span))
		copied += copyCall(rec, t, c, depth, at-c.start, tb, frame)
		at += c.end - c.start
	}
	return b.Finish()
}

// copyCall copies a span and what is in it, in the order in which they began, the
// outer first.
func copyCall(rec *recording.Recording, t *recording.Track, c call, depth int, shift int64, tb *recording.TrackBuilder, frame func(recording.CallID) recording.FrameID) int {
	root := t.Lanes[c.lane].Call(c.span)
	type copied struct {
		start, end int64
		depth      int
		call       recording.CallID
		args       uint64
	}
	out := []copied{{c.start, c.end, depth, root, t.Lanes[c.lane].Args(c.span)}}
	for li := range t.Lanes {
		l := &t.Lanes[li]
		if l.Len() == 0 || rec.Calls.Depth(l.Call(0)) <= depth {
			continue
		}
		d := rec.Calls.Depth(l.Call(0))
		for i := l.Search(c.start); i < l.Len() && l.Start(i) < c.end; i++ {
			if l.Start(i) >= c.start && l.End(i) <= c.end && rec.Calls.Ancestor(l.Call(i), depth) == root {
				out = append(out, copied{l.Start(i), l.End(i), d, l.Call(i), l.Args(i)})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b copied) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.depth, b.depth))
	})
	for _, s := range out {
		tb.Span(s.start+shift, s.end+shift, frame(s.call), s.args, false)
	}
	return len(out)
}

// keyOf is the key of a track: the name is part of it where there is no thread.
func keyOf(t *recording.Track) recording.TrackKey {
	k := recording.TrackKey{Kind: t.Kind, PID: t.PID, TID: t.TID}
	if t.Kind == recording.AsyncTrack {
		k.Name = t.Name
	}
	return k
}
