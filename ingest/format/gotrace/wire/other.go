package wire

// Events of the runtime and of the program that do not affect the scheduler.

import "slices"

// other adds an event that is not the scheduler's.
func (r *order) other(ev *raw, t *thread) (bool, error) {
	switch ev.typ {
	case evProcsChange:
		if err := user(ev, t); err != nil {
			return false, err
		}
		return true, r.metric(ev, t, MaxProcs)
	case evHeapAlloc, evHeapGoal:
		if err := onProc(ev, t); err != nil {
			return false, err
		}
		what := uint8(HeapLive)
		if ev.typ == evHeapGoal {
			what = HeapGoal
		}
		return true, r.metric(ev, t, what)
	case evSTWBegin, evSTWEnd, evGCMarkAssistBegin, evGCMarkAssistEnd:
		return true, r.ofGoroutine(ev, t)
	case evGCMarkAssistActive:
		g := r.goroutine(ev.args[0])
		if g == nil || !g.active(span{what: MarkAssist}, r.tables.id == r.initial) {
			return false, odd(ev)
		}
		r.ranged(RangeActive, ev, t, MarkAssist).On = g
		return true, nil
	case evGCSweepBegin, evGCSweepActive, evGCSweepEnd:
		return true, r.sweep(ev, t)
	case evGCActive, evGCBegin, evGCEnd:
		return r.marking(ev, t)
	case evGoLabel, evUserTaskBegin, evUserTaskEnd, evUserRegionBegin, evUserRegionEnd, evUserLog:
		if err := user(ev, t); err != nil {
			return false, err
		}
		return true, r.annotation(ev, t)
	case evSpan, evSpanAlloc, evSpanFree, evHeapObject, evHeapObjectAlloc, evHeapObjectFree,
		evGoroutineStack, evGoroutineStackAlloc, evGoroutineStackFree:
		if t.id == none {
			return false, lacks(ev)
		}
		r.add(Experimental, ev.time, t)
		return true, nil
	}
	return false, wrong(ev.at, "an event of type %d is not allowed among events of a thread", ev.typ)
}

// odd returns the error for an impossible begin or end of a range.
func odd(ev *raw) error {
	return wrong(ev.at, "an event of type %d begins or ends a range where none is allowed", ev.typ)
}

func (r *order) metric(ev *raw, t *thread, what uint8) error {
	stack, err := int32(0), error(nil)
	if what == MaxProcs {
		if stack, err = r.stack(ev, ev.args[1]); err != nil {
			return err
		}
	}
	e := r.add(Metric, ev.time, t)
	e.What, e.Value, e.Stack = what, ev.args[0], stack
	return nil
}

func (r *order) ranged(kind Kind, ev *raw, t *thread, what uint8) *Event {
	e := r.add(kind, ev.time, t)
	e.What = what
	return e
}

// ofGoroutine handles stop-the-world pauses and mark assists.
func (r *order) ofGoroutine(ev *raw, t *thread) error {
	if err := user(ev, t); err != nil {
		return err
	}
	g := t.g
	if g.gone {
		if g = r.goroutine(uint64(g.ID)); g == nil {
			return odd(ev)
		}
	}
	kind, what, why, stack := RangeBegin, uint8(MarkAssist), uint64(0), uint64(0)
	ok := false
	switch ev.typ {
	case evSTWBegin:
		what, why, stack = StopTheWorld, ev.args[0], ev.args[1]
		ok = g.begin(span{what, why})
	case evSTWEnd:
		kind, what = RangeEnd, StopTheWorld
		why, ok = g.end(what)
	case evGCMarkAssistBegin:
		stack = ev.args[0]
		ok = g.begin(span{what: what})
	default:
		kind = RangeEnd
		_, ok = g.end(what)
	}
	if !ok {
		return odd(ev)
	}
	s, err := r.stack(ev, stack)
	if err != nil {
		return err
	}
	text, err := r.text(ev, why)
	if err != nil && kind == RangeBegin { // the text of an end may be from a previous generation
		return err
	}
	e := r.ranged(kind, ev, t, what)
	e.On, e.Stack, e.Text = t.g, s, text
	return nil
}

func (r *order) sweep(ev *raw, t *thread) error {
	if ev.typ == evGCSweepActive {
		p := r.procs[ev.args[0]]
		if p == nil || !p.active(span{what: Sweep}, r.tables.id == r.initial) {
			return odd(ev)
		}
		r.ranged(RangeActive, ev, t, Sweep).P = int64(p.id)
		return nil
	}
	if err := onProc(ev, t); err != nil {
		return err
	}
	if ev.typ == evGCSweepEnd {
		if _, ok := t.p.end(Sweep); !ok {
			return odd(ev)
		}
		r.ranged(RangeEnd, ev, t, Sweep)
		return nil
	}
	stack, err := r.stack(ev, ev.args[0])
	if err != nil {
		return err
	}
	if !t.p.begin(span{what: Sweep}) {
		return odd(ev)
	}
	r.ranged(RangeBegin, ev, t, Sweep).Stack = stack
	return nil
}

// marking handles the collector's mark phase, which may begin on one thread and end on
// another.
func (r *order) marking(ev *raw, t *thread) (bool, error) {
	seq, kind, stack := ev.args[0], RangeBegin, int32(0)
	first := ev.typ == evGCBegin && r.gc == gcUnknown || ev.typ == evGCActive && r.tables.id == r.initial
	switch {
	case first && r.gc != gcUnknown:
		return false, odd(ev)
	case first:
	case seq != r.gcSeq+1:
		return false, nil // another mark event comes first
	case (ev.typ == evGCBegin) == (r.gc == gcOn) || ev.typ == evGCEnd && r.gc == gcUnknown || ev.typ == evGCActive && r.gc != gcOn:
		return false, odd(ev)
	default:
		if err := user(ev, t); err != nil {
			return false, err
		}
	}
	r.gcSeq, r.gc = seq, gcOn
	switch ev.typ {
	case evGCBegin:
		var err error
		if stack, err = r.stack(ev, ev.args[1]); err != nil {
			return false, err
		}
	case evGCActive:
		kind = RangeActive
	case evGCEnd:
		kind, r.gc = RangeEnd, gcOff
	}
	r.ranged(kind, ev, t, MarkPhase).Stack = stack
	return true, nil
}

// annotation reads an event of runtime/trace's annotations.
func (r *order) annotation(ev *raw, t *thread) error {
	id := ev.args[0]
	var kind Kind
	var name, message, stack uint64
	var task *Task
	switch ev.typ {
	case evGoLabel:
		kind, name = Label, id
	case evUserTaskBegin:
		kind, name, stack = TaskBegin, ev.args[2], ev.args[3]
	case evUserTaskEnd:
		kind, stack = TaskEnd, ev.args[1]
		if task = r.tasks[id]; task == nil {
			task = &Task{ID: id, Parent: none}
		}
		delete(r.tasks, id)
	case evUserRegionBegin:
		kind, name, stack = RegionBegin, ev.args[1], ev.args[2]
	case evUserRegionEnd:
		kind, name, stack = RegionEnd, ev.args[1], ev.args[2]
	default:
		kind, name, message, stack = Log, ev.args[1], ev.args[2], ev.args[3]
	}
	s, err := r.stack(ev, stack)
	if err != nil {
		return err
	}
	text, err := r.text(ev, name)
	if err != nil {
		return err
	}
	more, err := r.text(ev, message)
	if err != nil {
		return err
	}
	switch kind {
	case TaskBegin:
		if r.tasks[id] != nil {
			return wrong(ev.at, "two tasks have the number %d", id)
		}
		task = &Task{ID: id, Parent: ev.args[1], Name: r.tables.Text(text)}
		if task.Parent == 0 {
			task.Parent = none
		}
		r.tasks[id] = task
	}
	e := Event{Stack: s, Text: text, More: more, Task: task, Value: id}
	if kind == RegionBegin || kind == RegionEnd {
		ended, err := r.region(ev, t, kind, region{id, r.tables.Text(text)}, &e)
		if err != nil || ended {
			return err
		}
	}
	at := r.add(kind, ev.time, t)
	at.Stack, at.Text, at.More, at.Task, at.Value, at.Inner, at.Unbegun = e.Stack, e.Text, e.More, e.Task, e.Value, e.Inner, e.Unbegun
	return nil
}

// region begins or ends a region. Regions should nest: one that ends before those within it
// ends them too. ended reports that the region has ended before in that way.
func (r *order) region(ev *raw, t *thread, kind Kind, x region, e *Event) (ended bool, err error) {
	g := t.g
	if g.gone {
		if g = r.goroutine(uint64(g.ID)); g == nil {
			return false, odd(ev)
		}
	}
	if kind == RegionBegin {
		g.regions = append(g.regions, x)
		return false, nil
	}
	i := len(g.regions) - 1
	for i >= 0 && g.regions[i] != x {
		i--
	}
	if i < 0 {
		if k := slices.Index(g.early, x); k >= 0 {
			g.early = slices.Delete(g.early, k, k+1)
			return true, nil
		}
		if n := len(g.regions); n > 0 { // else it began before the trace
			e.Unbegun, e.Inner = true, []string{g.regions[n-1].name}
		}
		return false, nil
	}
	for _, in := range g.regions[i+1:] {
		e.Inner = append(e.Inner, in.name)
	}
	g.early = append(g.early, g.regions[i+1:]...)
	g.regions = g.regions[:i]
	return false, nil
}
