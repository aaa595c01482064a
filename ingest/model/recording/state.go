package recording

import (
	"math"

	"ashlar/ingest/model/lanes"
)

// State says whether a thread (or goroutine) runs, and if not, why.
type State uint8

// States of threads.
const (
	NoState      State = iota
	Running            // on CPU
	Runnable           // waiting for a processor
	Blocked            // waiting for something else
	InSystemCall       // in the kernel; unknown whether it runs there
	Collecting         // on CPU, for the garbage collector

	states = iota
)

// States lists the states in the order of display.
var States = []State{Running, Collecting, InSystemCall, Runnable, Blocked}

// String returns the state in words.
func (s State) String() string {
	switch s {
	case Running:
		return "running"
	case Runnable:
		return "runnable"
	case Blocked:
		return "blocked"
	case InSystemCall:
		return "system call"
	case Collecting:
		return "garbage collection"
	}
	return "not known"
}

// Metrics of the event whose Basis is FromStates, in this order. The first is the
// sum of the others.
const (
	StateWall = iota
	StateCPU
	StateRunnable
	StateBlocked
	StateSyscall
)

// StateEvent returns the event for the states of threads. Its metrics are the total time,
// and of that the time on CPU, runnable, blocked and in system calls (in ns, exact to the
// picosecond).
func StateEvent() Event {
	e := Event{Name: "states", Kind: "trace", Mode: "event", Basis: FromStates}
	for _, name := range []string{StateWall: "wall", StateCPU: "cpu", StateRunnable: "runnable", StateBlocked: "blocked", StateSyscall: "syscall"} {
		e.Metrics = append(e.Metrics, Metric{Name: name, Unit: "ns", Decimals: 3})
	}
	return e
}

// Weighs reports whether time in a state counts for a metric of StateEvent.
func (s State) Weighs(metric int) bool {
	switch s {
	case Running, Collecting:
		return metric == StateWall || metric == StateCPU
	case Runnable:
		return metric == StateWall || metric == StateRunnable
	case Blocked:
		return metric == StateWall || metric == StateBlocked
	case InSystemCall:
		return metric == StateWall || metric == StateSyscall
	}
	return false
}

// StateLane is the lane number of Track.States.
const StateLane = -1

// Lane returns a lane of the track by its number, nil if there is none.
func (t *Track) Lane(i int) *lanes.Lane {
	switch {
	case i == StateLane && t.States.Len() > 0:
		return &t.States
	case i < 0 || i >= len(t.Lanes):
		return nil
	}
	return &t.Lanes[i]
}

// A Waker is the thread that ended another's wait: its track, NoTrack for none, and the
// call in which it did so, NoCall if unknown.
type Waker struct {
	Track int32
	Call  CallID
}

// A WakerID is an index in Recording.Wakers.
type WakerID uint32

// NoWaker is the waker of a state that no known thread brought about.
const NoWaker WakerID = 0

// Waker returns the thread that brought about state i of a track by waking its thread.
func (r *Recording) Waker(t *Track, i int) Waker { return r.Wakers.At(int(t.States.Waker(i))) }

// Waker returns the id of the waker on a track, NoTrack for none, in the given call.
func (b *Builder) Waker(track int, call CallID) WakerID {
	if track == NoTrack {
		return NoWaker
	}
	id := WakerID(b.wakers.Get(uint32(track), uint32(call)))
	if id == NoWaker {
		id = WakerID(b.rec.Wakers.Len())
		b.rec.Wakers.Append(Waker{int32(track), call})
		b.wakers.Put(uint32(track), uint32(call), uint32(id))
	}
	return id
}

// State reads the state that a call of Track.States stands for.
func (r *Recording) State(c CallID) State {
	if c == NoCall {
		return NoState
	}
	return r.Functions.At(int(r.Func(c))).State
}

// StateFrame returns the frame that stands for a state, with its reason, such as why a
// thread is blocked, or which work a processor or collector does; "" for none. Decoders
// put it below the thread's stack, if that is known.
func (b *Builder) StateFrame(s State, reason string) FrameID {
	name := s.String()
	if reason != "" {
		name += ": " + reason
	}
	return b.FunctionFrame(b.Function(Function{Name: "[" + name + "]", State: s}))
}

// State adds the thread's state from start to end: a call of StateFrame, and the track of
// the thread that woke it, or NoTrack. States must come in order of time; if one overlaps
// earlier ones, the earlier ones keep the overlap.
func (t *TrackBuilder) State(start, end int64, call CallID, waker int) {
	t.StateBy(start, end, call, t.b.Waker(waker, NoCall))
}

// StateBy is State with a waker whose call may be known.
func (t *TrackBuilder) StateBy(start, end int64, call CallID, waker WakerID) {
	t.b.Cover(start, end)
	if n := t.track.States.Len(); n > 0 {
		start = max(start, t.track.States.End(n-1))
	}
	if end <= start || t.b.outside(t.out, start, end) {
		return
	}
	t.b.check()
	t.own()
	t.cached = nil
	t.b.rec.Counts.States++
	t.track.States.AppendState(start, end, call, uint32(waker))
	state := t.b.rec.State(call)
	t.track.InState[state] = t.b.time(t.track.InState[state], end-start)
	Add(&t.b.inState[state], end-start)
}

// CommonCall returns the part of a stack that it has in common with an earlier stack: the
// innermost call of stack down to which both run the same functions. Anything the thread
// did between the two stacks ran in that call or below it.
func (b *Builder) CommonCall(before, stack CallID) CallID {
	c := &b.rec.Calls
	b.paths[0], b.paths[1] = c.Path(b.paths[0][:0], before), c.Path(b.paths[1][:0], stack)
	common := NoCall
	for i, call := range b.paths[1] {
		if i == len(b.paths[0]) || b.rec.Func(call) != b.rec.Func(b.paths[0][i]) {
			break
		}
		common = call
	}
	return common
}

// EachState visits the states of a track within a range, in order of time, cut at the
// ends of the range. If a state's stack is unknown but the track has spans, the state is
// visited in parts: span is then the innermost span that ran during the part, in place of
// the stack, and NoCall otherwise.
func (t *Track) EachState(calls *Calls, in Scope, visit func(call, span CallID, start, end int64)) {
	l := &t.States
	first, last := in.SpansIn(l)
	from, to := int64(math.MinInt64), int64(math.MaxInt64)
	if in.Ranged {
		from, to = in.From, in.To
	}
	w := stateWalk{t: t, visit: visit}
	if columns := t.Columns(calls); len(columns) > 0 {
		w.lanes = columns[0]
		w.at = make([]int, len(w.lanes))
	}
	var room lanes.Room
	for first < last {
		starts, ends, of := l.Columns(first, last-first, &room)
		for k, call := range of {
			start, end := max(starts[k], from), min(ends[k], to)
			if start >= end {
				continue
			}
			if len(w.lanes) == 0 || calls.Depth(call) > 1 {
				visit(call, NoCall, start, end)
				continue
			}
			w.state = call
			w.spans(0, NoCall, start, end)
		}
		first += len(of)
	}
}

// stateWalk walks the lanes together with the states; at is, for each lane, the first
// span that ends after the visited time.
type stateWalk struct {
	t     *Track
	lanes []int
	at    []int
	state CallID
	visit func(call, span CallID, start, end int64)
}

// spans visits the parts of start..end, each with the innermost span that ran then, at
// this depth or deeper.
func (w *stateWalk) spans(depth int, span CallID, start, end int64) {
	if depth < len(w.lanes) {
		l := &w.t.Lanes[w.lanes[depth]]
		if n := w.at[depth]; n == 0 || n < l.Len() && l.End(min(n+64, l.Len()-1)) <= start {
			w.at[depth] = l.Search(start) // skip spans inside earlier outer spans
		}
		for ; w.at[depth] < l.Len(); w.at[depth]++ {
			i := w.at[depth]
			s, e := max(l.Start(i), start), min(l.End(i), end)
			if s >= end {
				break
			}
			if e <= s {
				continue
			}
			if s > start {
				w.visit(w.state, span, start, s)
			}
			w.spans(depth+1, l.Call(i), s, e)
			if start = e; l.End(i) > end {
				return
			}
		}
	}
	if start < end {
		w.visit(w.state, span, start, end)
	}
}

// splitStates interns the calls of states below the spans that ran meanwhile, for queries
// of states.
func (b *Builder) splitStates() {
	for i, s := range b.over {
		switch t := b.order[i]; {
		case s != nil && (!b.spanned || len(s.Lanes) == 0) || t != nil && (t.track.States.Len() == 0 || len(t.lanes) == 0 && t.loose == nil):
			continue
		case t != nil:
			s = t.snapshot() // final layout
		}
		split := func(call, span CallID, _, _ int64) {
			if span != NoCall {
				b.Call(span, b.rec.Calls.Frame(call))
			}
		}
		columns := s.Columns(&b.rec.Calls)
		if len(columns) == 0 {
			continue
		}
		outer := &s.Lanes[columns[0][0]]
		if fewSpans*outer.Len() > s.States.Len() {
			s.EachState(&b.rec.Calls, Scope{}, split)
			continue
		}
		for i := range outer.Len() {
			s.EachState(&b.rec.Calls, Scope{Ranged: true, From: outer.Start(i), To: outer.End(i)}, split)
		}
	}
}

// fewSpans is the number of states per outermost span above which it is faster to visit
// only the states within those spans.
const fewSpans = 32
