package perfetto

import (
	"encoding/binary"
	"math"

	"google.golang.org/protobuf/encoding/protowire"

	"ashlar/ingest/format/decode"
)

// Flags of a packet and its event, in packet.is.
const (
	byName      = 1 << iota // the event is named by number
	byCategory              // the event's categories are given by number, too
	hasTrack                // the event names its track
	hasArgs                 // the event has annotations
	hasCategory             // the event has a category
	several                 // two or three categories, joined into one number (see joinIDs)
	mixed                   // the event's categories must be read again
	hasNumber               // value is the event's counter value, a float64
	hasExtra                // value is the event's extra counter value, a float64
	hasMore                 // the event has fields of moreEvent

	isTimed   // the packet has a time
	isCleared // the packet's sequence restarts
	isNeeding // the packet refers to earlier packets
	isDropped // earlier packets were lost

	ofEvent = isTimed - 1
)

// packet is a packet as parsed by a worker, without knowing earlier packets. There are
// many packets, so a packet is no larger than a cache line. Texts and rare fields are
// read again later.
type packet struct {
	time uint64
	seq  uint32
	// clock is the number of the time's clock, 0 for none.
	clock uint32

	// The name and category of the event: numbers, or positions of texts in the batch.
	nameID, categoryID uint64
	uuid               uint64 // number of the event's track
	value              uint64 // see hasNumber and hasExtra

	at    uint32 // position, in the batch, of the body's length
	state uint32 // index in batch.states plus 1; 0 for none
	kind  uint16 // field number of the body; 0 for none
	is    uint16
	event uint8 // the type of the event
	// Numbers of flows that pass the event, and that end at it. These flows are the next
	// ones in batch.flows and batch.ends.
	flowCount, endCount uint8
}

// state holds the parts of a packet that apply to later packets of its sequence.
type state struct{ interned, defaults []byte }

// textAt encodes the position of a text, which ends before to.
func textAt(from, to int) uint64 { return uint64(from)<<32 | uint64(to-from) }

// Two or three category numbers are joined into one if they are small.
const (
	idBits = 21
	mostID = 1<<idBits - 1
)

// joinIDs adds the number of another category to an event; it returns false if it does
// not fit.
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

// tail is the part of a packet after its event, which identifies the writer. It is
// usually the same in many consecutive packets, so it is parsed only once for them.
type tail struct {
	size   int
	lo, hi uint64 // the bytes of the tail; ofLo and ofHi are their masks
	ofLo   uint64
	ofHi   uint64
	seq    uint32
	hasSeq bool
	is     uint16
}

// mostTail is the maximum size of a tail that can be recognized.
const mostTail = 16

// stands reports whether the bytes from i to end are this tail.
func (t *tail) stands(b []byte, i, end int) bool {
	return end-i == t.size && i+mostTail <= len(b) &&
		binary.LittleEndian.Uint64(b[i:])&t.ofLo == t.lo && binary.LittleEndian.Uint64(b[i+8:])&t.ofHi == t.hi
}

// read parses the bytes from i to end as the new tail. It returns false if stands could
// not recognize that tail later.
func (t *tail) read(b []byte, i, end int) bool {
	size := end - i
	if size <= 0 || size > mostTail || i+mostTail > len(b) {
		return false
	}
	is := tail{size: size}
	for at := i; at < end; {
		num, v, _, next := fieldAt(b[:end], at)
		if next < 0 || v.b != nil {
			return false
		}
		switch at = next; num {
		case packetSequence:
			is.seq, is.hasSeq = uint32(v.n), true
		case packetFlags:
			is.is |= flagsOf(v.n)
		case packetUser, packetPID:
		default:
			return false
		}
	}
	is.ofLo, is.ofHi = 1<<(8*min(size, 8))-1, 1<<(8*max(size-8, 0))-1
	is.lo, is.hi = binary.LittleEndian.Uint64(b[i:])&is.ofLo, binary.LittleEndian.Uint64(b[i+8:])&is.ofHi
	*t = is
	return true
}

// packet parses a packet, which begins at i and ends before end. It reads common fields
// itself, from eight bytes of b at a time, and others by fieldAt.
func (w *worker) packet(b []byte, i, end int) {
	list := append(w.batch.packets, packet{})
	w.batch.packets = list
	p := &list[len(list)-1]
	for i < end {
		if i <= len(b)-8 {
			x := binary.LittleEndian.Uint64(b[i:])
			v, next := uint64(0), 0
			switch byte(x) {
			case packetTime << 3:
				if v, next = decode.Varint(x >> 8); next < 8 && i+1+next <= end {
					p.time, p.is = v, p.is|isTimed
					i += 1 + next
					continue
				}
			case packetFlags << 3:
				if v = x >> 8 & 0xff; v < 0x80 && i+2 <= end {
					p.is |= flagsOf(v)
					i += 2
					continue
				}
			case packetEvent<<3 | lengthType:
				if v, next = decode.Varint(x >> 8); next < 8 && v <= uint64(end-(i+1+next)) && i+1+next <= end {
					p.kind, p.at = packetEvent, uint32(i+1)
					i += 1 + next
					w.readEvent(p, b, i, i+int(v))
					if i += int(v); w.tail.stands(b, i, end) || w.tail.read(b, i, end) {
						if p.is |= w.tail.is; w.tail.hasSeq {
							p.seq = w.tail.seq
						}
						i = end
					}
					continue
				}
			case packetSequence << 3:
				if v, next = decode.Varint(x >> 8); next < 8 && i+1+next <= end {
					p.seq = uint32(v)
					i += 1 + next
					continue
				}
			}
		}
		num, v, from, next := fieldAt(b[:end], i)
		if next < 0 {
			break
		}
		i = next
		if num == packetEvent && v.b != nil {
			p.kind, p.at = packetEvent, uint32(from)
			w.readEvent(p, b, i-len(v.b), i)
		} else {
			p = w.field(p, num, v, from)
		}
	}
	if p.kind == 0 && p.state == 0 && p.is&(isCleared|isDropped) == 0 {
		w.batch.packets = w.batch.packets[:len(w.batch.packets)-1]
	}
}

// flagsOf converts the flags of a packet to those of packet.is.
func flagsOf(v uint64) (is uint16) {
	if v&flagCleared != 0 {
		is |= isCleared
	}
	if v&flagNeeds != 0 {
		is |= isNeeding
	}
	return is
}

// field processes one of a packet's less common fields; the length of its value, if it
// has one, is at from. It returns the packet, which has moved if other packets were
// compressed in it.
func (w *worker) field(p *packet, num protowire.Number, v value, from int) *packet {
	switch num {
	case packetSequence:
		p.seq = uint32(v.n)
	case packetTime:
		p.time, p.is = v.n, p.is|isTimed
	case packetClock:
		p.clock = uint32(v.n)
	case packetFlags:
		p.is |= flagsOf(v.n)
	case packetCleared:
		p.is |= flagsOf(v.n & flagCleared)
	case packetDropped:
		if p.is &^= isDropped; v.n != 0 {
			p.is |= isDropped
		}
	case packetInterned:
		w.stateOf(p).interned = v.b
	case packetDefaults:
		w.stateOf(p).defaults = v.b
	case packetCompressed, packetZstd:
		if !w.within && v.b != nil { // no writer compresses twice
			return w.unpack(p, num, v.b)
		}
	default:
		if num < 900 && v.b != nil {
			p.kind, p.at = uint16(num), uint32(from)
		}
	}
	return p
}

func (w *worker) stateOf(p *packet) *state {
	if p.state == 0 {
		w.batch.states = append(w.batch.states, state{})
		p.state = uint32(len(w.batch.states))
	}
	return &w.batch.states[p.state-1]
}

// readEvent parses the event of a packet in the same way as packet. The event begins at i
// and ends before end.
func (w *worker) readEvent(p *packet, b []byte, i, end int) {
	p.is &^= ofEvent
	p.event, p.nameID = typeNone, 0
	w.dropFlows(p)
	for i < end {
		if i <= len(b)-8 {
			x := binary.LittleEndian.Uint64(b[i:])
			v, next := uint64(0), 0
			switch byte(x) {
			case eventType << 3:
				if v = x >> 8 & 0xff; v < 0x80 && i+2 <= end {
					p.event = uint8(v)
					i += 2
					continue
				}
			case eventNameID << 3:
				if v, next = decode.Varint(x >> 8); next < 8 && i+1+next <= end {
					p.nameID, p.is = v, p.is|byName
					i += 1 + next
					continue
				}
			case eventCategoryIDs << 3:
				if v = x >> 8 & 0xff; v < 0x80 && i+2 <= end && p.is&hasCategory == 0 {
					p.categoryID, p.is = v, p.is|byCategory|hasCategory
					i += 2
					continue
				}
			case eventAnnotation<<3 | lengthType:
				if v, next = decode.Varint(x >> 8); next < 8 && i+1+next <= end && v <= uint64(end-(i+1+next)) {
					p.is |= hasArgs
					i += 1 + next + int(v)
					continue
				}
			case eventExtra << 3:
				if v, next = decode.Varint(x >> 8); next < 8 && i+1+next <= end {
					p.holds(float64(int64(v)), hasExtra)
					i += 1 + next
					continue
				}
			}
		}
		num, v, _, next := fieldAt(b[:end], i)
		if next < 0 {
			return
		}
		if i = next; v.b != nil {
			p.eventBytes(num, i-len(v.b), i)
		} else {
			w.eventNumber(p, num, v.n)
		}
	}
}

// flow adds to a packet a flow that passes its event or ends at it. If there is no room
// for another, it sets hasMore.
func (w *worker) flow(p *packet, id uint64, ends bool) {
	list, n := &w.batch.flows, &p.flowCount
	if ends {
		list, n = &w.batch.ends, &p.endCount
	}
	if *n == math.MaxUint8 {
		p.is |= hasMore
		return
	}
	*n++
	*list = append(*list, id)
}

// dropFlows removes the flows of a packet and reports whether it had any.
func (w *worker) dropFlows(p *packet) bool {
	if p.flowCount|p.endCount == 0 {
		return false
	}
	w.batch.flows = w.batch.flows[:len(w.batch.flows)-int(p.flowCount)]
	w.batch.ends = w.batch.ends[:len(w.batch.ends)-int(p.endCount)]
	p.flowCount, p.endCount = 0, 0
	return true
}

// eventNumber processes a numeric field of an event.
func (w *worker) eventNumber(p *packet, num protowire.Number, v uint64) {
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
	case eventFlows, eventFlowsOld:
		w.flow(p, v, false)
	case eventEnds, eventEndsOld:
		w.flow(p, v, true)
	default:
		p.more(num)
	}
}

// holds sets the counter value of an event. There is room for only one.
func (p *packet) holds(v float64, is uint16) {
	if p.is&(hasNumber|hasExtra) != 0 {
		p.is |= hasMore
	}
	p.value, p.is = math.Float64bits(v), p.is|is
}

// eventBytes processes a length-delimited field of an event.
func (p *packet) eventBytes(num protowire.Number, from, to int) {
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

// more marks fields that must be read again.
func (p *packet) more(num protowire.Number) {
	switch num {
	case eventCounters, eventDoubles, eventExtraDouble, eventFlows, eventFlowsOld, eventEnds, eventEndsOld, eventDelta, eventAbsolute, eventLegacy, eventStack, eventStackID, eventWeight:
		p.is |= hasMore
	}
}
