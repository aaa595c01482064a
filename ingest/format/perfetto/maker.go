package perfetto

import (
	"cmp"
	"context"
	"fmt"
	"math"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/sched"
	"ashlar/ingest/format/v8"
	"ashlar/ingest/model/recording"
)

// maker adds the reader's results to a recording.
type maker struct {
	ctx    context.Context
	b      *recording.Builder
	args   *argStore
	states *sched.Builder
	zero   int64
	zeroed bool
	last   int64

	labels   []recording.FrameID // by number
	shown    map[uint32]string   // names of labels
	comms    []string
	events   []int
	frames   []recording.FrameID
	stacks   []recording.CallID
	heaps    map[string]int // events of heaps, by heap name
	places   []place        // by group
	keys     map[recording.TrackKey]uint32
	flows    flows
	profiles *v8.Profiles

	nester     nester
	blocks     *blocks
	values     [2]int64
	slicesSaid bool // the event for spans was added

	packets, slices *recording.Tally
}

// place is a track of the trace.
type place struct {
	builder *recording.TrackBuilder
	open    opens // for tracks other than threads
	nest    *nest // for threads
	counter int   // index in the recording plus 1
}

func newMaker(ctx context.Context, b *recording.Builder, args *argStore, room *blocks) *maker {
	m := &maker{ctx: ctx, b: b, args: args, blocks: room, states: sched.New(b), shown: map[uint32]string{}, keys: map[recording.TrackKey]uint32{},
		heaps:  map[string]int{},
		labels: []recording.FrameID{noFrame}, comms: []string{""}, stacks: []recording.CallID{recording.NoCall},
		packets: b.Tally("packet"), slices: b.Tally("event")}
	m.profiles = v8.NewProfiles(b, m.profileTime)
	return m
}

// noFrame means that the frame for events without a name was not added yet.
const noFrame = math.MaxUint32

// owns sets the process of a thread and, if not "", its name.
func (m *maker) owns(pid, tid int64, name string) {
	if m.states.Owner[tid] = pid; name != "" {
		m.states.Names[tid] = name
	}
}

// frame returns the frame of a label.
func (m *maker) frame(label uint32) recording.FrameID {
	f := m.labels[label]
	if f == noFrame {
		f = m.b.FunctionFrame(m.b.Function(recording.Function{Name: "[no name]", Unresolved: true}))
		m.labels[label] = f
	}
	return f
}

// learn processes the new data in a window: notes, labels, frames and the like.
func (m *maker) learn(w *window) {
	for _, n := range w.notes {
		warn := m.b.Warn
		if n.minor {
			warn = m.b.Remark
		}
		warn(n.code, n.place, "%s", n.text)
		m.b.WarnMore(n.code, n.count-1)
	}
	for i, x := range w.labels {
		if i%4096 == 4095 {
			m.b.Progress()
		}
		fn := recording.Function{Name: x.name, Module: x.category}
		if fn.Name == "" {
			fn.Name, fn.Unresolved = "[no name]", true
		}
		m.labels = append(m.labels, m.b.FunctionFrame(m.b.Function(fn)))
	}
	for _, x := range w.shown {
		m.shown[x.label] = x.name
	}
	m.comms = append(m.comms, w.comms...)
	for i := range w.frames {
		fr := w.frames[i].Frame
		fr.Func = m.b.Function(w.frames[i].fn)
		m.frames = append(m.frames, m.b.Frame(fr))
	}
	var stack []recording.FrameID
	for _, s := range w.stacks {
		stack = stack[:0]
		for _, f := range s {
			stack = append(stack, m.frames[f])
		}
		m.stacks = append(m.stacks, m.b.Stack(stack))
	}
	for _, act := range w.acts {
		act(m)
	}
	count := func(to *recording.Tally, c counted) {
		to.Read += c.read
		to.Kept += c.read - c.left
		to.LeftOut += c.left
	}
	count(m.packets, w.packets)
	count(m.slices, w.slices)
}

// add adds a window.
func (m *maker) add(w *window) error {
	if w.first != math.MaxInt64 && !m.zeroed {
		m.zeroed, m.zero = true, w.first
		if _, ok := m.since(w.last); !ok {
			m.zero = decode.Origin(w.times())
		}
		*m.b.Clock() = recording.Clock{Unit: "ns", PerUnit: 1000, Origin: recording.Decimal{Mantissa: m.zero}}
	}
	m.learn(w)
	if w.first != math.MaxInt64 {
		if last, ok := m.since(w.last); ok {
			m.last = max(m.last, last)
		} else {
			for _, t := range w.times() {
				if at, ok := m.since(t); ok {
					m.last = max(m.last, at)
				}
			}
		}
	}
	rest := w.wide[:0]
	for i := range w.wide {
		if i%4096 == 4095 {
			m.b.Progress()
		}
		if x := &w.wide[i]; x.kind <= waking {
			m.schedule(x, m.time(x.at))
		} else {
			rest = append(rest, *x)
		}
	}
	for i := range w.fresh {
		m.introduce(&w.fresh[i])
	}
	for i := range w.runs {
		run := &w.runs[i]
		if i%1024 == 1023 {
			m.b.Progress()
		}
		if m.places[run.group].builder != nil {
			m.spans()
		}
		if run.thread {
			m.thread(run)
		} else {
			m.beside(run)
		}
		m.blocks.put(run.blocks)
	}
	for i := range rest {
		if i%4096 == 4095 {
			m.b.Progress()
		}
		if x := &rest[i]; x.kind == profiled {
			m.profile(x, &w.profiles[x.value])
		} else {
			m.sample(x, m.time(x.at))
		}
	}
	for i := range w.passes {
		if i%4096 == 4095 {
			m.b.Progress()
		}
		m.flow(&w.passes[i])
	}
	return nil
}

// farthest is the largest distance of a time from the first one, in nanoseconds: 53 days, so
// that sums and differences of two times fit.
const farthest = 1 << 62 / 1000

// since converts nanoseconds to picoseconds since the first time. It fails if they are too far
// from it.
func (m *maker) since(ns int64) (ps int64, ok bool) {
	d := ns - m.zero
	if d < 0 != (ns < m.zero) || d > farthest || d < -farthest {
		return 0, false
	}
	return d * 1000, true
}

// time converts nanoseconds to picoseconds since the first time. A time that is too far from the
// others is moved to the edge of the recording.
func (m *maker) time(ns int64) int64 {
	ps, ok := m.since(ns)
	if ok {
		return ps
	}
	m.b.Warn("time-range", "", "The time %d ns is more than 53 days from the others. It is shown at the edge of the recording", ns)
	if ns > m.zero {
		return m.last
	}
	return 0
}

// times returns the times of all events of a window.
func (w *window) times() (all []int64) {
	for i := range w.wide {
		all = append(all, w.wide[i].at)
	}
	for i := range w.runs {
		for _, b := range w.runs[i].blocks {
			for k := range b {
				all = append(all, b[k].at)
			}
		}
	}
	return all
}

// introduce adds a track or counter to the recording. Sibling tracks with the same name
// share one track of the recording, where groups keep their events apart.
func (m *maker) introduce(f *fresh) {
	for int(f.group) >= len(m.places) {
		m.places = append(m.places, place{})
	}
	pl := &m.places[f.group]
	if f.kinds&2 != 0 {
		name, series := cmp.Or(f.name, "counter"), ""
		if f.under {
			series = cmp.Or(f.underName, m.states.Names[f.underTID])
		}
		pl.counter = m.b.AddCounter(m.b.Process(f.above), name, series, f.unit) + 1
	}
	if f.kinds&1 == 0 {
		return
	}
	k := recording.TrackKey{PID: f.above, Name: cmp.Or(f.name, m.shown[f.label])}
	var name string
	switch {
	case f.thread:
		k = recording.TrackKey{PID: f.above, TID: f.tid}
		name = cmp.Or(f.name, m.states.Names[f.tid])
		if other := m.keys[k]; other != 0 && other != f.group { // a reused id
			k = recording.TrackKey{PID: f.above, Name: fmt.Sprintf("%s (%d again, %d)", name, f.tid, f.group)}
			name = k.Name
		}
		m.keys[k] = f.group
	case f.process:
		k.Kind, k.Name = recording.AsyncTrack, cmp.Or(f.name, m.b.ProcessInfo(m.b.Process(f.above)).Name, "process")
		name = k.Name
	default:
		k.Kind = recording.AsyncTrack
		if !f.given && f.name == "" {
			k.Name = "global"
		}
		if f.under {
			k.Name += fmt.Sprintf(" of %s", cmp.Or(f.underName, fmt.Sprint(f.underTID)))
		}
		name = k.Name
	}
	pl.builder = m.b.Track(k)
	if name != "" {
		pl.builder.SetName(name)
	}
}

// spans adds the event for spans, unless it exists.
func (m *maker) spans() {
	if !m.slicesSaid {
		m.slicesSaid = true
		m.b.AddEvent(recording.SpanEvent())
	}
}

// thread adds events of a thread, whose spans nest.
func (m *maker) thread(run *run) {
	pl := &m.places[run.group]
	var from *event // the begin of a whole span
	n := &m.nester
	for _, block := range run.blocks {
		if n.b == nil {
			n.start(m, pl)
		}
		for i := range block {
			e := &block[i]
			at := m.time(e.at)
			switch e.kind {
			case begin:
				n.begin(at, m.frame(e.label), e.args)
			case end:
				n.end(at, e.args)
			case count:
				m.b.CounterPoint(pl.counter-1, at, math.Float64frombits(e.args))
			case instant:
				pl.builder.Instant(at, m.shown[e.label], e.args)
			case whole:
				from = e
			case wholeEnd:
				pl.builder.Span(at, max(at, m.time(int64(e.args))), m.frame(from.label), from.args, false)
			}
		}
		if n.count += len(block); n.count >= 4*blockLen {
			n.finish()
			m.b.Progress()
		}
	}
	n.finish()
}

// beside adds events of a track that is not a thread; they may overlap.
func (m *maker) beside(run *run) {
	pl := &m.places[run.group]
	var from *event // the begin of a whole span
	for _, block := range run.blocks {
		for i := range block {
			e := &block[i]
			at := m.time(e.at)
			switch e.kind {
			case begin, beginOnce:
				if e.kind == beginOnce && pl.open.any() {
					m.slices.Kept--
					m.slices.Leave("")
					m.b.Remark(sched.BegunAgain, "", sched.BegunAgainText)
					break
				}
				pl.open.push(opened{at, e.args, m.frame(e.label)})
				m.b.Cover(at, at)
			case end:
				o, ok := pl.open.pop()
				if !ok {
					m.unmatched()
					break
				}
				pl.builder.SpanOf(run.group, o.at, max(at, o.at), o.frame, m.args.pair(o.args, e.args), false)
			case count:
				m.b.CounterPoint(pl.counter-1, at, math.Float64frombits(e.args))
			case instant:
				pl.builder.Instant(at, m.shown[e.label], e.args)
			case whole:
				from = e
			case wholeEnd:
				pl.builder.SpanOf(run.group, at, max(at, m.time(int64(e.args))), m.frame(from.label), from.args, false)
			}
		}
		if len(block) == blockLen {
			m.b.Progress()
		}
	}
}

func (m *maker) unmatched() {
	m.slices.Kept--
	m.slices.Leave("")
	m.b.Usual("end-unmatched", "", "Slices end without a start: the start was before the trace or is lost; the ends were left out")
}

func (m *maker) backward() {
	m.slices.Mend("")
	m.b.Warn("time-backward", "", "Events of a thread are out of order by more than %d events; they get the previous event's time", mostQueued)
}

// schedule processes a scheduler event.
func (m *maker) schedule(x *wide, at int64) {
	if comm := m.comms[x.what]; comm != "" && x.tid > 0 && m.states.Names[x.tid] != comm {
		m.states.Names[x.tid] = comm
	}
	if x.kind == waking {
		m.states.Wake(at, x.value, recording.NoCall, x.tid)
		return
	}
	m.states.Switch(at, int64(x.pid), int64(x.prev), sched.StateOf(int64(x.state)), recording.NoCall, x.tid)
	m.spans()
}

func (m *maker) sample(x *wide, at int64) {
	var values []int64
	if x.state != 0 {
		m.values = [2]int64{x.value, 1}
		values = m.values[:]
	}
	m.places[x.group].builder.Sample(m.events[x.prev], at, m.stacks[x.what], int(x.cpu), values)
}

// end closes everything open at the end of the trace.
func (m *maker) end() {
	n := 0
	for i := range m.places {
		pl := &m.places[i]
		for o := range pl.open.all {
			if n++; n%4096 == 0 {
				if m.b.Progress(); m.ctx.Err() != nil {
					return // out of memory
				}
			}
			pl.builder.SpanOf(uint32(i), o.at, max(o.at, m.last), o.frame, o.args, true)
		}
	}
	m.states.End(m.last)
	m.profiles.End()
	m.flows.open(func(steps []recording.FlowStep) bool {
		m.addFlow(steps)
		return true
	})
}
