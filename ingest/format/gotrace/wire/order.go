package wire

import "slices"

// order tracks the states of threads, processors and goroutines to decide which event can
// come next. It simulates the scheduler: a goroutine cannot start before it becomes
// runnable, however wrong the clocks are.
type order struct {
	tables  *Generation // tables of the current generation
	initial uint64      // id of the first generation
	threads map[uint64]*thread
	procs   map[uint64]*proc
	gs      map[uint64]*G
	recent  [4096]*G // cache of gs, by the low bits of the ids
	tasks   map[uint64]*Task
	gcSeq   uint64
	gc      uint8

	last int64 // the time of the last event, ns
	out  []Event
}

// thread is an operating system's thread (M).
type thread struct {
	id   uint64
	g    *G
	p    *proc
	seen bool // the thread had an event, or an event named it
}

// noThread stands for events without a thread.
var noThread thread

// none is the id that means no thread.
const none = ^uint64(0)

// proc is a processor of the scheduler (P).
type proc struct {
	id     uint64
	status uint8
	seq    counter
	ranges
}

// States of goroutines, as in the file.
const (
	goRunnable = 1 + iota
	goRunning
	goSyscall
	goWaiting
)

var states = [...]State{Undetermined, goRunnable: Runnable, goRunning: Running, goSyscall: InSyscall, goWaiting: Waiting}

// States of processors, as in the file. An abandoned processor belonged to a thread in a
// system call about which nothing else is known.
const (
	procRunning = 1 + iota
	procIdle
	procSyscall
	procAbandoned
)

// States of the garbage collector.
const (
	gcUnknown = iota
	gcOff
	gcOn
)

// A counter is the sequence number of events of a goroutine or processor; it restarts in
// each generation.
type counter struct{ gen, seq uint64 }

// follows reports whether seq is the next number in a generation.
func (c counter) follows(gen, seq uint64) bool { return c.gen == gen && c.seq+1 == seq }

// ranges are the open ranges of a goroutine or processor.
type ranges []span

type span struct {
	what uint8
	text uint64 // number of a string
}

// A region is a region that the program marked with runtime/trace.
type region struct {
	task uint64
	name string
}

func newOrder() order {
	return order{threads: map[uint64]*thread{}, procs: map[uint64]*proc{}, gs: map[uint64]*G{}, tasks: map[uint64]*Task{}}
}

func (r *order) thread(id uint64) *thread {
	t := r.threads[id]
	if t == nil {
		t = &thread{id: id}
		r.threads[id] = t
	}
	return t
}

// goroutine returns an existing goroutine, nil if there is none.
func (r *order) goroutine(id uint64) *G {
	near := &r.recent[id%uint64(len(r.recent))]
	if g := *near; g != nil && uint64(g.ID) == id && !g.gone {
		return g
	}
	g := r.gs[id]
	if g != nil {
		*near = g
	}
	return g
}

func (r *order) begin(id uint64, status uint8) *G {
	g := &G{ID: int64(id), status: status, seq: counter{gen: r.tables.id}}
	r.gs[id] = g
	r.recent[id%uint64(len(r.recent))] = g
	return g
}

func (r *order) over(g *G) {
	g.gone = true
	delete(r.gs, uint64(g.ID))
}

// add adds an event of a thread. No two events get the same time.
func (r *order) add(kind Kind, time int64, t *thread) *Event {
	if time <= r.last {
		time = r.last + 1
	}
	r.last = time
	n := len(r.out)
	r.out = r.out[:n+1]
	e := &r.out[n]
	*e = Event{Kind: kind, Time: time, P: None, G: t.g}
	if t.p != nil {
		e.P = int64(t.p.id)
	}
	return e
}

// transition adds a transition of a goroutine.
func (r *order) transition(ev *raw, t *thread, of *G, from, to State) *Event {
	e := r.add(Transition, ev.time, t)
	e.On, e.From, e.To = of, from, to
	return e
}

// stack and text resolve the numbers of stacks and strings.
func (r *order) stack(ev *raw, id uint64) (int32, error) {
	place, ok := r.tables.stacks.of(id)
	if !ok {
		return 0, wrong(ev.at, "an event refers to a missing stack")
	}
	return place, nil
}

func (r *order) text(ev *raw, id uint64) (int32, error) {
	place, ok := r.tables.strings.of(id)
	if !ok {
		return 0, wrong(ev.at, "an event refers to a missing string")
	}
	return place, nil
}

// lacks returns the error for an event on a thread without the processor or goroutine
// that it needs.
func lacks(ev *raw) error {
	return wrong(ev.at, "an event of type %d needs a running processor or goroutine, and this thread has none", ev.typ)
}

// user checks the condition of most events: a goroutine running on a processor.
func user(ev *raw, t *thread) error {
	if t.id == none || t.p == nil || t.g == nil {
		return lacks(ev)
	}
	return nil
}

// onProc checks the condition of the runtime's events: a processor.
func onProc(ev *raw, t *thread) error {
	if t.id == none || t.p == nil {
		return lacks(ev)
	}
	return nil
}

// running returns the goroutine that runs on a thread, which must be in the given state.
func (r *order) running(ev *raw, t *thread, status uint8) (*G, error) {
	g := t.g
	if g.gone {
		g = r.goroutine(uint64(g.ID))
	}
	if g == nil || g.status != status {
		return nil, wrong(ev.at, "an event of type %d does not fit the state of goroutine %d", ev.typ, t.g.ID)
	}
	return g, nil
}

// advance adds the current event of a cursor. It returns false if another event must come
// first.
func (r *order) advance(c *cursor) (ok bool, err error) {
	ev, t := &c.ev, c.m
	if t.seen = true; t.id == none {
		t.g, t.p = nil, nil
	}
	switch ev.typ {
	case evGoStart:
		return r.goStart(ev, t)
	case evGoStop, evGoBlock, evGoDestroy:
		return true, r.goStop(ev, t)
	case evGoUnblock:
		return r.goUnblock(ev, t)
	case evGoSwitch, evGoSwitchDestroy:
		return r.goSwitch(ev, t)
	case evGoStatus, evGoStatusStack:
		return true, r.goStatus(ev, t)
	case evGoCreate, evGoCreateBlocked:
		return true, r.goCreate(ev, t)
	case evGoSyscallBegin:
		return true, r.syscallBegin(ev, t)
	case evGoSyscallEnd:
		return true, r.syscallEnd(ev, t)
	case evGoSyscallEndBlocked:
		return r.syscallEndBlocked(ev, t)
	case evGoCreateSyscall:
		return true, r.createSyscall(ev, t)
	case evGoDestroySyscall:
		return true, r.destroySyscall(ev, t)
	case evProcStart:
		return r.procStart(ev, t)
	case evProcStop:
		return true, r.procStop(ev, t)
	case evProcSteal:
		return r.procSteal(ev, t)
	case evProcStatus:
		return true, r.procStatus(ev, t)
	}
	return r.other(ev, t)
}

// begin, active and end update the open ranges; they return false if the event is
// impossible.
func (x *ranges) begin(s span) bool {
	if slices.Contains(*x, s) {
		return false
	}
	*x = append(*x, s)
	return true
}

func (x *ranges) active(s span, initial bool) bool {
	if initial {
		return x.begin(s)
	}
	return slices.Contains(*x, s)
}

func (x *ranges) end(what uint8) (text uint64, ok bool) {
	i := slices.IndexFunc(*x, func(s span) bool { return s.what == what })
	if i < 0 {
		return 0, false
	}
	text = (*x)[i].text
	last := len(*x) - 1
	(*x)[i] = (*x)[last]
	*x = (*x)[:last]
	return text, true
}
