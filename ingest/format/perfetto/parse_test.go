package perfetto

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"google.golang.org/protobuf/encoding/protowire"
)

// TestCategories checks that an event keeps all its categories, given as small or large
// numbers, as texts, or packed. Several small numbers are joined into one (see joinIDs).
func TestCategories(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	ids := []uint64{1, 2, 3, mostID, mostID + 1, 1 << 40}
	var interned []byte
	for i, id := range ids {
		interned = msg(interned, internCategory, msg(num(nil, 1, id), 2, []byte{'a' + byte(i)}))
	}
	interned = msg(interned, internName, msg(num(nil, 1, 7), 2, []byte("e")))
	trace := msg(nil, 1, msg(num(num(nil, packetSequence, 1), packetFlags, flagCleared), packetInterned, interned))
	var want []string
	for at := range uint64(300) {
		e := num(num(num(nil, eventType, typeBegin), eventTrack, 5), eventNameID, 7)
		var has []string
		for range rng.IntN(5) {
			i := rng.IntN(len(ids))
			name := string('a' + rune(i))
			switch has = append(has, name); rng.IntN(8) {
			case 0:
				e = msg(e, eventCategories, []byte(name))
			case 1:
				e = msg(e, eventCategoryIDs, num(nil, 0, ids[i])[1:])
			default:
				e = num(e, eventCategoryIDs, ids[i])
			}
		}
		want = append(want, strings.Join(has, ","))
		p := num(num(nil, packetSequence, 1), packetTime, 100+10*at)
		trace = msg(trace, 1, msg(p, packetEvent, e))
		end := num(num(nil, eventType, typeEnd), eventTrack, 5)
		p = num(num(nil, packetSequence, 1), packetTime, 105+10*at)
		trace = msg(trace, 1, msg(p, packetEvent, end))
	}
	r, err := decodeBytes(t, trace, 0)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for l, i := &r.Tracks[0].Lanes[0], 0; i < l.Len(); i++ {
		got = append(got, r.Functions.At(int(r.Func(l.Call(i)))).Module)
	}
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

// naive parses a packet field by field with protowire. It returns the packet's own fields
// and the flows of its event.
func naive(b []byte) (p packet, flows, ends []uint64) {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		m := -1
		if n > 0 {
			m = protowire.ConsumeFieldValue(num, typ, b[n:])
		}
		if m < 0 {
			return p, flows, ends
		}
		v, _ := protowire.ConsumeVarint(b[n:])
		body, _ := protowire.ConsumeBytes(b[n:])
		switch b = b[n+m:]; {
		case num == packetTime && typ == protowire.VarintType:
			p.time, p.is = v, p.is|isTimed
		case num == packetSequence && typ == protowire.VarintType:
			p.seq = uint32(v)
		case num == packetFlags && typ == protowire.VarintType:
			p.is |= uint16(v&flagCleared)*isCleared | uint16(v&flagNeeds)/flagNeeds*isNeeding
		case num == packetEvent && typ == protowire.BytesType:
			p.kind, p.event, p.nameID, flows, ends = packetEvent, 0, 0, nil, nil
			p.is &^= ofEvent
			for len(body) > 0 {
				num, typ, n := protowire.ConsumeTag(body)
				m := -1
				if n > 0 {
					m = protowire.ConsumeFieldValue(num, typ, body[n:])
				}
				if m < 0 {
					break
				}
				v, _ := protowire.ConsumeVarint(body[n:])
				if typ == protowire.Fixed64Type {
					v, _ = protowire.ConsumeFixed64(body[n:])
				}
				switch body = body[n+m:]; num {
				case eventType:
					p.event = uint8(min(v, 255))
				case eventNameID:
					p.nameID, p.is = v, p.is|byName
				case eventTrack:
					p.uuid, p.is = v, p.is|hasTrack
				case eventCategoryIDs:
					p.categoryID, p.is = v, p.is|byCategory|hasCategory
				case eventAnnotation:
					p.is |= hasArgs
				case eventExtra:
					p.value, p.is = math.Float64bits(float64(int64(v))), p.is|hasExtra
				case eventFlows, eventFlowsOld:
					flows = append(flows, v)
				case eventEnds, eventEndsOld:
					ends = append(ends, v)
				}
			}
		}
	}
	return p, flows, ends
}

// TestPackets compares packets with naive parsing: with overlong varints, in any field
// order, cut anywhere, and after packets of any other writer.
func TestPackets(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	varint := func(b []byte, v uint64) []byte {
		b = protowire.AppendVarint(b, v)
		if rng.IntN(8) == 0 { // longer than necessary
			for range rng.IntN(max(1, 9-protowire.SizeVarint(v))) {
				b[len(b)-1] |= 0x80
				b = append(b, 0)
			}
		}
		return b
	}
	number := func(b []byte, num protowire.Number) []byte {
		return varint(varint(b, uint64(num)<<3), rng.Uint64()>>rng.IntN(64))
	}
	bytes := func(b []byte, num protowire.Number, body []byte) []byte {
		return append(varint(varint(b, uint64(num)<<3|2), uint64(len(body))), body...)
	}
	pick := func(of ...protowire.Number) protowire.Number { return of[rng.IntN(len(of))] }
	for range 3000 {
		var all [][]byte
		writers := [][]byte{number(number(nil, packetUser), packetSequence), number(number(number(nil, packetFlags), packetSequence), packetPID)}
		for range 2 { // of equal length; only the second half differs, by sequence
			writers = append(writers, num(num(num(nil, packetUser, 1<<28), packetPID, 1<<22), packetSequence, 1<<14+rng.Uint64N(1<<14)))
		}
		for range 1 + rng.IntN(6) {
			var b []byte
			for range rng.IntN(4) {
				b = number(b, pick(packetTime, packetTime, packetSequence, packetFlags, packetUser, 900))
			}
			for range rng.IntN(8) / 3 {
				var e []byte
				extra, category := false, false
				for range rng.IntN(7) {
					switch num := pick(eventType, eventNameID, eventTrack, eventCategoryIDs, eventExtra, eventAnnotation, eventFlows, eventEnds, eventFlowsOld, 99); {
					case num == eventAnnotation:
						e = bytes(e, num, make([]byte, rng.IntN(200)))
					case num == eventFlows || num == eventEnds:
						e = fix(e, num, rng.Uint64())
					case num == eventExtra && extra, num == eventCategoryIDs && category:
					default:
						extra, category = extra || num == eventExtra, category || num == eventCategoryIDs
						e = number(e, num)
					}
				}
				b = bytes(b, packetEvent, e[:len(e)-min(len(e), rng.IntN(3)/2)])
			}
			b = append(b, writers[rng.IntN(4)]...)
			all = append(all, b[:len(b)-min(len(b), rng.IntN(9)/8*rng.IntN(20))])
		}
		w := &worker{batch: new(batch)}
		var trace []byte
		for _, b := range all {
			trace = msg(trace, 1, b)
		}
		w.packets(trace)
		got, flows, ends := w.batch.packets, w.batch.flows, w.batch.ends
		for _, b := range all {
			p, f, e := naive(b)
			if p.kind == 0 && p.is&isCleared == 0 {
				continue
			}
			if len(got) == 0 {
				t.Fatalf("there is no packet of %x", b)
			}
			is := got[0]
			p.at, p.flowCount, p.endCount = is.at, uint8(len(f)), uint8(len(e))
			if is != p || !slices.Equal(flows[:len(f)], f) || !slices.Equal(ends[:len(e)], e) {
				t.Fatalf("%x is\n%+v, want\n%+v", b, is, p)
			}
			got, flows, ends = got[1:], flows[len(f):], ends[len(e):]
		}
		if len(got)+len(flows)+len(ends) > 0 {
			t.Fatalf("%d packets, %d flows and %d ends too many", len(got), len(flows), len(ends))
		}
	}
}
