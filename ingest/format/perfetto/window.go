package perfetto

import (
	"cmp"
	"math"
	"slices"
	"sort"
	"sync"
)

// Kinds of events queued on their track.
const (
	begin = iota
	end
	whole    // a whole span; the next event has its end
	wholeEnd // follows whole, at the same time; args is the end time
	instant
	count     // args has the value
	beginOnce // a begin that counts only if nothing is open
)

// event is an event queued on its track.
type event struct {
	at    int64 // nanoseconds
	args  uint64
	label uint32
	kind  uint8
}

// Kinds of events queued for the trace as a whole, because their effect depends on events
// of other tracks.
const (
	switched = iota
	waking
	sampled
	profiled // an event of V8's profiler; value is its number
)

// wide is an event queued for the trace as a whole. If a thread is switched to or becomes
// runnable, tid is the thread, prev the thread before it and value the waker. If a thread
// is sampled, group is its track. If V8's profiler wrote the event, value is its index in
// the window's profiles.
type wide struct {
	at         int64
	tid, value int64
	prev       int32  // -1 if unknown; for samples: number of their event
	pid        int32  // process id; for scheduler events, the processor
	group      uint32 // group of the track
	what       uint32 // number of a thread's name or of a stack
	cpu        int16  // processor of a sample
	kind       uint8
	state      uint8 // for samples: 1 if they have a weight
}

// mostQueued is the number of queued events at which the earlier half is passed on.
const mostQueued = 1 << 20

// blockLen is the number of events of a track in one block.
const blockLen = 1 << 10

// blocks holds free blocks for reuse.
type blocks struct {
	mu   sync.Mutex
	free [][]event
}

func (p *blocks) get() []event {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.free) - 1
	if n < 0 {
		return make([]event, 0, blockLen)
	}
	b := p.free[n]
	p.free = p.free[:n]
	return b
}

// put returns blocks for reuse; it ignores slices of another size.
func (p *blocks) put(all [][]event) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, b := range all {
		if cap(b) == blockLen {
			p.free = append(p.free, b[:0])
		}
	}
}

// row holds the queued events of a track in the order of arrival.
type row struct {
	full   [][]event
	tail   []event // the events after full
	latest int64   // time of the last event
	mixed  bool    // the events are not in time order
	waits  bool    // there are queued events
	seen   uint8   // bits: 1 for spans or instants, 2 for values
	last   uint8   // the bits of seen that the maker knows
}

// put queues an event on its track.
func (r *reader) put(t *track, e event) {
	if len(t.tail) == cap(t.tail) {
		r.grow(&t.row)
		if !t.waits {
			t.waits, t.latest = true, math.MinInt64
			r.rows = append(r.rows, t)
		}
	}
	if e.at < t.latest {
		t.mixed = true
	}
	t.latest = e.at
	if t.tail = append(t.tail, e); e.kind == count {
		t.seen |= 2
	} else {
		t.seen |= 1
	}
	r.waiting++
}

// grow allocates more space: little for tracks with few events, because there may be many
// such tracks.
func (r *reader) grow(t *row) {
	n := len(t.tail)
	switch {
	case n == 0:
		t.tail = make([]event, 0, 2)
	case n < blockLen/8:
		t.tail = append(make([]event, 0, 8*n), t.tail...)
	case n < blockLen:
		t.tail = append(r.blocks.get(), t.tail...)
	default:
		t.full = append(t.full, t.tail)
		t.tail = r.blocks.get()
	}
}

func (r *reader) putWide(w wide) {
	r.wide = append(r.wide, w)
	r.waiting++
}

// take removes the events up to a time from a row.
func (t *row) take(until int64, o *order[event], room *blocks) (taken [][]event) {
	all := t.full
	if len(t.tail) > 0 {
		all = append(all, t.tail)
	}
	t.full, t.tail = nil, nil
	if t.mixed {
		o.sortBlocks(all)
		t.mixed = false
	}
	k := sort.Search(len(all), func(k int) bool { return all[k][len(all[k])-1].at > until })
	if k == len(all) {
		t.waits = false
		return all
	}
	taken = all[:k:k]
	rest := all[k:]
	if b := rest[0]; b[0].at <= until {
		n := sort.Search(len(b), func(i int) bool { return b[i].at > until })
		taken = append(taken, b[:n])
		rest[0] = append(room.getFor(len(b)-n), b[n:]...)
	}
	t.full, t.tail = rest[:len(rest)-1], rest[len(rest)-1]
	return taken
}

// getFor returns an empty slice with room for n events.
func (p *blocks) getFor(n int) []event {
	if n <= blockLen && n > blockLen/8 {
		return p.get()
	}
	return make([]event, 0, n)
}

// run holds the next events of a track.
type run struct {
	group  uint32
	thread bool
	blocks [][]event
}

// fresh is a track that is new to the maker, or that has new kinds of events.
type fresh struct {
	at    int64 // time of the track's first event; label is the label of that event
	group uint32
	label uint32
	kinds uint8 // see row.seen
	*who
}

// who describes a track to the maker.
type who struct {
	thread, process bool
	given           bool // the track has a uuid of its own
	pid, tid        int64
	name            string
	// above is the process of the track. under reports whether the track also belongs to
	// a thread.
	above     int64
	under     bool
	underName string
	underTID  int64
	unit      string
}

func (r *reader) who(t *track) *who {
	w := &who{thread: t.thread, process: t.process, given: t.uuid != 0, pid: t.pid, tid: t.tid, name: t.name}
	pid, thread := r.above(t)
	if w.above = pid; thread != nil {
		w.under, w.underName, w.underTID = true, thread.name, thread.tid
	}
	if t.counter != nil {
		w.unit = t.counter.unit
	}
	return w
}

// introduce announces a track to the maker.
func (r *reader) introduce(w *window, t *track, told uint8, is fresh) {
	is.kinds = told &^ t.last
	t.last, is.group, is.who = told, t.group, r.who(t)
	w.fresh = append(w.fresh, is)
}

// note is a problem, and how often it occurred.
type note struct {
	code, place, text string
	minor             bool
	count             int64
}

// counted counts packets or events.
type counted struct{ read, left int64 }

// window is the unit of data between the reader and the maker.
type window struct {
	acts     []func(*maker) // to call before anything else
	labels   []labelText    // new labels, by number
	shown    []shownLabel
	comms    []string // new names of threads, by number
	frames   []frame  // new frames, by number
	stacks   [][]uint32
	runs     []run
	fresh    []fresh // in time order
	wide     []wide
	passes   []pass // in time order
	profiles []profileEvent
	first    int64 // earliest and, in last, latest time, if there are events
	last     int64
	notes    []note
	packets  counted
	slices   counted
}

// flush passes on the earlier half of the events, or all. When it is called depends only
// on the trace, not on timing.
func (r *reader) flush(all bool) error {
	until := int64(math.MaxInt64)
	if !all {
		until = r.half()
	}
	w := r.next
	w.first, w.last = math.MaxInt64, math.MinInt64
	r.takeWide(w, until)
	r.takePasses(w, until)
	waiting := r.rows[:0]
	for _, t := range r.rows {
		taken := t.take(until, &r.order, r.blocks)
		if t.waits {
			waiting = append(waiting, t)
		}
		if len(taken) == 0 {
			continue
		}
		e := &taken[0][0]
		if t.seen&^t.last != 0 {
			r.introduce(w, t, t.seen, fresh{at: e.at, label: e.label})
		}
		w.runs = append(w.runs, run{t.group, t.thread, taken})
		final := taken[len(taken)-1]
		w.first, w.last = min(w.first, e.at), max(w.last, final[len(final)-1].at)
		for _, b := range taken {
			r.waiting -= len(b)
		}
	}
	clear(r.rows[len(waiting):])
	r.rows = waiting
	slices.SortStableFunc(w.fresh, func(a, b fresh) int { return cmp.Compare(a.at, b.at) })
	r.next = new(window)
	select {
	case r.pipe <- w:
		return nil
	case <-r.ctx.Done():
		return r.ctx.Err()
	}
}

// takeWide moves the trace-wide events up to a time into the window, in time order.
func (r *reader) takeWide(w *window, until int64) {
	if len(r.wide) == 0 {
		return
	}
	r.wideOrder.sort(r.wide)
	n := sort.Search(len(r.wide), func(i int) bool { return r.wide[i].at > until })
	w.wide = slices.Clone(r.wide[:n])
	for i := range w.wide {
		x := &w.wide[i]
		switch x.kind {
		case sampled:
			r.onThread(w, x, r.threadTrack(int64(x.pid), x.tid))
		case profiled:
			r.takeProfile(w, x)
		}
	}
	if n > 0 {
		w.first, w.last = w.wide[0].at, w.wide[n-1].at
	}
	r.wide = r.wide[:copy(r.wide, r.wide[n:])]
	r.waiting -= n
}

// onThread sets the track of an event to that of a thread.
func (r *reader) onThread(w *window, x *wide, t *track) {
	if x.group = t.group; t.last&1 == 0 {
		r.introduce(w, t, t.last|1, fresh{at: x.at})
	}
}

// takePasses moves the steps of flows up to a time into the window. Their events are on
// tracks and have the same times.
func (r *reader) takePasses(w *window, until int64) {
	if len(r.passes) == 0 {
		return
	}
	r.passOrder.sort(r.passes)
	n := sort.Search(len(r.passes), func(i int) bool { return r.passes[i].at > until })
	w.passes = slices.Clone(r.passes[:n])
	r.passes = r.passes[:copy(r.passes, r.passes[n:])]
	r.waiting -= n
}

// half returns a time before which about half of the queued events lie: the median of a
// sample of them.
func (r *reader) half() int64 {
	const each = 256
	var times []int64
	n := 0
	look := func(b []event) {
		for i := (each - n%each) % each; i < len(b); i += each {
			times = append(times, b[i].at)
		}
		n += len(b)
	}
	for _, t := range r.rows {
		for _, b := range t.full {
			look(b)
		}
		look(t.tail)
	}
	for i := (each - n%each) % each; i < len(r.wide); i += each {
		times = append(times, r.wide[i].at)
	}
	n += len(r.wide)
	for i := (each - n%each) % each; i < len(r.passes); i += each {
		times = append(times, r.passes[i].at)
	}
	slices.Sort(times)
	return times[len(times)/2]
}
