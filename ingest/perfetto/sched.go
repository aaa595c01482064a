package perfetto

import (
	"ashlar/ingest/recording"
	"ashlar/ingest/sched"
)

// turn is one act of the scheduler: a processor went to another thread, or a thread
// may run again.
type turn struct {
	cpu        int64
	prev, next int64 // -1 where the event does not say
	waker      int64 // 0 where the event does not say
	state      int64
	comm       string
}

// turn has room for one: of millions each would else be garbage by itself.
func (d *decoder) turn(is turn) *turn {
	if len(d.slab) == 0 {
		d.slab = make([]turn, 1<<10)
	}
	s := &d.slab[0]
	*s, d.slab = is, d.slab[1:]
	return s
}

// ftrace reads what the kernel traced of one processor.
func (d *decoder) ftrace(b []byte) {
	var n int64
	for num, v := range each(b) {
		if num == 1 {
			n = id(v.n)
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

func (d *decoder) ftraceEvent(n int64, b []byte) {
	var at, tid int64
	for num, v := range each(b) {
		switch num {
		case 1:
			at = int64(v.n)
		case 2:
			tid = id(v.n)
		}
	}
	for num, v := range each(b) {
		switch num {
		case 4:
			s := d.turn(turn{cpu: n, prev: -1, next: -1, waker: tid})
			for num, v := range each(v.b) {
				switch num {
				case 1:
					// the name of the thread before, which is known
				case 2:
					s.prev = id(v.n)
				case 4:
					s.state = int64(v.n)
				case 5:
					s.comm = d.word(v.b)
				case 6:
					s.next = id(v.n)
				}
			}
			d.enqueue(event{at: at, kind: switched, more: s})
		case 17, 20, 114:
			s := d.turn(turn{cpu: n, prev: -1, next: -1, waker: tid})
			for num, v := range each(v.b) {
				switch num {
				case 1:
					s.comm = d.word(v.b)
				case 2:
					s.next = id(v.n)
				}
			}
			d.enqueue(event{at: at, kind: waking, more: s})
		}
	}
}

// compact reads events that are packed by their fields.
func (d *decoder) compact(n int64, b []byte) {
	cols := &d.columns
	for i := range cols {
		cols[i] = cols[i][:0]
	}
	var names []string
	for num, v := range each(b) {
		switch {
		case num == 5:
			names = append(names, d.word(v.b))
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
	before, ok := d.before[n]
	if !ok {
		before = -1
	}
	at := int64(0)
	for i, delta := range cols[1] {
		at += int64(delta)
		s := d.turn(turn{cpu: n, prev: before, next: -1, comm: comm(i, cols[6])})
		if i < len(cols[2]) {
			s.state = int64(cols[2][i])
		}
		if i < len(cols[3]) {
			s.next = id(cols[3][i])
		}
		before = s.next
		d.enqueue(event{at: at, kind: switched, more: s})
	}
	d.before[n], at = before, 0
	for i, delta := range cols[7] {
		at += int64(delta)
		s := d.turn(turn{cpu: n, prev: -1, next: -1, comm: comm(i, cols[11])})
		if i < len(cols[8]) {
			s.next = id(cols[8][i])
		}
		d.enqueue(event{at: at, kind: waking, more: s})
	}
}

// schedule takes an event of the scheduler.
func (d *decoder) schedule(e *event, at int64) {
	s := e.more.(*turn)
	if s.comm != "" && s.next > 0 && d.states.Names[s.next] != s.comm {
		d.states.Names[s.next] = s.comm
	}
	if e.kind == waking {
		d.states.Wake(at, s.waker, s.next)
		return
	}
	d.states.Switch(at, s.cpu, s.prev, sched.StateOf(s.state), recording.NoCall, s.next)
	d.spans()
}
