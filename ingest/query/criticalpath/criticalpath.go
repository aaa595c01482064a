// Package criticalpath finds the critical path of a time range: at each moment, the
// thread on whose work or wait everything that came later depended.
//
// A path is found backwards from its end. It stays on a thread while that thread is
// running or runnable. If the thread was blocked until another woke it, the path moves to
// the waker at that moment. If the waker is unknown, or if a thread that has only spans
// has none open, the path moves to the source of the last flow that led to the next work.
// Without such a flow the wait is part of the path, but only back to the latest moment at
// which a thread already on the path began to wait for this one. There the path continues
// on that thread, because a thread that waits for an answer has usually just asked for
// it. So a path has exactly one step at each moment, and its steps add up to its time.
package criticalpath

import (
	"cmp"
	"context"
	"slices"
	"sort"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/spans"
)

// Path is the critical path that ends on a track, between two times in picoseconds.
type Path struct {
	From, To int64
	// Track is the track on which the path ends, recording.NoTrack if nothing happened.
	Track int
	// Steps are in order of time; each begins where the previous one ends.
	Steps []Step
}

// A Step is a part of a path: time that one track spent in one state or span, or a
// message on its way to the track.
type Step struct {
	From, To int64
	Track    int
	// State is the thread's state; NoState on a track without states.
	State recording.State
	// Lane and Index identify the state (recording.StateLane) or outermost span, and Call
	// is its call. Without one, Index is below zero and Call is NoCall.
	Lane, Index int
	Call        recording.CallID
	// WokenBy is the track from which the path came to this one as the step begins: it
	// woke this track or sent a flow to it. It is NoTrack if the path was already here.
	WokenBy int
	// Flow is the flow by which the path came here, below zero for none. Sent reports
	// whether the flow was on its way throughout the step.
	Flow int
	Sent bool
}

// Of finds the critical paths of a scope: one for each outermost call of its set, on the
// call's track; without a set, one for its time range that ends on the track that worked
// last.
func Of(ctx context.Context, rec *recording.Recording, in recording.Scope) (paths []Path, err error) {
	f := newFinder(ctx, rec)
	from, to := in.Bounds(rec)
	if in.Calls == nil {
		p, err := f.find(Last(rec, in), from, to)
		return []Path{p}, err
	}
	in.Calls.EachOuter(rec, func(track int, l *lanes.Lane, i int) {
		start, end := max(from, l.Start(i)), min(to, l.End(i))
		if err != nil || start >= end {
			return
		}
		var p Path
		if p, err = f.find(track, start, end); err == nil {
			paths = append(paths, p)
		}
	})
	order.By(paths, func(a, b Path) int { return cmp.Compare(a.From, b.From) })
	return paths, err
}

// Last returns the track of a scope that worked last in its time range. Of several tracks
// it takes the one that started that work first, then the first in thread order. It
// returns recording.NoTrack if none worked. If threads have states, tracks without states
// are ignored.
func Last(rec *recording.Recording, in recording.Scope) int {
	if len(in.Tracks) == 1 {
		return in.Tracks[0]
	}
	from, to := in.Bounds(rec)
	best, bestEnd, bestStart := recording.NoTrack, from, int64(0)
	for i, t := range rec.Tracks {
		if !in.HasTrack(i) || rec.Counts.States > 0 && in.Tracks == nil && t.States.Len() == 0 {
			continue
		}
		for at := to; at > bestEnd || at == bestEnd && at == to; {
			s := before(rec, t, at)
			if idle(&s) || s.State == recording.Runnable || s.State == recording.InSystemCall {
				at = s.From
				continue
			}
			if best == recording.NoTrack || at > bestEnd || at == bestEnd && (s.From < bestStart || s.From == bestStart && t.Sort < rec.Tracks[best].Sort) {
				best, bestEnd, bestStart = i, at, s.From
			}
			break
		}
	}
	return best
}

type finder struct {
	ctx     context.Context
	rec     *recording.Recording
	arrives [][]arrival // by track, in the order of time
	steps   int
}

// arrival is a flow that ends on a track.
type arrival struct {
	at, sent int64
	from     int
	flow     int
}

func newFinder(ctx context.Context, rec *recording.Recording) *finder {
	f := &finder{ctx: ctx, rec: rec}
	if len(rec.Flows) == 0 {
		return f
	}
	f.arrives = make([][]arrival, len(rec.Tracks))
	for i := range rec.Flows {
		steps := rec.Flows[i].Steps
		for k := 1; k < len(steps); k++ {
			if from, to := steps[k-1], steps[k]; from.Track != to.Track && from.Time <= to.Time {
				f.arrives[to.Track] = append(f.arrives[to.Track], arrival{to.Time, from.Time, from.Track, i})
			}
		}
	}
	for _, a := range f.arrives {
		order.By(a, func(a, b arrival) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.flow, b.flow)) })
	}
	return f
}

// before returns what a track did just before a time: the state or outermost span that
// ran then, as a step from its start up to that time. If nothing ran, the step begins at
// the end of what ran last.
func before(rec *recording.Recording, t *recording.Track, at int64) Step {
	s := Step{From: rec.Start - 1, To: at, Index: -1, Flow: -1, WokenBy: recording.NoTrack}
	in := func(lane int, l *lanes.Lane) bool {
		i := l.Search(at - 1)
		if i < l.Len() && l.Start(i) < at {
			s.From, s.Lane, s.Index, s.Call = l.Start(i), lane, i, l.Call(i)
			return true
		}
		if i > 0 {
			s.From = max(s.From, l.End(i-1))
		}
		return false
	}
	if t.States.Len() > 0 {
		if in(recording.StateLane, &t.States) {
			s.State = rec.State(s.Call)
		}
		return s
	}
	for _, column := range t.Columns(&rec.Calls) {
		if in(column[0], &t.Lanes[column[0]]) {
			return s
		}
	}
	return s
}

// idle reports whether a track only waited in a step.
func idle(s *Step) bool { return s.Index < 0 || s.State == recording.Blocked }

// mostSteps limits the number of steps of all paths together.
const mostSteps = 16 << 20

// find finds the path that ends on a track at to.
func (f *finder) find(track int, from, to int64) (p Path, err error) {
	p = Path{From: from, To: to, Track: track}
	if from >= to {
		return p, nil
	}
	if track == recording.NoTrack {
		p.Steps = []Step{{From: from, To: to, Track: track, Index: -1, Flow: -1, WokenBy: recording.NoTrack}}
		return p, nil
	}
	seen := []int{track} // tracks visited at this moment
	var left []wait
	for at := to; at > from; {
		if f.steps++; f.steps%4096 == 0 && f.ctx.Err() != nil || f.steps > mostSteps {
			return p, cmp.Or(f.ctx.Err(), errTooLong)
		}
		s := before(f.rec, f.rec.Tracks[track], at)
		s.Track = track
		if idle(&s) {
			if a, ok := f.woken(track, at, p.behind(at), s.From); ok && (a.sent < at || !slices.Contains(seen, a.from)) {
				if a.sent == at {
					p.came(a, at)
				} else {
					p.Steps = append(p.Steps, Step{From: max(a.sent, from), To: at, Track: track, Index: -1, Flow: a.flow, WokenBy: a.from, Sent: true})
					seen = seen[:0]
				}
				left = append(left, wait{track, s.From})
				track, at = a.from, a.sent
				seen = append(seen, track)
				continue
			}
		}
		if idle(&s) || s.State == recording.InSystemCall {
			if i := asked(&left, s.From, at); i >= 0 {
				s.From, track = left[i].began, left[i].track
			}
		}
		s.From = max(s.From, from)
		p.Steps = append(p.Steps, s)
		at = s.From
		seen = append(seen[:0], track)
	}
	slices.Reverse(p.Steps)
	return p, nil
}

// wait records a track that the path left, and when that track had begun to wait.
type wait struct {
	track int
	began int64
}

// asked returns the index of the wait that began last between two times; of several, the
// one that the path left last; below zero if there is none. It removes waits that began
// later, because their tracks were at work by then.
func asked(left *[]wait, from, to int64) int {
	*left = slices.DeleteFunc(*left, func(w wait) bool { return w.began >= to })
	best := -1
	for i, w := range *left {
		if w.began > from && (best < 0 || w.began >= (*left)[best].began) {
			best = i
		}
	}
	return best
}

// behind returns the end of the step added last, which begins at the given time; if there
// is no step yet, it returns the time itself.
func (p *Path) behind(at int64) int64 {
	if n := len(p.Steps); n > 0 {
		return p.Steps[n-1].To
	}
	return at
}

// came records in the step that follows where the path came from.
func (p *Path) came(a arrival, at int64) {
	if n := len(p.Steps); n > 0 && p.Steps[n-1].From == at && p.Steps[n-1].WokenBy == recording.NoTrack {
		p.Steps[n-1].WokenBy, p.Steps[n-1].Flow = a.from, a.flow
	}
}

// woken returns what ended a track's wait. The wait lasted from began to at, and the work
// after it until left. The wait was ended by the thread that woke the track at that
// moment; else by the flow that arrived as the work began; else by the first flow that
// arrived during the work and was sent during the wait. Of flows that arrived at the same
// time it takes the last one sent.
func (f *finder) woken(track int, at, left, began int64) (best arrival, ok bool) {
	l := &f.rec.Tracks[track].States
	if i := l.Search(at); i < l.Len() && l.Start(i) == at {
		if w := f.rec.Waker(f.rec.Tracks[track], i).Track; w != recording.NoTrack {
			return arrival{at: at, sent: at, from: int(w), flow: -1}, true
		}
	}
	if f.arrives == nil {
		return best, false
	}
	all := f.arrives[track]
	for _, a := range all[sort.Search(len(all), func(i int) bool { return all[i].at >= at }):] {
		if a.at > left || ok && a.at > best.at {
			break
		}
		if (a.sent >= began || a.at == at) && a.sent <= at && (!ok || a.sent > best.sent) {
			best, ok = a, true
		}
	}
	return best, ok
}

// LaneOf returns the lane in which a step is drawn.
func (s *Step) LaneOf(rec *recording.Recording) int {
	switch {
	case s.Index >= 0:
		return s.Lane
	case s.Track != recording.NoTrack && rec.Tracks[s.Track].States.Len() > 0:
		return recording.StateLane
	case s.Track == recording.NoTrack:
		return 0
	}
	return max(0, spans.LaneAt(rec.Tracks[s.Track], s.To))
}
