package chrome

import (
	"cmp"
	"slices"

	"ashlar/ingest/jsonscan"
	"ashlar/ingest/recording"
)

// Flows: s, t and f are the start, the steps and the end of an arrow and go
// together by category, name and id, in any order of the file. s, t and an f
// with bp "e" belong to the span that runs at their time, an f without to the
// next span that begins on its thread. The newer form needs no events of its
// own: spans that carry a bind_id send (flow_out) and receive (flow_in).

type flowKey struct {
	cat, name, id uint32
	pid           int64
}

// flow is an arrow while it is put together.
type flow struct {
	name       string
	start, end bool
	steps      []*flowStep
}

// flowStep is one of a flow's events. Its time is settled when its thread's
// next span has come, if it waits for one.
type flowStep struct {
	thread *thread
	at     int64
	off    int64
	ph     byte
	wait   bool
}

// sender is the last span that sent under a bind_id, and those that received
// before any had.
type sender struct {
	step  *flowStep
	early []*flowStep
}

type flowTable struct {
	d     *decoder
	open  map[flowKey]*flow
	whole []*flow // complete, perhaps with a step that waits
	next  int     // how many of them to look through next
	bind  map[uint32]*sender
}

func (f *flowTable) init(d *decoder) {
	f.d, f.open, f.bind = d, map[flowKey]*flow{}, map[uint32]*sender{}
}

// add adds an s, t or f; it reports whether it is kept so far.
func (f *flowTable) add(it *item) bool {
	d := f.d
	t := d.use(it)
	key := flowKey{cat: it.cat, name: it.name}
	found, enclosing := false, it.ph != 'f'
	m := jsonscan.Object(it.text())
	for {
		k, v, ok := m.Next()
		if !ok {
			break
		}
		switch string(k) {
		case "id":
			key.id, found = d.ids.id(jsonscan.Unquoted(v)), true
		case "id2":
			if local := jsonscan.Member(v, "local"); local != nil {
				key.id, key.pid, found = d.ids.id(jsonscan.Unquoted(local)), t.pid, true
			} else if global := jsonscan.Member(v, "global"); global != nil {
				key.id, found = d.ids.id(jsonscan.Unquoted(global)), true
			}
		case "bp":
			enclosing = enclosing || string(jsonscan.Unquoted(v)) == "e"
		}
	}
	if !found {
		d.warn(noID, it.off, "")
		return false
	}
	step := &flowStep{thread: t, at: d.at(it.ts, it.off), off: it.off, ph: it.ph}
	d.b.Cover(step.at, step.at)
	if !enclosing {
		step.wait = true
		t.waiting = append(t.waiting, step)
		if len(t.waiting) > maxWaiting {
			t.waiting[0].wait = false
			t.waiting = t.waiting[1:]
		}
	}
	fl := f.open[key]
	if fl != nil && (it.ph == 's' && fl.start || it.ph == 'f' && fl.end) {
		f.done(fl)
		fl = nil
	}
	if fl == nil {
		fl = &flow{name: d.names[it.name].text}
		f.open[key] = fl
	}
	fl.steps = append(fl.steps, step)
	fl.start = fl.start || it.ph == 's'
	fl.end = fl.end || it.ph == 'f'
	if fl.start && fl.end {
		delete(f.open, key)
		f.done(fl)
	}
	return true
}

// maxWaiting is how many steps of a thread wait for its next span; the oldest
// beyond that stay at their own times.
const maxWaiting = 64

// arrive settles the steps that wait for a thread's next span.
func (t *thread) arrive(at int64) {
	left := t.waiting[:0]
	for _, s := range t.waiting {
		if s.at > at {
			left = append(left, s)
			continue
		}
		s.at, s.wait = at, false
	}
	t.waiting = left
	if len(left) == 0 {
		t.waiting = nil
	}
}

// done adds a flow whose events are all there, now or once its steps are
// settled.
func (f *flowTable) done(fl *flow) {
	f.whole = append(f.whole, fl)
	if len(f.whole) > f.next {
		f.flush(false)
		f.next = 2*len(f.whole) + 64
	}
}

// flush adds the flows whose steps are settled, or all of them.
func (f *flowTable) flush(all bool) {
	left := f.whole[:0]
	for _, fl := range f.whole {
		if !all && slices.ContainsFunc(fl.steps, func(s *flowStep) bool { return s.wait }) {
			left = append(left, fl)
			continue
		}
		f.emit(fl)
	}
	f.whole = left
}

func (f *flowTable) emit(fl *flow) {
	if len(fl.steps) < 2 {
		for _, s := range fl.steps {
			f.d.later(loneFlow, string(rune(s.ph)), s.off, true)
		}
		return
	}
	slices.SortStableFunc(fl.steps, func(a, b *flowStep) int { return cmp.Compare(a.at, b.at) })
	out := recording.Flow{Name: fl.name, Steps: make([]recording.FlowStep, len(fl.steps))}
	for i, s := range fl.steps {
		out.Steps[i] = recording.FlowStep{Track: s.thread.track.Index(), Time: s.at}
	}
	f.d.b.AddFlow(out)
}

// bound adds the newer form of flows: what a span sends and receives.
func (f *flowTable) bound(it *item, t *thread, at int64) {
	d := f.d
	var id uint32
	in, out := false, false
	m := jsonscan.Object(it.text())
	for {
		k, v, ok := m.Next()
		if !ok {
			break
		}
		switch string(k) {
		case "bind_id":
			id = d.ids.id(jsonscan.Unquoted(v))
		case "flow_in":
			in = truth(v)
		case "flow_out":
			out = truth(v)
		}
	}
	if id == 0 || !in && !out {
		return
	}
	s := f.bind[id]
	if s == nil {
		s = new(sender)
		f.bind[id] = s
	}
	step := &flowStep{thread: t, at: at, off: it.off}
	name := d.names[it.name].text
	if in && s.step != nil {
		f.emit(&flow{name: name, steps: []*flowStep{s.step, step}})
	} else if in && !out {
		s.early = append(s.early, step)
	}
	if out {
		s.step = step
		for _, e := range s.early {
			f.emit(&flow{name: name, steps: []*flowStep{step, e}})
		}
		s.early = nil
	}
}

// truth reads a JSON truth value, in quotes or as a number too.
func truth(v []byte) bool {
	switch string(jsonscan.Unquoted(v)) {
	case "false", "0", "null", "":
		return false
	}
	return true
}

// finish adds the flows that wait, and those without a start or an end.
func (f *flowTable) finish() {
	left := make([]*flow, 0, len(f.open))
	for _, fl := range f.open {
		left = append(left, fl)
	}
	slices.SortFunc(left, func(a, b *flow) int { return cmp.Compare(a.steps[0].off, b.steps[0].off) })
	f.whole = append(f.whole, left...)
	f.flush(true)
	var lone []int64
	for _, s := range f.bind {
		for _, e := range s.early {
			lone = append(lone, e.off)
		}
	}
	slices.Sort(lone)
	for _, off := range lone {
		f.d.warn(loneFlow, off, "")
	}
	f.open, f.bind = nil, nil
}
