// Package waits finds who kept threads waiting: for each blocked state, the thread that
// ended it and what that thread was doing; and for each lock or channel, who waited there,
// for whom and how long.
//
// Recordings say who woke a thread, not who held a lock. A hold is derived from that: see
// [Lock].
package waits

import (
	"context"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
)

// A Wait is a blocked state of a thread.
type Wait struct {
	// Track and State are the thread and the index of the state in Track.States.
	Track, State int
	Start, End   int64 // picoseconds
	// Call is the state's: its parent is the thread's stack, NoCall if unknown.
	Call recording.CallID
	// Waker ended the wait. Its Track is recording.NoTrack and its Call recording.NoCall if
	// unknown.
	Waker recording.Waker
}

// blocked reports, by call, whether it stands for a blocked state.
func blocked(rec *recording.Recording) []bool {
	is := make([]bool, rec.Calls.Len())
	for i := range is {
		is[i] = rec.State(recording.CallID(i)) == recording.Blocked
	}
	return is
}

// At returns state i of a track as a wait.
func At(rec *recording.Recording, track, i int) Wait {
	t := rec.Tracks[track]
	l := &t.States
	w := Wait{Track: track, State: i, Start: l.Start(i), End: l.End(i), Call: l.Call(i), Waker: rec.Waker(t, i)}
	if w.Waker.Track == recording.NoTrack && i+1 < l.Len() && l.Start(i+1) == w.End {
		w.Waker = rec.Waker(t, i+1)
	}
	return w
}

// Each visits the waits in a scope, thread by thread in order of time, each with the part
// of it that lies in the scope. It ends early with ctx.
func Each(ctx context.Context, rec *recording.Recording, in recording.Scope, visit func(w *Wait, from, to int64)) error {
	is := blocked(rec)
	idle, apart, only := (*Idle)(nil), in.Idle == recording.Out, in.Idle == recording.Only
	if apart = apart || only; apart {
		idle = NewIdle(rec)
	}
	var room lanes.Room
	for ti, t := range rec.Tracks {
		l := &t.States
		if l.Len() == 0 || !in.HasTrack(ti) {
			continue
		}
		for _, part := range parts(rec, in, ti) {
			first, last := recording.Scope{Ranged: true, From: part.From, To: part.To}.SpansIn(l)
			for first < last {
				starts, ends, calls := l.Columns(first, last-first, &room)
				for k, c := range calls {
					from, to := max(starts[k], part.From), min(ends[k], part.To)
					if !is[c] || from >= to || apart && idle.Is(ti, c) != only {
						continue
					}
					w := At(rec, ti, first+k)
					visit(&w, from, to)
				}
				first += len(calls)
				if ctx.Err() != nil {
					return ctx.Err()
				}
			}
		}
	}
	return ctx.Err()
}

// parts returns the times of a scope on a track: its range, within its calls.
func parts(rec *recording.Recording, in recording.Scope, track int) (times []recording.Time) {
	from, to := in.Bounds(rec)
	if in.Calls == nil {
		return []recording.Time{{From: from, To: to}}
	}
	if track >= len(in.Calls.Times) {
		return nil
	}
	for _, t := range in.Calls.Times[track] {
		if t.From, t.To = max(t.From, from), min(t.To, to); t.From < t.To {
			times = append(times, t)
		}
	}
	return times
}

// Doing returns the call in which the waker ended the wait. recorded reports whether the
// file contains it; otherwise it is the call that the waker ran at that moment, from its
// states and spans. The call is NoCall if unknown.
func (w *Wait) Doing(rec *recording.Recording) (call recording.CallID, recorded bool) {
	switch {
	case w.Waker.Track == recording.NoTrack:
		return recording.NoCall, false
	case w.Waker.Call != recording.NoCall:
		return w.Waker.Call, true
	}
	t := rec.Tracks[w.Waker.Track]
	if i, ok := during(&t.States, w.End); ok {
		if call = rec.Calls.Parent(t.States.Call(i)); call != recording.NoCall {
			return call, false
		}
	}
	return innermost(rec, t, w.End), false
}

// Stack returns the stack of the waiting thread: the recorded one, or else the innermost
// span that it was in.
func (w *Wait) Stack(rec *recording.Recording) recording.CallID {
	if up := rec.Calls.Parent(w.Call); up != recording.NoCall {
		return up
	}
	return innermost(rec, rec.Tracks[w.Track], w.Start+1)
}

// Since returns the state in which the waker was when it ended the wait, and its start;
// NoState if unknown.
func (w *Wait) Since(rec *recording.Recording) (state recording.State, start int64) {
	if w.Waker.Track == recording.NoTrack {
		return recording.NoState, 0
	}
	l := &rec.Tracks[w.Waker.Track].States
	i, ok := during(l, w.End)
	if !ok {
		return recording.NoState, 0
	}
	state, start = rec.State(l.Call(i)), l.Start(i)
	for i > 0 && l.End(i-1) == start && rec.State(l.Call(i-1)) == state { // parts with different stacks
		i--
		start = l.Start(i)
	}
	return state, start
}

// during returns the span of a lane that ran just before a moment.
func during(l *lanes.Lane, at int64) (i int, ok bool) {
	if l.Len() == 0 {
		return 0, false
	}
	i = l.Search(at - 1)
	return i, i < l.Len() && l.Start(i) < at
}

// innermost returns the call of the innermost span that ran on a track just before a
// moment, NoCall for none.
func innermost(rec *recording.Recording, t *recording.Track, at int64) (call recording.CallID) {
	if len(t.Lanes) == 0 {
		return recording.NoCall
	}
	for _, column := range t.Columns(&rec.Calls) {
		for _, lane := range column {
			l := &t.Lanes[lane]
			i, ok := during(l, at)
			if !ok {
				break
			}
			call = l.Call(i)
		}
		if call != recording.NoCall {
			return call
		}
	}
	return call
}
