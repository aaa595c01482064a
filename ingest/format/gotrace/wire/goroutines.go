package wire

// The methods for events of goroutines have the format's names: each event reports what
// the scheduler has just done. A method that returns false must wait for an event of
// another thread.

func (r *order) goStart(ev *raw, t *thread) (bool, error) {
	g := r.goroutine(ev.args[0])
	if g == nil || g.status != goRunnable || !g.seq.follows(r.tables.id, ev.args[1]) {
		return false, nil
	}
	if t.id == none || t.p == nil || t.g != nil {
		return false, lacks(ev)
	}
	g.status, g.seq.seq = goRunning, ev.args[1]
	r.transition(ev, t, g, Runnable, Running)
	t.g = g
	return true, nil
}

// goStop handles a goroutine that yields, blocks or ends.
func (r *order) goStop(ev *raw, t *thread) error {
	if err := user(ev, t); err != nil {
		return err
	}
	g, err := r.running(ev, t, goRunning)
	if err != nil {
		return err
	}
	if ev.typ == evGoDestroy {
		r.over(g)
		r.transition(ev, t, g, Running, NotExist)
		t.g = nil
		return nil
	}
	to := Runnable
	if g.status = goRunnable; ev.typ == evGoBlock {
		g.status, to = goWaiting, Waiting
	}
	why, err := r.text(ev, ev.args[0])
	if err != nil {
		return err
	}
	stack, err := r.stack(ev, ev.args[1])
	if err != nil {
		return err
	}
	e := r.transition(ev, t, g, Running, to)
	e.Text, e.Stack, e.OnStack = why, stack, stack
	t.g = nil
	return nil
}

func (r *order) goUnblock(ev *raw, t *thread) (bool, error) {
	g := r.goroutine(ev.args[0])
	if g == nil || g.status != goWaiting || !g.seq.follows(r.tables.id, ev.args[1]) {
		return false, nil
	}
	stack, err := r.stack(ev, ev.args[2])
	if err != nil {
		return false, err
	}
	g.status, g.seq.seq = goRunnable, ev.args[1]
	r.transition(ev, t, g, Waiting, Runnable).Stack = stack
	return true, nil
}

// goSwitch handles a goroutine that hands its thread to another: the other one is
// unblocked, this one blocks or ends, the other one starts.
func (r *order) goSwitch(ev *raw, t *thread) (bool, error) {
	if err := user(ev, t); err != nil {
		return false, err
	}
	g, err := r.running(ev, t, goRunning)
	if err != nil {
		return false, err
	}
	next := r.goroutine(ev.args[0])
	if next == nil || next.status != goWaiting || !next.seq.follows(r.tables.id, ev.args[1]) {
		return false, nil
	}
	r.transition(ev, t, next, Waiting, Runnable)
	if ev.typ == evGoSwitch {
		g.status = goWaiting
		r.transition(ev, t, g, Running, Waiting)
	} else {
		r.over(g)
		r.transition(ev, t, g, Running, NotExist)
	}
	next.status, next.seq.seq = goRunning, ev.args[1]
	t.g = nil
	r.transition(ev, t, next, Runnable, Running)
	t.g = next
	return true, nil
}

// goStatus reads the state of a goroutine at the start of a generation.
func (r *order) goStatus(ev *raw, t *thread) error {
	id, on, status := ev.args[0], ev.args[1], uint8(ev.args[2])
	if int(status) >= len(states) || id == none {
		return wrong(ev.at, "goroutine %d has an unknown state, %d", int64(id), status)
	}
	stack := int32(0)
	if ev.typ == evGoStatusStack {
		var err error
		if stack, err = r.stack(ev, ev.args[3]); err != nil {
			return err
		}
	}
	g, from := r.goroutine(id), states[status]
	switch {
	case g != nil && g.status != status:
		return wrong(ev.at, "the state of goroutine %d differs from that in the last generation", id)
	case g != nil:
		g.seq = counter{gen: r.tables.id}
	case r.tables.id != r.initial:
		return wrong(ev.at, "goroutine %d is missing from the earlier generations", id)
	default:
		g, from = r.begin(id, status), Undetermined
	}
	next := t.g
	of := *t // the thread that the event is about
	switch {
	case status == goRunning:
		next = g
	case status != goSyscall:
	case on == none:
		return wrong(ev.at, "goroutine %d is in a system call without a thread", id)
	case on == t.id:
		if r.tables.id != r.initial && (t.g == nil || t.g.ID != g.ID) {
			return wrong(ev.at, "goroutine %d is in a system call on a thread that runs another goroutine", id)
		}
		next = g
	default:
		other := r.thread(on)
		switch {
		case !other.seen:
			other.seen, other.g = true, g
		case other.g == nil || other.g.ID != g.ID:
			return wrong(ev.at, "goroutine %d is in a system call on a thread that runs another goroutine", id)
		default:
			of.g = g
		}
	}
	e := r.transition(ev, &of, g, from, states[status])
	e.Stack, e.OnStack = stack, stack
	t.g = next
	return nil
}

func (r *order) goCreate(ev *raw, t *thread) error {
	if err := onProc(ev, t); err != nil {
		return err
	}
	if t.g != nil {
		g := t.g
		if g.gone {
			g = r.goroutine(uint64(g.ID))
		}
		if g != nil && g.status != goRunning {
			return wrong(ev.at, "goroutine %d creates a goroutine but is not running", g.ID)
		}
	}
	id, status, to := ev.args[0], uint8(goRunnable), Runnable
	if ev.typ == evGoCreateBlocked {
		status, to = goWaiting, Waiting
	}
	begins, err := r.stack(ev, ev.args[1])
	if err != nil {
		return err
	}
	stack, err := r.stack(ev, ev.args[2])
	if err != nil {
		return err
	}
	g, err := r.fresh(ev, id, status)
	if err != nil {
		return err
	}
	e := r.transition(ev, t, g, NotExist, to)
	e.Stack, e.OnStack = stack, begins
	return nil
}

// fresh adds a goroutine, which must not exist yet.
func (r *order) fresh(ev *raw, id uint64, status uint8) (*G, error) {
	if id == none || r.goroutine(id) != nil {
		return nil, wrong(ev.at, "goroutine %d is created twice", int64(id))
	}
	return r.begin(id, status), nil
}

func (r *order) syscallBegin(ev *raw, t *thread) error {
	if err := user(ev, t); err != nil {
		return err
	}
	g, err := r.running(ev, t, goRunning)
	if err != nil {
		return err
	}
	if !t.p.seq.follows(r.tables.id, ev.args[0]) {
		return wrong(ev.at, "processor %d enters a system call, but events before that are missing", t.p.id)
	}
	stack, err := r.stack(ev, ev.args[1])
	if err != nil {
		return err
	}
	g.status, t.p.status, t.p.seq.seq = goSyscall, procSyscall, ev.args[0]
	e := r.transition(ev, t, g, Running, InSyscall)
	e.Stack, e.OnStack = stack, stack
	return nil
}

func (r *order) syscallEnd(ev *raw, t *thread) error {
	if err := user(ev, t); err != nil {
		return err
	}
	g, err := r.running(ev, t, goSyscall)
	if err != nil {
		return err
	}
	if t.p.status != procSyscall {
		return wrong(ev.at, "processor %d leaves a system call without having entered one", t.p.id)
	}
	g.status, t.p.status = goRunning, procRunning
	r.transition(ev, t, g, InSyscall, Running)
	return nil
}

// syscallEndBlocked handles a goroutine that lost its processor in a system call. The
// event of that loss must come first.
func (r *order) syscallEndBlocked(ev *raw, t *thread) (bool, error) {
	if t.p != nil && t.p.status == procSyscall {
		return false, nil
	}
	if t.id == none || t.g == nil {
		return false, lacks(ev)
	}
	g, err := r.running(ev, t, goSyscall)
	if err != nil {
		return false, err
	}
	g.status = goRunnable
	r.transition(ev, t, g, InSyscall, Runnable)
	t.g = nil
	return true, nil
}

// createSyscall handles a new goroutine for a C thread that calls into Go.
func (r *order) createSyscall(ev *raw, t *thread) error {
	if t.id == none || t.g != nil {
		return lacks(ev)
	}
	g, err := r.fresh(ev, ev.args[0], goSyscall)
	if err != nil {
		return err
	}
	r.transition(ev, t, g, NotExist, InSyscall)
	t.g = g
	return nil
}

// destroySyscall handles the end of a goroutine of a C thread that called into Go. The
// thread loses its processor, and another thread may get its id.
func (r *order) destroySyscall(ev *raw, t *thread) error {
	if t.id == none || t.g == nil {
		return lacks(ev)
	}
	g, err := r.running(ev, t, goSyscall)
	if err != nil {
		return err
	}
	r.over(g)
	before := *t
	if t.p != nil {
		if t.p.status != procSyscall {
			return wrong(ev.at, "processor %d is abandoned in a system call without having entered one", t.p.id)
		}
		t.p.status = procAbandoned
		t.p = nil
		r.add(Processor, ev.time, &before)
	}
	r.transition(ev, &before, g, InSyscall, NotExist)
	t.g = nil
	return nil
}
