package perfetto

import (
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// What a packet and its event have, in packet.is.
const (
	byName      = 1 << iota // the event is named by number
	byCategory              // so are its categories
	hasTrack                // it says on which track it is
	hasArgs                 // it has annotations
	hasCategory             // it has a category
	several                 // two categories or three, whose numbers stand in one (see joinIDs)
	mixed                   // its categories are to be read again
	hasNumber               // value is what it says of its counter, a float64
	hasExtra                // value is what it says of a counter besides, a float64
	hasMore                 // it has something of moreEvent

	isTimed   // the packet has a time
	isCleared // its sequence begins anew
	isNeeding // it refers to packets before
	isDropped // packets before were lost

	ofEvent = isTimed - 1
)

// packet is one of the trace, as workers read it: what can be said without knowing those
// before. It fills a line of a processor's cache, since there are many. Texts and what few
// packets have are read again when their turn comes.
type packet struct {
	time uint64
	seq  uint32
	// clock is the number of the clock that the time is of, 0 for none.
	clock uint32

	// What the event is called and which category it has: numbers, or the places of texts
	// in the batch.
	nameID, categoryID uint64
	uuid               uint64 // of the event's track
	value              uint64 // see hasNumber and hasExtra

	at    uint32 // where in the batch the length of the body stands
	state uint32 // place in batch.states, plus 1; 0 for none
	kind  uint16 // the number of the field that is the body; 0 for none
	is    uint16
	event uint8 // the type of the event
}

// state holds what a packet says of its sequence, for those after it.
type state struct{ interned, defaults []byte }

// textAt says in a number where a text stands that ends before to.
func textAt(from, to int) uint64 { return uint64(from)<<32 | uint64(to-from) }

// Two or three numbers of categories stand in one where they are small.
const (
	idBits = 21
	mostID = 1<<idBits - 1
)

// joinIDs appends the number of a category to those of an event, and reports whether it
// has room.
func (p *packet) joinIDs(id uint64) bool {
	shift := idBits
	switch {
	case p.is&byCategory == 0 || id == 0 || id > mostID || p.categoryID == 0:
		return false
	case p.is&several == 0 && p.categoryID > mostID:
		return false
	case p.categoryID > mostID:
		if shift = 2 * idBits; p.categoryID>>shift != 0 {
			return false
		}
	}
	p.categoryID |= id << shift
	p.is |= several
	return true
}

// packet reads a packet, which begins at i and ends with b. Numbers of a byte or two are
// read here: a call would take as long.
func (w *worker) packet(b []byte, i int) {
	var p packet
	for i < len(b) {
		tag, j := uint64(b[i]), i+1
		if tag >= 0x80 {
			if tag, j = longVarint(b, i); j < 0 {
				break
			}
		}
		num, typ := tag>>3, tag&7
		if typ&^2 != 0 || num == 0 || num > mostNumber {
			other, v, n := anyField(b[i:])
			if n < 0 {
				break
			}
			w.field(&p, other, v, i)
			i += n
			continue
		}
		from, v := j, uint64(0)
		if j < len(b) && b[j] < 0x80 {
			v, j = uint64(b[j]), j+1
		} else if j+1 < len(b) && b[j+1] < 0x80 {
			v, j = uint64(b[j]&0x7f)|uint64(b[j+1])<<7, j+2
		} else if v, j = longVarint(b, j); j < 0 {
			break
		}
		if i = j; typ == 0 {
			switch num {
			case packetTime:
				p.time, p.is = v, p.is|isTimed
			case packetSequence:
				p.seq = uint32(v)
			case packetFlags:
				p.flag(v)
			case 3, 79: // who wrote it
			default:
				w.field(&p, protowire.Number(num), value{n: v}, from)
			}
			continue
		}
		if v > uint64(len(b)-j) {
			break
		}
		if i += int(v); num == packetEvent {
			p.kind, p.at, p.is = packetEvent, uint32(from), p.is&^ofEvent
			p.readEvent(b[:i], j)
		} else {
			w.field(&p, protowire.Number(num), value{b: b[j:i:i]}, from)
		}
	}
	if p.kind != 0 || p.state != 0 || p.is&(isCleared|isDropped) != 0 {
		w.batch.packets = append(w.batch.packets, p)
	}
}

func (p *packet) flag(v uint64) {
	if v&flagCleared != 0 {
		p.is |= isCleared
	}
	if v&flagNeeds != 0 {
		p.is |= isNeeding
	}
}

// field takes a field of a packet, of those that few have; where it has a length, this
// stands at from.
func (w *worker) field(p *packet, num protowire.Number, v value, from int) {
	switch num {
	case packetSequence:
		p.seq = uint32(v.n)
	case packetTime:
		p.time, p.is = v.n, p.is|isTimed
	case packetClock:
		p.clock = uint32(v.n)
	case packetFlags:
		p.flag(v.n)
	case packetCleared:
		p.flag(v.n & flagCleared)
	case packetDropped:
		if p.is &^= isDropped; v.n != 0 {
			p.is |= isDropped
		}
	case packetInterned:
		w.stateOf(p).interned = v.b
	case packetDefaults:
		w.stateOf(p).defaults = v.b
	case packetCompressed, packetZstd:
		if !w.within && v.b != nil { // nobody packs twice
			w.unpack(p, num, v.b)
		}
	default:
		if num < 900 && v.b != nil {
			p.kind, p.at = uint16(num), uint32(from)
		}
	}
}

func (w *worker) stateOf(p *packet) *state {
	if p.state == 0 {
		w.batch.states = append(w.batch.states, state{})
		p.state = uint32(len(w.batch.states))
	}
	return &w.batch.states[p.state-1]
}

// readEvent reads the event of a packet, which begins at i and ends with b.
func (p *packet) readEvent(b []byte, i int) {
	p.event, p.nameID = typeNone, 0
	for i < len(b) {
		tag, j := uint64(b[i]), i+1
		if tag >= 0x80 {
			if tag, j = longVarint(b, i); j < 0 {
				return
			}
		}
		num, typ := tag>>3, tag&7
		if typ&^2 != 0 || num == 0 || num > mostNumber {
			other, v, n := anyField(b[i:])
			if n < 0 {
				return
			}
			p.eventNumber(uint64(other), v.n)
			i += n
			continue
		}
		v := uint64(0)
		if j < len(b) && b[j] < 0x80 {
			v, j = uint64(b[j]), j+1
		} else if j+1 < len(b) && b[j+1] < 0x80 {
			v, j = uint64(b[j]&0x7f)|uint64(b[j+1])<<7, j+2
		} else if v, j = longVarint(b, j); j < 0 {
			return
		}
		if i = j; typ == 0 {
			p.eventNumber(num, v)
			continue
		}
		if v > uint64(len(b)-j) {
			return
		}
		i += int(v)
		p.eventBytes(num, j, i)
	}
}

// eventNumber takes a number of an event.
func (p *packet) eventNumber(num, v uint64) {
	switch num {
	case eventType:
		p.event = uint8(min(v, math.MaxUint8))
	case eventNameID:
		p.nameID, p.is = v, p.is|byName
	case eventTrack:
		p.uuid, p.is = v, p.is|hasTrack
	case eventExtra:
		p.holds(float64(int64(v)), hasExtra)
	case eventCategoryIDs:
		if p.is&hasCategory == 0 {
			p.categoryID, p.is = v, p.is|byCategory|hasCategory
		} else if !p.joinIDs(v) {
			p.is |= mixed
		}
	case eventAnnotation:
		p.is |= hasArgs
	case eventInteger:
		p.holds(float64(int64(v)), hasNumber)
	case eventDouble:
		p.holds(math.Float64frombits(v), hasNumber)
	default:
		p.more(num)
	}
}

// holds takes what an event says of a counter. There is room for one such.
func (p *packet) holds(v float64, is uint16) {
	if p.is&(hasNumber|hasExtra) != 0 {
		p.is |= hasMore
	}
	p.value, p.is = math.Float64bits(v), p.is|is
}

// eventBytes takes a field of an event that has a length.
func (p *packet) eventBytes(num uint64, from, to int) {
	switch num {
	case eventAnnotation:
		p.is |= hasArgs
	case eventName:
		p.nameID, p.is = textAt(from, to), p.is&^byName
	case eventCategories:
		if p.is&hasCategory == 0 {
			p.categoryID, p.is = textAt(from, to), p.is|hasCategory
		} else {
			p.is |= mixed
		}
	case eventCategoryIDs:
		p.is |= mixed | hasCategory
	case eventExtra:
		p.is |= hasMore
	default:
		p.more(num)
	}
}

// more notes what is read again.
func (p *packet) more(num uint64) {
	switch num {
	case eventCounters, eventDoubles, eventExtraDouble, eventFlows, eventFlowsOld, eventEnds, eventEndsOld, eventDelta, eventAbsolute, eventLegacy:
		p.is |= hasMore
	}
}
