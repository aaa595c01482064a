package spans

import (
	"cmp"
	"sort"

	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
)

// Flows finds the flows that go through a span.
type Flows struct {
	rec *recording.Recording
	// ends are the steps of all flows, sorted by track and time.
	ends []FlowEnd
}

// A FlowEnd is a step of a flow, both given by index.
type FlowEnd struct{ Flow, Step int }

// NewFlows sorts the steps of a recording's flows.
func NewFlows(rec *recording.Recording) *Flows {
	f := &Flows{rec: rec}
	for i := range rec.Flows {
		for k := range rec.Flows[i].Steps {
			f.ends = append(f.ends, FlowEnd{i, k})
		}
	}
	order.By(f.ends, func(a, b FlowEnd) int {
		x, y := f.step(a), f.step(b)
		return cmp.Or(cmp.Compare(x.Track, y.Track), cmp.Compare(x.Time, y.Time), cmp.Compare(a.Flow, b.Flow), cmp.Compare(a.Step, b.Step))
	})
	return f
}

func (f *Flows) step(e FlowEnd) recording.FlowStep { return f.rec.Flows[e.Flow].Steps[e.Step] }

// Of returns, in order of time, at most n steps of flows that are bound to a span, given
// by its lane, start and end. A step is bound to the innermost span that runs at the
// step's time.
func (f *Flows) Of(track, lane int, start, end int64, n int) []FlowEnd {
	i := sort.Search(len(f.ends), func(i int) bool {
		st := f.step(f.ends[i])
		return st.Track > track || st.Track == track && st.Time >= start
	})
	var out []FlowEnd
	for ; i < len(f.ends) && len(out) < n; i++ {
		st := f.step(f.ends[i])
		if st.Track != track || st.Time > end {
			break
		}
		if LaneAt(f.rec.Tracks[track], st.Time) == lane && (st.Time < end || start == end || f.ending(track, lane, end)) {
			out = append(out, f.ends[i])
		}
	}
	return out
}

// ending reports whether a step at the very end of a span belongs to that span, because
// no other span begins there in the lane.
func (f *Flows) ending(track, lane int, at int64) bool {
	l := &f.rec.Tracks[track].Lanes[lane]
	i := l.Search(at)
	return i >= l.Len() || l.Start(i) > at
}

// LaneAt returns the lane of the innermost span that runs at a time; if none does, of the
// innermost span that ends just then; else -1.
func LaneAt(t *recording.Track, at int64) int {
	best, ended := -1, -1
	for lane := range t.Lanes {
		l := &t.Lanes[lane]
		i := l.Search(at)
		switch {
		case i < l.Len() && l.Start(i) <= at:
			best = lane
		case i > 0 && l.End(i-1) == at:
			ended = lane
		case t.Kind == recording.ThreadTrack:
			// If nothing runs in a lane, nothing runs in the lanes below.
			if best < 0 {
				return ended
			}
			return best
		}
	}
	if best < 0 {
		return ended
	}
	return best
}
