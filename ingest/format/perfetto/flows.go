package perfetto

import (
	"maps"
	"slices"

	"ashlar/ingest/model/column"
	"ashlar/ingest/model/recording"
)

// A pass is a step of a flow on a track at a time.
type pass struct {
	at    int64
	id    uint64
	group uint32 // group of the track
	how   uint8
}

// What a flow does on a track.
const (
	passes = iota
	ends
	arrives // an arrow from the flow's last step ends here; the flow goes on
	starts  // a new flow begins; an earlier one with the same id ends
	goesOn  // the flow continues, if it has begun
)

// flows is a hash table with open addressing of the flows that have begun. A trace may
// have millions that never end, so its slots hold no pointers. Nearly all flows pass one
// track and end on the next; further steps are stored separately.
type flows struct {
	slots []flowSlot
	n     int
	rest  map[uint64][]recording.FlowStep
	steps []recording.FlowStep // buffer for the steps of added flows
}

// flowSlot holds the first step of a flow.
type flowSlot struct {
	id    uint64
	time  int64
	track uint32 // index plus 1; 0 if the slot is free
	more  bool   // further steps are in flows.rest
}

func (f *flowSlot) step() recording.FlowStep {
	return recording.FlowStep{Track: int(f.track) - 1, Time: f.time}
}

// place returns the slot of a flow or, if absent, the free slot for it.
func (f *flows) place(id uint64) uint64 {
	mask := uint64(len(f.slots) - 1)
	i := f.home(id)
	for f.slots[i].track != 0 && f.slots[i].id != id {
		i = (i + 1) & mask
	}
	return i
}

// home returns the slot where the search for a flow begins.
func (f *flows) home(id uint64) uint64 {
	id ^= id >> 32
	id *= 0x9E3779B97F4A7C15
	return (id ^ id>>29) & uint64(len(f.slots)-1)
}

// put adds a step to a flow, or begins the flow with it.
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
	f.slots = column.Fresh[flowSlot](max(64, 2*len(old)))
	for _, s := range old {
		if s.track != 0 {
			f.slots[f.place(s.id)] = s
		}
	}
}

// take removes a flow and returns its steps followed by last; nil if the flow has not
// begun.
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

// last returns the last step of a flow that has begun.
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

// free empties a slot and moves up the slots displaced by it.
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

// keep copies steps to permanent storage.
func (f *flows) keep(first recording.FlowStep, rest ...recording.FlowStep) []recording.FlowStep {
	n := 1 + len(rest)
	if n > cap(f.steps)-len(f.steps) {
		f.steps = make([]recording.FlowStep, 0, max(n, 1<<10))
	}
	from := len(f.steps)
	f.steps = append(append(f.steps, first), rest...)
	return f.steps[from:len(f.steps):len(f.steps)]
}

// open iterates over the steps of each unfinished flow with several steps, by number.
func (f *flows) open(yield func([]recording.FlowStep) bool) {
	for _, id := range slices.Sorted(maps.Keys(f.rest)) {
		s := &f.slots[f.place(id)]
		if !yield(f.keep(s.step(), f.rest[id]...)) {
			return
		}
	}
}

// flow processes a step of a flow.
func (m *maker) flow(x *pass) {
	if int(x.group) >= len(m.places) || m.places[x.group].builder == nil {
		return // a legacy event, on a track without events
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
