package fuchsia

import (
	"cmp"
	"math"
	"slices"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/sched"
	"ashlar/ingest/model/recording"
)

// A turn is one switch or wakeup by the scheduler.
type turn struct {
	at         int64
	cpu        int64
	prev, next uint64 // threads, 0 for none
	state      sched.State
	wakes      bool
}

// states are the states of threads that are switched out.
var states = []sched.State{{Is: recording.Runnable}, {Is: recording.Runnable}, {Is: recording.Blocked, Name: "suspended"}, {Is: recording.Blocked}, {}, {}}

func stateOf(n uint64) sched.State {
	if n < uint64(len(states)) {
		return states[n]
	}
	return sched.State{Is: recording.Blocked}
}

// scheduled reads a scheduler record. Records are in time order only per processor;
// schedule sorts them all at the end.
func (d *decoder) scheduled(c *cursor, head uint64) bool {
	const idle = math.MinInt32 // weight of the idle thread
	t := turn{cpu: int64(field(head, 20, 35))}
	switch field(head, 60, 63) {
	case 0: // form used until 2022
		t.cpu, t.state = int64(field(head, 16, 23)), stateOf(field(head, 24, 27))
		t.at = d.time(c.word())
		prev, next := d.thread(c, field(head, 28, 35)), d.thread(c, field(head, 36, 43))
		if prev.pid != 0 || field(head, 44, 51) != 0 {
			t.prev = d.known(prev)
		}
		if next.pid != 0 || field(head, 52, 59) != 0 {
			t.next = d.known(next)
		}
	case 1:
		t.state = stateOf(field(head, 36, 39))
		t.at = d.time(c.word())
		t.prev, t.next = c.word(), c.word()
		for _, a := range d.args(c, field(head, 16, 19)) {
			switch {
			case a.name == "outgoing_weight" && int32(a.bits) == idle:
				t.prev = 0
			case a.name == "incoming_weight" && int32(a.bits) == idle:
				t.next = 0
			}
		}
	case 2:
		t.wakes = true
		t.at = d.time(c.word())
		t.next = c.word()
		d.args(c, field(head, 16, 19))
	default:
		d.b.Remark("record-unknown", decode.Byte(d.at), "Records of an unknown type (first at byte %d) were left out", d.at)
		return false
	}
	if !c.bad {
		d.switches = append(d.switches, t)
	}
	return true
}

func (d *decoder) known(t thread) uint64 {
	if _, ok := d.owner[t.tid]; !ok {
		d.owner[t.tid] = t.pid
	}
	return t.tid
}

// schedule adds the switches and wakeups.
func (d *decoder) schedule() {
	if len(d.switches) == 0 {
		return
	}
	slices.SortStableFunc(d.switches, func(a, b turn) int { return cmp.Compare(a.at, b.at) })
	s := sched.New(d.b)
	for tid, pid := range d.owner {
		s.Owner[d.id(tid)] = d.id(pid)
	}
	for tid, name := range d.names {
		s.Names[d.id(tid)] = name
	}
	d.event0()
	for _, t := range d.switches {
		if t.wakes {
			s.Wake(t.at, 0, recording.NoCall, d.id(t.next))
		} else {
			s.Switch(t.at, t.cpu, d.id(t.prev), t.state, recording.NoCall, d.id(t.next))
		}
	}
	s.End(d.last)
}
