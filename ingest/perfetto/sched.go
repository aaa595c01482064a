package perfetto

import (
	"cmp"
	"fmt"
	"maps"
	"slices"

	"ashlar/ingest/recording"
)

// sched is what the scheduler did: a processor went to another thread, or a thread
// may run again.
type sched struct {
	cpu        uint64
	prev, next int64 // -1 where the event does not say
	state      int64
	comm       string
}

// cpu is a processor.
type cpu struct {
	track   *recording.TrackBuilder
	running int64
	since   int64
	any     bool
	last    int64 // thread of the packed events
}

func (d *decoder) cpu(n uint64) *cpu {
	c := d.cpus[n]
	if c == nil {
		c = &cpu{last: -1}
		d.cpus[n] = c
	}
	return c
}

// ftrace reads what the kernel traced of one processor.
func (d *decoder) ftrace(b []byte) {
	var n uint64
	for num, v := range each(b) {
		if num == 1 {
			n = v.n
		}
	}
	for num, v := range each(b) {
		switch num {
		case 2:
			d.ftraceEvent(n, v.b)
		case 4:
			d.compact(n, v.b)
		}
	}
}

func (d *decoder) ftraceEvent(n uint64, b []byte) {
	var at int64
	for num, v := range each(b) {
		if num == 1 {
			at = int64(v.n)
		}
	}
	for num, v := range each(b) {
		s := &sched{cpu: n, prev: -1, next: -1}
		switch num {
		case 4:
			for num, v := range each(v.b) {
				switch num {
				case 1:
					// the name of the thread before, which is known
				case 2:
					s.prev = id(v.n)
				case 4:
					s.state = int64(v.n)
				case 5:
					s.comm = v.text()
				case 6:
					s.next = id(v.n)
				}
			}
			d.enqueue(event{at: at, kind: switched, sched: s})
		case 17, 20, 114:
			for num, v := range each(v.b) {
				switch num {
				case 1:
					s.comm = v.text()
				case 2:
					s.next = id(v.n)
				}
			}
			d.enqueue(event{at: at, kind: waking, sched: s})
		}
	}
}

// compact reads events that are packed by their fields.
func (d *decoder) compact(n uint64, b []byte) {
	var cols [13][]uint64
	var names []string
	for num, v := range each(b) {
		switch {
		case num == 5:
			names = append(names, v.text())
		case num < 13:
			cols[num] = v.numbers(cols[num])
		}
	}
	comm := func(i int, col []uint64) string {
		if i < len(col) && col[i] < uint64(len(names)) {
			return names[col[i]]
		}
		return ""
	}
	c, at := d.cpu(n), int64(0)
	for i, delta := range cols[1] {
		at += int64(delta)
		s := &sched{cpu: n, prev: c.last, next: -1, comm: comm(i, cols[6])}
		if i < len(cols[2]) {
			s.state = int64(cols[2][i])
		}
		if i < len(cols[3]) {
			s.next = id(cols[3][i])
		}
		c.last = s.next
		d.enqueue(event{at: at, kind: switched, sched: s})
	}
	at = 0
	for i, delta := range cols[7] {
		at += int64(delta)
		s := &sched{cpu: n, prev: -1, next: -1, comm: comm(i, cols[11])}
		if i < len(cols[8]) {
			s.next = id(cols[8][i])
		}
		d.enqueue(event{at: at, kind: waking, sched: s})
	}
}

// states of threads that are switched away from, by the lowest bit that is set.
var states = []string{"sleeping", "sleeping, uninterruptible", "stopped", "traced", "dead", "zombie", "parked", "idle"}

func stateName(s int64) string {
	for i, name := range states {
		if s>>i&1 != 0 {
			return name
		}
	}
	return "runnable"
}

// states of a thread lie beside its slices.
type threadState struct {
	tid   int64
	track *recording.TrackBuilder
	since int64
	in    string // "" while it is not known
}

// schedule takes an event of the scheduler.
func (d *decoder) schedule(e *event, at int64) {
	s := e.sched
	d.spans()
	if s.comm != "" && s.next > 0 {
		d.comms[s.next] = s.comm
	}
	if e.kind == waking {
		if t := d.stateOf(s.next); t != nil && t.in != "running" && t.in != "runnable" {
			d.become(t, "runnable", at)
		}
		return
	}
	c := d.cpu(s.cpu)
	if c.track == nil {
		c.track = d.b.Track(recording.TrackKey{PID: processors, TID: int64(s.cpu)})
		c.track.SetName(fmt.Sprintf("CPU %d", s.cpu))
		c.track.SetSort(int(min(s.cpu, 1<<31-1)))
		d.b.ProcessInfo(d.b.Process(processors)).Name = "processors"
	}
	if c.any {
		c.track.End(at)
	}
	c.any, c.running = s.next > 0, s.next
	if c.any { // 0 is a processor that has nothing to do
		c.track.Begin(at, d.frame(cmp.Or(d.comms[s.next], fmt.Sprintf("thread %d", s.next)), ""), 0)
	}
	if t := d.stateOf(s.prev); t != nil {
		d.become(t, stateName(s.state), at)
	}
	if t := d.stateOf(s.next); t != nil {
		d.become(t, "running", at)
	}
}

// processors is the process that stands for those of the machine.
const processors = recording.TextID

func (d *decoder) stateOf(tid int64) *threadState {
	if tid <= 0 {
		return nil
	}
	t := d.states[tid]
	if t == nil {
		t = &threadState{tid: tid}
		d.states[tid] = t
	}
	return t
}

// become ends a thread's state and begins the next.
func (d *decoder) become(t *threadState, in string, at int64) {
	if t.in != "" && at > t.since {
		t.tell(d, at, false)
	}
	t.in, t.since = in, at
}

func (t *threadState) tell(d *decoder, at int64, unfinished bool) {
	if t.track == nil {
		name := cmp.Or(d.comms[t.tid], fmt.Sprintf("thread %d", t.tid))
		t.track = d.b.Track(recording.TrackKey{Kind: recording.AsyncTrack, PID: d.owner[t.tid], TID: t.tid})
		t.track.SetName(name + " states")
	}
	t.track.Span(t.since, at, d.frame(t.in, ""), 0, unfinished)
}

// endSched ends what threads are in at the end of the trace.
func (d *decoder) endSched() {
	for _, tid := range slices.Sorted(maps.Keys(d.states)) {
		if t := d.states[tid]; t.in != "" {
			t.tell(d, max(d.last, t.since), true)
		}
	}
}
