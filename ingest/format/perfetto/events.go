package perfetto

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// Fields of a track event.
const (
	eventDelta       = 1
	eventThreadDelta = 2
	eventCategoryIDs = 3
	eventAnnotation  = 4
	eventLegacy      = 6
	eventType        = 9
	eventNameID      = 10
	eventTrack       = 11
	eventExtra       = 12
	eventAbsolute    = 16
	eventCategories  = 22
	eventName        = 23
	eventInteger     = 30
	eventCounters    = 31
	eventFlowsOld    = 36
	eventEndsOld     = 42
	eventDouble      = 44
	eventDoubles     = 45
	eventExtraDouble = 46
	eventFlows       = 47
	eventEnds        = 48
	eventStack       = 55
	eventStackID     = 56
	eventWeight      = 57
)

// Types of track events.
const (
	typeNone = iota
	typeBegin
	typeEnd
	typeInstant
	typeCounter
)

// trackEvent is the current event. Its texts are valid until the next one.
type trackEvent struct {
	*packet
	spelled        bool   // name and category are set
	name, category []byte // set by spell
	moreEvent
	texts [2][]byte // buffers for a name and a category
}

// moreEvent holds fields that few track events have.
type moreEvent struct {
	number            float64
	extra             []float64
	counters, doubles []uint64
	extraDoubles      []float64
	flows, ends       []uint64
	delta, absolute   int64
	timed             int // 1 for a delta, 2 for an absolute time
	legacy            []byte
	stack             []byte // stack written out inline
	stackID           uint64 // number of an interned stack
	weight            float64
	weighed           bool
}

// readMore reads the fields that do not fit in a packet.
func (e *trackEvent) readMore(b []byte) {
	m := &e.moreEvent
	*m = moreEvent{extra: m.extra[:0], counters: m.counters[:0], doubles: m.doubles[:0], extraDoubles: m.extraDoubles[:0], flows: m.flows[:0], ends: m.ends[:0]}
	for len(b) > 0 {
		num, v, n := field(b)
		if n < 0 {
			return
		}
		b = b[n:]
		m.field(num, v)
	}
}

func (e *moreEvent) field(num protowire.Number, v value) {
	switch num {
	case eventInteger:
		e.number = float64(int64(v.n))
	case eventDouble:
		e.number = math.Float64frombits(v.n)
	case eventCounters:
		e.counters = v.numbers(e.counters)
	case eventExtra:
		for _, n := range v.numbers(nil) {
			e.extra = append(e.extra, float64(int64(n)))
		}
	case eventDoubles:
		e.doubles = v.numbers(e.doubles)
	case eventExtraDouble:
		e.extraDoubles = v.floats(e.extraDoubles)
	case eventFlows, eventFlowsOld:
		e.flows = v.fixed(e.flows, num == eventFlows)
	case eventEnds, eventEndsOld:
		e.ends = v.fixed(e.ends, num == eventEnds)
	case eventDelta:
		e.delta, e.timed = int64(v.n), 1
	case eventAbsolute:
		e.absolute, e.timed = int64(v.n), 2
	case eventLegacy:
		e.legacy = v.b
	case eventStack:
		e.stack = v.b
	case eventStackID:
		e.stackID = v.n
	case eventWeight:
		e.weight, e.weighed = math.Float64frombits(v.n), true
	}
}

// spell sets the name and category of an event as texts.
func (r *reader) spell(s *sequence, e *trackEvent) {
	if e.spelled {
		return
	}
	e.spelled, e.name, e.category = true, nil, nil
	if e.is&byName != 0 {
		e.name = append(e.texts[0][:0], s.texts[internName].get(e.nameID)...)
		e.texts[0] = e.name
	} else if e.nameID != 0 {
		e.name = r.batch.text(e.nameID)
	}
	switch {
	case e.is&mixed != 0:
		e.category = s.joinCategories(e.texts[1][:0], r.batch.body(e.packet))
	case e.is&byCategory != 0:
		id, rest := e.categoryID, uint64(0)
		if e.is&several != 0 {
			id, rest = id&mostID, id>>idBits
		}
		e.category = append(e.texts[1][:0], s.texts[internCategory].get(id)...)
		for ; rest != 0; rest >>= idBits {
			e.category = append(append(e.category, ','), s.texts[internCategory].get(rest&mostID)...)
		}
	case e.is&hasCategory != 0:
		e.category = r.batch.text(e.categoryID)
		return
	default:
		return
	}
	e.texts[1] = e.category
}

// joinCategories appends the texts of all categories of an event.
func (s *sequence) joinCategories(to, event []byte) []byte {
	any := false
	add := func(text string) {
		if any {
			to = append(to, ',')
		}
		to, any = append(to, text...), true
	}
	for num, v := range each(event) {
		switch num {
		case eventCategories:
			add(v.text())
		case eventCategoryIDs:
			for _, id := range v.numbers(nil) {
				add(s.texts[internCategory].get(id))
			}
		}
	}
	return to
}

// notPlain are the flags that a plain event's packet must not have.
const notPlain = mixed | hasNumber | hasMore | isCleared | isDropped

// plain handles the common case: an event that begins or ends a span on a known track
// with a known name, and has at most a counter value. It returns false for other events,
// which trackEvent handles.
func (r *reader) plain(s *sequence, p *packet) bool {
	if p.is&notPlain != 0 || p.event-typeBegin > typeEnd-typeBegin || p.kind != packetEvent || p.state != 0 || p.is&isNeeding != 0 && !s.valid {
		return false
	}
	t, uuid := s.on, s.track
	if p.is&hasTrack != 0 {
		uuid = p.uuid
	} else if !s.hasTrack {
		return false
	}
	if t == nil || t.uuid != uuid || len(t.tail) == cap(t.tail) || t.ending != nil || t.name == "" && !t.thread && !t.process {
		return false
	}
	label := uint32(0)
	if p.is&(hasCategory|byName) != 0 || p.nameID != 0 {
		category, numbered := p.numbers()
		if !numbered || p.nameID >= uint64(len(s.named)) {
			return false
		}
		n := &s.named[p.nameID]
		if n.version != s.version || n.category != category {
			return false
		}
		label = n.label
	}
	e := event{at: r.clocks.time(s, p), label: label, kind: p.event - typeBegin + begin}
	if p.is&hasExtra != 0 {
		r.countExtra(s, e.at, math.Float64frombits(p.value))
	}
	if p.is&hasArgs != 0 {
		e.args = r.args.add(s, r.batch, p)
	}
	r.next.packets.read++
	r.next.slices.read++
	r.put(t, e)
	if p.flowCount|p.endCount != 0 {
		r.flowsOf(e.at, t, r.flows[:p.flowCount], r.ends[:p.endCount])
	}
	return true
}

// trackEvent handles any event of a sequence.
func (r *reader) trackEvent(s *sequence, p *packet) {
	e := &r.said
	e.packet, e.spelled = p, false
	r.next.slices.read++
	at := r.clocks.time(s, p)
	var l legacy
	if p.is&hasMore != 0 {
		e.readMore(r.batch.body(p))
		if e.legacy != nil {
			l = r.readLegacy(s, e)
		}
		if e.timed != 0 && p.is&isTimed == 0 {
			if e.timed == 1 {
				s.time += e.delta
				at = s.time * 1000
			} else {
				at = e.absolute * 1000
			}
		}
	}
	t := r.trackOf(s, e, &l)
	if p.is&(hasMore|hasExtra) != 0 {
		r.counters(s, e, at)
	}
	if p.is&hasMore != 0 && (e.stack != nil || e.stackID != 0) {
		r.eventStack(s, e, t, at)
	}
	ev := event{at: at}
	switch p.event {
	case typeBegin:
		ev.kind = begin
	case typeEnd:
		ev.kind = end
	case typeInstant:
		ev.kind = instant
	case typeCounter:
		r.count(t, at, s.valueOf(t, e.counted()))
		return
	default:
		var until int64
		ok := l.any
		if l.phase == 'P' && r.profile(s, e, &l, t, at) || l.hasID && r.oldFlow(e, &l, t, at) {
			return
		}
		if ok {
			t, until, ok = l.read(r, e, &ev, t)
		}
		if !ok {
			r.next.slices.left++
			if l.phase != 0 {
				r.note("no-picture", "", true, "Legacy events that cannot be shown, such as object lifetimes, are left out; the first has phase %q", l.phase)
			} else {
				r.note("event-unknown", "", true, "Track events other than slices, instants and counters are left out")
			}
			return
		}
		if r.finish(s, e, t, &ev); ev.kind == whole {
			r.put(t, event{at: at, args: uint64(until), kind: wholeEnd})
		}
		return
	}
	r.finish(s, e, t, &ev)
}

// counted returns the counter value of an event.
func (e *trackEvent) counted() float64 {
	switch {
	case e.is&hasMore != 0:
		return e.number
	case e.is&hasNumber != 0:
		return math.Float64frombits(e.value)
	}
	return 0
}

// finish sets an event's label, arguments and flows and queues it.
func (r *reader) finish(s *sequence, e *trackEvent, t *track, ev *event) {
	ev.label = r.labelOf(s, e)
	if ev.kind == instant || t.name == "" && !t.thread && !t.process {
		r.show(s, e, ev.label)
	}
	if e.is&hasArgs != 0 {
		ev.args = r.args.add(s, r.batch, e.packet)
	}
	r.put(t, *ev)
	if len(t.ending) > 0 && (ev.kind == begin || ev.kind == whole) {
		r.flowsOf(ev.at, t, nil, t.ending)
		t.ending = nil
	}
	flows, ends := r.flows[:e.flowCount], r.ends[:e.endCount]
	if e.is&hasMore != 0 {
		flows, ends = e.flows, e.ends
	}
	r.flowsOf(ev.at, t, flows, ends)
}

// flowsOf queues flows that pass a track or end on it.
func (r *reader) flowsOf(at int64, t *track, passing, ending []uint64) {
	for _, id := range passing {
		r.passes = append(r.passes, pass{at: at, id: id, group: t.group})
	}
	for _, id := range ending {
		r.passes = append(r.passes, pass{at: at, id: id, group: t.group, how: ends})
	}
	r.waiting += len(passing) + len(ending)
}

// count queues a value of a counter.
func (r *reader) count(t *track, at int64, v float64) {
	r.put(t, event{at: at, args: math.Float64bits(v), kind: count})
}

// trackOf returns the track of an event.
func (r *reader) trackOf(s *sequence, e *trackEvent, l *legacy) *track {
	if l.any {
		old := e.event == typeNone && (e.is&hasTrack == 0 || e.uuid == 0)
		if l.hasPID || l.hasTID || old {
			return r.oldTrack(s, l, old)
		}
	}
	switch {
	case e.is&hasTrack != 0:
		return r.trackIn(s, e.uuid)
	case s.hasTrack:
		return r.trackIn(s, s.track)
	case s.hasThread:
		return r.threadTrack(s.pid, s.tid)
	case s.own != nil:
		return s.own
	}
	return r.track(0)
}

// trackIn returns the track with a number, which is usually the track of the previous
// event.
func (r *reader) trackIn(s *sequence, uuid uint64) *track {
	if s.on == nil || s.on.uuid != uuid {
		s.on = r.track(uuid)
	}
	return s.on
}

// valueOf converts a counter's value to an absolute value in its unit.
func (s *sequence) valueOf(t *track, v float64) float64 {
	c := t.counter
	if c == nil {
		return v
	}
	v *= c.factor
	if !c.incremental {
		return v
	}
	if c.of != s {
		if c.of != nil {
			if c.others == nil {
				c.others = map[*sequence]summing{}
			}
			c.others[c.of] = c.summing
		}
		c.of, c.summing = s, c.others[s]
	}
	if c.generation != s.generation {
		c.summing = summing{generation: s.generation}
	}
	c.sum += v
	return c.sum
}

// counters queues the extra counter values of an event.
func (r *reader) counters(s *sequence, e *trackEvent, at int64) {
	if e.is&hasMore == 0 {
		r.countExtra(s, at, math.Float64frombits(e.value))
		return
	}
	if len(e.extra) > 0 {
		for i, t := range r.counterTracks(e.counters, s.counters, &s.counterTracks) {
			if i < len(e.extra) {
				r.count(t, at, s.valueOf(t, e.extra[i]))
			}
		}
	}
	if len(e.extraDoubles) > 0 {
		for i, t := range r.counterTracks(e.doubles, s.doubles, &s.doubleTracks) {
			if i < len(e.extraDoubles) {
				r.count(t, at, s.valueOf(t, e.extraDoubles[i]))
			}
		}
	}
}

// countExtra queues a value for the first of the sequence's default counters.
func (r *reader) countExtra(s *sequence, at int64, v float64) {
	if all := r.counterTracks(nil, s.counters, &s.counterTracks); len(all) > 0 {
		r.count(all[0], at, s.valueOf(all[0], v))
	}
}

// counterTracks returns the counter tracks that an event names or, if it names none, the
// default ones of its sequence, which are looked up once.
func (r *reader) counterTracks(own, usual []uint64, known *[]*track) []*track {
	if len(own) == 0 {
		if *known != nil {
			return *known
		}
		own = usual
	}
	var list []*track
	for _, uuid := range own {
		list = append(list, r.track(uuid))
	}
	if len(usual) > 0 && &own[0] == &usual[0] {
		*known = list
	}
	return list
}
