package perfetto

import (
	"math"
	"slices"

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
)

// Types of track events.
const (
	typeNone = iota
	typeBegin
	typeEnd
	typeInstant
	typeCounter
)

// What a track event has, in trackEvent.is.
const (
	byName      = 1 << iota // it is named by number
	byCategory              // so is its category
	hasTrack                // it says on which track it is
	hasArgs                 // it has annotations
	hasMore                 // it has something of moreEvent
	hasCategory             // one of its categories was read
)

// trackEvent is one as it stands in a packet. Texts hold until the next one.
type trackEvent struct {
	kind               uint64
	is                 uint8
	nameID, categoryID uint64
	uuid               uint64
	name, category     []byte // unless named by number
	number             float64
	moreEvent
	texts [2][]byte // room for a name and a category
}

// moreEvent is what few track events have.
type moreEvent struct {
	extra             []float64
	counters, doubles []uint64
	extraDoubles      []float64
	flows, ends       []uint64
	delta, absolute   int64
	timed             int // 1 for a delta, 2 for an absolute time
	legacy            []byte
}

// readEvent reads an event, which holds until the next one.
func (r *reader) readEvent(s *sequence, b []byte) *trackEvent {
	e := &r.said
	if e.is&hasMore != 0 {
		m := &e.moreEvent
		*m = moreEvent{extra: m.extra[:0], counters: m.counters[:0], doubles: m.doubles[:0], extraDoubles: m.extraDoubles[:0], flows: m.flows[:0], ends: m.ends[:0]}
	}
	e.kind, e.is, e.name, e.category, e.number = typeNone, 0, nil, nil, 0
	for i := 0; i < len(b); {
		// Numbers of a byte or two are read here: a call would take as long.
		tag, j := uint64(b[i]), i+1
		if tag >= 0x80 {
			if tag, j = longVarint(b, i); j < 0 {
				return e
			}
		}
		num, typ := tag>>3, tag&7
		if typ&^2 != 0 || num == 0 || num > mostNumber {
			other, v, n := anyField(b[i:])
			if n < 0 {
				return e
			}
			s.field(e, other, v)
			i += n
			continue
		}
		v := uint64(0)
		if j < len(b) && b[j] < 0x80 {
			v, j = uint64(b[j]), j+1
		} else if j+1 < len(b) && b[j+1] < 0x80 {
			v, j = uint64(b[j]&0x7f)|uint64(b[j+1])<<7, j+2
		} else if v, j = longVarint(b, j); j < 0 {
			return e
		}
		if i = j; typ == 0 {
			s.number(e, num, v)
			continue
		}
		if v > uint64(len(b)-j) {
			return e
		}
		i += int(v)
		switch {
		case num == eventAnnotation:
			e.is |= hasArgs
		case num == eventName:
			e.name, e.is = b[j:i:i], e.is&^byName
		case num == eventCategories && e.is&hasCategory == 0:
			e.category, e.is = b[j:i:i], e.is|hasCategory
		default:
			s.field(e, protowire.Number(num), value{b: b[j:i:i]})
		}
	}
	return e
}

// number takes a number of an event.
func (s *sequence) number(e *trackEvent, num, v uint64) {
	switch num {
	case eventType:
		e.kind = v
	case eventNameID:
		e.nameID, e.is = v, e.is|byName
	case eventTrack:
		e.uuid, e.is = v, e.is|hasTrack
	case eventCategoryIDs:
		if e.is&hasCategory == 0 {
			e.categoryID, e.is = v, e.is|byCategory|hasCategory
		} else {
			e.category = s.appendCategory(e, v)
		}
	default:
		s.field(e, protowire.Number(num), value{n: v})
	}
}

// appendCategory is the category of an event that has several, each a number.
func (s *sequence) appendCategory(e *trackEvent, id uint64) []byte {
	return s.joinCategory(e, s.texts[internCategory].get(id))
}

func (s *sequence) joinCategory(e *trackEvent, text string) []byte {
	before := e.category
	if e.is&byCategory != 0 {
		before, e.is = []byte(s.texts[internCategory].get(e.categoryID)), e.is&^byCategory
	}
	if e.is&hasCategory == 0 {
		e.is |= hasCategory
		return append(e.texts[1][:0], text...)
	}
	return append(append(slices.Clip(before), ','), text...)
}

// field takes one of an event, of those that few have.
func (s *sequence) field(e *trackEvent, num protowire.Number, v value) {
	switch num {
	case eventType:
		e.kind = v.n
	case eventCategories:
		if e.is&hasCategory == 0 {
			e.category, e.is = v.b, e.is|hasCategory
			return
		}
		e.category = s.joinCategory(e, v.text())
	case eventCategoryIDs:
		for _, n := range v.numbers(nil) {
			e.category = s.appendCategory(e, n)
		}
	case eventName:
		e.name, e.is = v.b, e.is&^byName
	case eventNameID:
		e.nameID, e.is = v.n, e.is|byName
	case eventTrack:
		e.uuid, e.is = v.n, e.is|hasTrack
	case eventAnnotation:
		e.is |= hasArgs
	case eventInteger:
		e.number = float64(int64(v.n))
	case eventDouble:
		e.number = math.Float64frombits(v.n)
	default:
		e.moreField(num, v)
	}
}

func (e *trackEvent) moreField(num protowire.Number, v value) {
	switch num {
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
	default:
		return
	}
	e.is |= hasMore
}

// trackEvent takes an event of a sequence.
func (r *reader) trackEvent(s *sequence, p *packet) {
	e := r.readEvent(s, p.body)
	r.next.slices.read++
	at := r.clocks.time(s, p)
	var l legacy
	if e.is&hasMore != 0 {
		if e.legacy != nil {
			l = s.readLegacy(e)
		}
		if e.timed != 0 && !p.timed {
			if e.timed == 1 {
				s.time += e.delta
				at = s.time * 1000
			} else {
				at = e.absolute * 1000
			}
		}
	}
	t := r.trackOf(s, e, &l)
	if e.is&hasMore != 0 {
		r.counters(s, e, at)
	}
	ev := event{at: at}
	switch e.kind {
	case typeBegin:
		ev.kind = begin
	case typeEnd:
		ev.kind = end
	case typeInstant:
		ev.kind = instant
	case typeCounter:
		r.count(t, at, s.valueOf(t, e.number))
		return
	default:
		var until int64
		ok := l.any
		if ok {
			t, until, ok = l.read(r, e, &ev, t)
		}
		if !ok {
			r.next.slices.left++
			r.note("event-unknown", "", true, "Track events of a type that is none of slice, instant and counter are left out")
			return
		}
		if r.finish(s, e, p, t, &ev); ev.kind == whole {
			r.put(t, event{at: at, args: uint64(until), kind: wholeEnd})
		}
		return
	}
	r.finish(s, e, p, t, &ev)
}

// finish gives an event its label, its arguments and its flows, and has it wait for its
// turn.
func (r *reader) finish(s *sequence, e *trackEvent, p *packet, t *track, ev *event) {
	ev.label = r.labelOf(s, e)
	if ev.kind == instant || t.name == "" && !t.thread && !t.process {
		r.show(s, e, ev.label)
	}
	if e.is&hasArgs != 0 {
		ev.args = r.args.add(s, p)
	}
	r.put(t, *ev)
	if e.is&hasMore != 0 {
		for _, id := range e.flows {
			r.putWide(wide{at: ev.at, value: int64(id), kind: flowPasses, group: t.group})
		}
		for _, id := range e.ends {
			r.putWide(wide{at: ev.at, value: int64(id), kind: flowEnds, group: t.group})
		}
	}
}

// count has a value of a counter wait for its turn.
func (r *reader) count(t *track, at int64, v float64) {
	r.put(t, event{at: at, args: math.Float64bits(v), kind: count})
}

// trackOf is the track that an event lies on.
func (r *reader) trackOf(s *sequence, e *trackEvent, l *legacy) *track {
	if l.any {
		old := e.kind == typeNone && (e.is&hasTrack == 0 || e.uuid == 0)
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

// trackIn is a track by its number, which is mostly that of the event before.
func (r *reader) trackIn(s *sequence, uuid uint64) *track {
	if s.on == nil || s.on.uuid != uuid {
		s.on = r.track(uuid)
	}
	return s.on
}

// valueOf works out what a counter has come to.
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

// counters takes what an event says of counters besides.
func (r *reader) counters(s *sequence, e *trackEvent, at int64) {
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

// counterTracks are those that an event names, or else those that all events of its
// sequence are of, which are looked up once.
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
