package perfetto

import (
	"maps"
	"slices"

	"ashlar/ingest/model/recording"
)

// pass is a flow that passes a track at a time, or ends on it.
type pass struct {
	at    int64
	id    uint64
	group uint32 // of the track
	how   uint8
}

// What a flow does on a track.
const (
	passes = iota
	ends
	arrives // and goes on from where it was before
	starts  // again, where it has begun before
	goesOn  // where it has begun
)

// flows are those that have begun, of which a trace may never end millions: a table that
// holds no pointers, by open addressing. Nearly all pass one track and end on the next;
// further steps of the others are kept apart.
type flows struct {
	slots []flowSlot
	n     int
	rest  map[uint64][]recording.FlowStep
	steps []recording.FlowStep // room for those of flows that are added
}

// flowSlot has the first step of a flow.
type flowSlot struct {
	id    uint64
	time  int64
	track uint32 // plus 1; 0 if the slot is free
	more  bool   // there are steps in flows.rest
}

func (f *flowSlot) step() recording.FlowStep {
	return recording.FlowStep{Track: int(f.track) - 1, Time: f.time}
}

// place is the slot of a flow, or the free one where it would be.
func (f *flows) place(id uint64) uint64 {
	mask := uint64(len(f.slots) - 1)
	i := f.home(id)
	for f.slots[i].track != 0 && f.slots[i].id != id {
		i = (i + 1) & mask
	}
	return i
}

// home is the slot at which the search for a flow begins.
func (f *flows) home(id uint64) uint64 {
	id ^= id >> 32
	id *= 0x9E3779B97F4A7C15
	return (id ^ id>>29) & uint64(len(f.slots)-1)
}

// put has a flow begin at a step, or go on with it.
func (f *flows) put(id uint64, at recording.FlowStep) {
	if 2*(f.n+1) > len(f.slots) {
		f.grow()
	}
	s := &f.slots[f.place(id)]
	if s.track == 0 {
		*s = flowSlot{id: id, time: at.Time, track: uint32(at.Track) + 1}
		f.n++
		return
	}
	if s.more = true; f.rest == nil {
		f.rest = map[uint64][]recording.FlowStep{}
	}
	f.rest[id] = append(f.rest[id], at)
}

func (f *flows) grow() {
	old := f.slots
	f.slots = make([]flowSlot, max(64, 2*len(old)))
	for _, s := range old {
		if s.track != 0 {
			f.slots[f.place(s.id)] = s
		}
	}
}

// take takes a flow out, and returns its steps and the last one, if it has begun and there
// is one.
func (f *flows) take(id uint64, last ...recording.FlowStep) []recording.FlowStep {
	if f.n == 0 {
		return nil
	}
	i := f.place(id)
	s := f.slots[i]
	if s.track == 0 {
		return nil
	}
	f.free(i)
	if !s.more {
		return f.keep(s.step(), last...)
	}
	rest := append(f.rest[id], last...)
	delete(f.rest, id)
	return f.keep(s.step(), rest...)
}

// last is where a flow passed last, if it has begun.
func (f *flows) last(id uint64) (at recording.FlowStep, begun bool) {
	if f.n == 0 {
		return at, false
	}
	s := f.slots[f.place(id)]
	if s.more {
		rest := f.rest[id]
		return rest[len(rest)-1], true
	}
	return s.step(), s.track != 0
}

// free empties a slot: those behind it that it stood in the way of move up.
func (f *flows) free(i uint64) {
	f.n--
	mask := uint64(len(f.slots) - 1)
	for j := (i + 1) & mask; f.slots[j].track != 0; j = (j + 1) & mask {
		if home := f.home(f.slots[j].id); (j-home)&mask >= (j-i)&mask {
			f.slots[i] = f.slots[j]
			i = j
		}
	}
	f.slots[i] = flowSlot{}
}

// keep puts steps where they stay.
func (f *flows) keep(first recording.FlowStep, rest ...recording.FlowStep) []recording.FlowStep {
	n := 1 + len(rest)
	if n > cap(f.steps)-len(f.steps) {
		f.steps = make([]recording.FlowStep, 0, max(n, 1<<10))
	}
	from := len(f.steps)
	f.steps = append(append(f.steps, first), rest...)
	return f.steps[from:len(f.steps):len(f.steps)]
}

// open are the steps of each flow that has several and has not ended, by number.
func (f *flows) open(yield func([]recording.FlowStep) bool) {
	for _, id := range slices.Sorted(maps.Keys(f.rest)) {
		s := &f.slots[f.place(id)]
		if !yield(f.keep(s.step(), f.rest[id]...)) {
			return
		}
	}
}

// flow takes what a flow does on a track.
func (m *maker) flow(x *pass) {
	if int(x.group) >= len(m.places) || m.places[x.group].builder == nil {
		return // an event of the older kind, on a track if nothing happens
	}
	step := recording.FlowStep{Track: m.places[x.group].builder.Index(), Time: m.time(x.at)}
	switch x.how {
	case passes:
		m.flows.put(x.id, step)
	case ends:
		if steps := m.flows.take(x.id, step); steps != nil {
			m.addFlow(steps)
		}
	case arrives:
		if last, begun := m.flows.last(x.id); begun {
			m.addFlow(m.flows.keep(last, step))
		}
	case starts:
		if steps := m.flows.take(x.id); len(steps) > 1 {
			m.addFlow(steps)
		}
		m.flows.put(x.id, step)
	case goesOn:
		if _, begun := m.flows.last(x.id); begun {
			m.flows.put(x.id, step)
		}
	}
}

func (m *maker) addFlow(steps []recording.FlowStep) {
	m.b.AddFlow(recording.Flow{Name: "flow", Steps: steps})
}
