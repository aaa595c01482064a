package recording

import (
	"math/rand/v2"
	"testing"
)

// AddStates gives the same states as adding them one by one.
func TestAddStates(t *testing.T) {
	random := rand.New(rand.NewPCG(3, 4))
	var made [2]*Recording
	const tracks, blocks = 40, 12
	type state struct {
		track, waker int
		start, end   int64
		state        State
	}
	var all [][]state
	var at [tracks]int64
	for range blocks {
		var block []state
		for range random.IntN(3 * fewStates) {
			s := state{track: random.IntN(1 + random.IntN(tracks)), waker: random.IntN(tracks+1) - 1, state: States[random.IntN(len(States))]}
			s.start = at[s.track] - int64(random.IntN(2)*random.IntN(50)) // some overlap
			s.end = s.start + int64(random.IntN(100)-10)                  // some are empty or reversed
			if random.IntN(50) == 0 {
				s.end += 1e10
			}
			at[s.track] = max(at[s.track], s.end)
			block = append(block, s)
		}
		all = append(all, block)
	}
	for k := range made {
		b := NewBuilder()
		var to [tracks]*TrackBuilder
		for i := range to {
			to[i] = b.Track(TrackKey{PID: 1, TID: int64(i)})
		}
		for n, block := range all {
			var many []TrackState
			for _, s := range block {
				call := b.Call(NoCall, b.StateFrame(s.state, ""))
				if k == 0 {
					to[s.track].State(s.start, s.end, call, s.waker)
				} else {
					many = append(many, TrackState{to[s.track], s.start, s.end, call, b.Waker(s.waker, NoCall), s.state})
				}
			}
			b.AddStates(many)
			if n%4 == 3 {
				b.Snapshot()
			}
		}
		made[k] = b.Finish()
	}
	one, many := made[0], made[1]
	if one.Counts != many.Counts || one.Start != many.Start || one.End != many.End {
		t.Errorf("%+v from %d to %d, want %+v from %d to %d", many.Counts, many.Start, many.End, one.Counts, one.Start, one.End)
	}
	if one.Counts.States < 10000 {
		t.Errorf("there are only %d states", one.Counts.States)
	}
	for i, a := range one.Tracks {
		b := many.Tracks[i]
		if a.InState != b.InState || a.States.Len() != b.States.Len() {
			t.Fatalf("track %d: %v in %d states, want %v in %d", i, b.InState, b.States.Len(), a.InState, a.States.Len())
		}
		for k := range a.States.Len() {
			x, y := &a.States, &b.States
			if x.Start(k) != y.Start(k) || x.End(k) != y.End(k) || x.Call(k) != y.Call(k) || one.Waker(a, k) != many.Waker(b, k) {
				t.Fatalf("track %d: state %d differs", i, k)
			}
		}
	}
}

// In a thread with many states and few spans, only states during which a span ran are
// split.
func TestSplitFewSpans(t *testing.T) {
	b := NewBuilder()
	to := b.Track(TrackKey{PID: 1, TID: 1})
	inner, outer := b.FunctionFrame(b.Function(Function{Name: "inner"})), b.FunctionFrame(b.Function(Function{Name: "outer"}))
	for i := range int64(fewSpans * 20) {
		to.State(10*i, 10*i+10, b.Call(NoCall, b.StateFrame(States[i%3], "")), NoTrack)
	}
	to.Begin(1000, outer, 0)
	to.Begin(1005, inner, 0)
	to.End(1015)
	to.End(1025)
	r := b.Finish()
	got := map[string]int64{}
	r.Tracks[0].EachState(&r.Calls, Scope{}, func(call, span CallID, start, end int64) {
		if span == NoCall {
			return
		}
		got[r.FuncName(span)+" "+r.FuncName(call)] += end - start
		found := false
		for c := range r.Calls.Len() {
			found = found || r.Calls.Parent(CallID(c)) == span && r.Calls.Frame(CallID(c)) == r.Calls.Frame(call)
		}
		if !found {
			t.Errorf("there is no call of %s in %s", r.FuncName(call), r.FuncName(span))
		}
	})
	// Time 1000 is in state 100, which is States[1].
	name := func(i int) string { return " [" + States[i].String() + "]" }
	for what, want := range map[string]int64{"outer" + name(1): 5, "inner" + name(1): 5, "inner" + name(2): 5, "outer" + name(2): 5, "outer" + name(0): 5} {
		if got[what] != want {
			t.Errorf("%s: %d, want %d (%v)", what, got[what], want, got)
		}
	}
}
