package recording

import (
	"math"

	"ashlar/ingest/model/lanes"
)

// State reports whether a thread (or goroutine) runs, and if not, why.
type State uint8

// States of threads.
const (
	NoState      State = iota
	Running            // on CPU
	Runnable           // it could run and waits for a processor
	Blocked            // it waits for something
	InSystemCall       // in the kernel, where it is not known whether it runs there
	Collecting         // on CPU, for the garbage collector

	states = iota
)

// States lists them in the order in which people read them.
var States = []State{Running, Collecting, InSystemCall, Runnable, Blocked}

// String is the state in words.
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

// StateEvent is the event that stands for the states of threads: how long they
// were there, and of that on CPU, runnable, blocked and in system calls (in
// ns, exact to the picosecond).
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

// StateLane stands for Track.States where lanes are numbered.
const StateLane = -1

// Lane is a lane of the track by its number; nil if there is none.
func (t *Track) Lane(i int) *lanes.Lane {
	switch {
	case i == StateLane && t.States.Len() > 0:
		return &t.States
	case i < 0 || i >= len(t.Lanes):
		return nil
	}
	return &t.Lanes[i]
}

// Waker is the track that made the thread able to run, of state i, or NoTrack.
func (t *Track) Waker(i int) int { return int(t.States.Waker(i)) - 1 }

// State reads the state that a call of Track.States stands for.
func (r *Recording) State(c CallID) State {
	if c == NoCall {
		return NoState
	}
	return r.Functions.At(int(r.Func(c))).State
}

// StateFrame is the frame that stands for a state, with what it is for: a reason to
// be blocked, a processor's or a collector's work; "" for none. Decoders put it
// below the stack that a thread is known to have meanwhile.
func (b *Builder) StateFrame(s State, reason string) FrameID {
	name := s.String()
	if reason != "" {
		name += ": " + reason
	}
	return b.FunctionFrame(b.Function(Function{Name: "[" + name + "]", State: s}))
}

// State adds what the thread was in from start to end: a call of StateFrame, and
// the track of who woke it, or NoTrack. States come in the order of time; what one
// shares with those before is theirs.
func (t *TrackBuilder) State(start, end int64, call CallID, waker int) {
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
	t.track.States.AppendState(start, end, call, uint32(waker+1))
	state := t.b.rec.State(call)
	t.track.InState[state] = t.b.time(t.track.InState[state], end-start)
	Add(&t.b.inState[state], end-start)
}

// CommonCall is the part of a stack that a stack before had, too: the innermost call
// of it down to which both run the same functions. What a thread did between the two,
// it did there or below.
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

// EachState visits the states of a track within a range, in the order of time, cut
// at its ends: the call of each from start to end. Where nothing is known of the stack
// meanwhile but the track has spans, it is visited in parts, each with the call of
// the innermost span that ran, in place of the stack.
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

// stateWalk goes along lanes together with the states; at is the first span of each
// that ends behind what was visited.
type stateWalk struct {
	t     *Track
	lanes []int
	at    []int
	state CallID
	visit func(call, span CallID, start, end int64)
}

// spans visits the parts from start to end that a span and those below it have.
func (w *stateWalk) spans(depth int, span CallID, start, end int64) {
	if depth < len(w.lanes) {
		l := &w.t.Lanes[w.lanes[depth]]
		if n := w.at[depth]; n == 0 || n < l.Len() && l.End(min(n+64, l.Len()-1)) <= start {
			w.at[depth] = l.Search(start) // far behind: over what other spans ran
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

// splitStates interns the calls of states below the spans that ran meanwhile: what
// questions of states ask for.
func (b *Builder) splitStates() {
	for i, s := range b.over {
		switch t := b.order[i]; {
		case s != nil && (!b.spanned || len(s.Lanes) == 0) || t != nil && (t.track.States.Len() == 0 || len(t.lanes) == 0 && t.loose == nil):
			continue
		case t != nil:
			s = t.snapshot() // laid out for good
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

// fewSpans is how many states there have to be for each span so that it takes less time
// to look only at those that a span ran in.
const fewSpans = 32
