package gotrace

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/exp/trace"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/gotrace/wire"
	"ashlar/ingest/input/source"
)

// old returns the events of a trace from before Go 1.22. The Go team's reader reads such
// a trace as a whole.
type old struct {
	from *trace.Reader
	gen  *wire.Generation // stands for the whole trace

	gs     map[trace.GoID]*wire.G
	texts  map[string]int32
	stacks map[trace.Stack]int32
}

// oldError reports how far the reader got.
type oldError struct {
	at   int64
	what error
}

func (e *oldError) Error() string { return e.what.Error() }
func (e *oldError) Unwrap() error { return e.what }

// old reads a trace from before Go 1.22. It returns an error if nothing can be shown, or
// an oldError if only a part can.
func (d *decoder) old(in *source.Input) error {
	from := &decode.Reader{In: in}
	o, err := newOld(from)
	if err != nil {
		return fmt.Errorf("the trace cannot be read: %s", sentence(err))
	}
	for room := make([]wire.Event, 0, batchLen); err == nil; {
		room, err = o.Read(room[:0])
		d.events(room)
		d.flush()
		d.b.Progress()
	}
	if errors.Is(err, io.EOF) {
		return err
	}
	return &oldError{from.Bytes, err}
}

// newOld reads the trace.
func newOld(in io.Reader) (o *old, err error) {
	o = &old{gen: wire.NewGeneration(), gs: map[trace.GoID]*wire.G{}, texts: map[string]int32{"": 0}, stacks: map[trace.Stack]int32{trace.NoStack: 0}}
	defer caught(&err)
	o.from, err = trace.NewReader(in)
	return o, err
}

// caught turns a panic caused by damaged data into an error. It does not catch memory
// faults, which happen if the file is truncated while it is read.
func caught(err *error) {
	switch p := recover().(type) {
	case nil:
	case interface {
		error
		Addr() uintptr // a memory fault
	}:
		panic(p)
	default:
		*err = fmt.Errorf("%v", p)
	}
}

// Read implements the method of wire.Reader.
func (o *old) Read(to []wire.Event) (_ []wire.Event, err error) {
	defer caught(&err)
	for len(to) < cap(to) {
		ev, err := o.from.ReadEvent()
		if err != nil {
			return to, err
		}
		to = append(to, o.event(&ev))
	}
	return to, nil
}

var kinds = map[trace.EventKind]wire.Kind{
	trace.EventSync: wire.Sync, trace.EventMetric: wire.Metric, trace.EventLabel: wire.Label, trace.EventStackSample: wire.Sample,
	trace.EventRangeBegin: wire.RangeBegin, trace.EventRangeActive: wire.RangeActive, trace.EventRangeEnd: wire.RangeEnd,
	trace.EventTaskBegin: wire.TaskBegin, trace.EventTaskEnd: wire.TaskEnd, trace.EventRegionBegin: wire.RegionBegin, trace.EventRegionEnd: wire.RegionEnd,
	trace.EventLog: wire.Log, trace.EventStateTransition: wire.Processor, trace.EventExperimental: wire.Experimental,
}

var oldStates = map[trace.GoState]wire.State{
	trace.GoNotExist: wire.NotExist, trace.GoRunnable: wire.Runnable, trace.GoRunning: wire.Running, trace.GoWaiting: wire.Waiting, trace.GoSyscall: wire.InSyscall,
}

// whats are the kinds of ranges and metrics, by the Go team's names.
var whats = map[string]uint8{
	"GC concurrent mark phase": wire.MarkPhase, "GC incremental sweep": wire.Sweep, "GC mark assist": wire.MarkAssist,
	"/sched/gomaxprocs:threads": wire.MaxProcs, "/memory/classes/heap/objects:bytes": wire.HeapLive, "/gc/heap/goal:bytes": wire.HeapGoal,
}

func (o *old) event(ev *trace.Event) wire.Event {
	e := wire.Event{Kind: kinds[ev.Kind()], Time: int64(ev.Time()), P: int64(ev.Proc()), G: o.goroutine(ev.Goroutine()), Stack: o.stack(ev.Stack())}
	switch ev.Kind() {
	case trace.EventSync:
		e.Gen = o.gen
	case trace.EventStateTransition:
		st := ev.StateTransition()
		if st.Resource.Kind != trace.ResourceGoroutine {
			break
		}
		from, to := st.Goroutine()
		e.Kind, e.From, e.To = wire.Transition, oldStates[from], oldStates[to]
		e.On, e.OnStack, e.Text = o.goroutine(st.Resource.Goroutine()), o.stack(st.Stack), o.text(st.Reason)
		if e.To == wire.NotExist {
			delete(o.gs, st.Resource.Goroutine())
		}
	case trace.EventMetric:
		m := ev.Metric()
		e.What, e.Value = whats[m.Name], m.Value.Uint64()
	case trace.EventRangeBegin, trace.EventRangeActive, trace.EventRangeEnd:
		r := ev.Range()
		if why, stop := strings.CutPrefix(r.Name, "stop-the-world ("); stop {
			e.Text = o.text(strings.TrimSuffix(why, ")"))
		}
		e.What = whats[r.Name]
		switch r.Scope.Kind {
		case trace.ResourceGoroutine:
			e.On = o.goroutine(r.Scope.Goroutine())
		case trace.ResourceProc:
			e.P = int64(r.Scope.Proc())
		}
	case trace.EventTaskBegin, trace.EventTaskEnd:
		t := ev.Task()
		e.Task = &wire.Task{ID: uint64(t.ID), Parent: uint64(t.Parent), Name: t.Type}
	case trace.EventRegionBegin, trace.EventRegionEnd:
		r := ev.Region()
		e.Value, e.Text = uint64(r.Task), o.text(r.Type)
	case trace.EventLog:
		l := ev.Log()
		e.Value, e.Text, e.More = uint64(l.Task), o.text(l.Category), o.text(l.Message)
	case trace.EventLabel:
		e.Text = o.text(ev.Label().Label)
	}
	return e
}

func (o *old) goroutine(id trace.GoID) *wire.G {
	if id == trace.NoGoroutine {
		return nil
	}
	g := o.gs[id]
	if g == nil {
		g = &wire.G{ID: int64(id)}
		o.gs[id] = g
	}
	return g
}

func (o *old) text(s string) int32 {
	i, ok := o.texts[s]
	if !ok {
		i = o.gen.AddText(s)
		o.texts[s] = i
	}
	return i
}

func (o *old) stack(s trace.Stack) int32 {
	i, ok := o.stacks[s]
	if !ok {
		for f := range s.Frames() {
			o.gen.AddFrame(wire.Frame{PC: f.PC, Func: o.text(f.Func), File: o.text(f.File), Line: f.Line})
		}
		i = o.gen.EndStack()
		o.stacks[s] = i
	}
	return i
}
