package pprof

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"sync"

	"google.golang.org/protobuf/encoding/protowire"

	"ashlar/ingest/format/decode"
)

// Sniff looks for the fields of profile.proto, or for the first line of a legacy format.
// The first byte alone decides nothing, because most protobuf files begin alike.
func Sniff(head []byte, complete bool) (decode.Confidence, error) {
	if legacy(head) {
		return decode.Certain, nil
	}
	return sniffProto(head, complete), nil
}

func sniffProto(head []byte, complete bool) decode.Confidence {
	var types, samples, others, strings int
	for b := head; len(b) > 0; {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			if complete || len(b) > binary.MaxVarintLen64 {
				return decode.No
			}
			break
		}
		size := protowire.ConsumeFieldValue(num, typ, b[n:])
		f, known := whole[num]
		switch {
		case !known && num > 15 && size >= 0: // an extension of the writer, or a field of a later version
			b = b[n+size:]
			continue
		case !known || typ == protowire.VarintType && f.wire&number == 0 || typ == protowire.BytesType && f.wire&block == 0:
			return decode.No
		}
		if size < 0 {
			break // truncated: only the head was read, or the file is cut
		}
		if !whole.fits(num, typ, b[n:n+size], true) {
			return decode.No
		}
		switch num {
		case 1:
			types++
		case 2:
			samples++
		case 6:
			if strings == 0 && size != 1 {
				return decode.No // the first string must be empty
			}
			strings++
		default:
			others++
		}
		b = b[n+size:]
	}
	switch {
	case types > 0 && strings > 0:
		return decode.Certain
	case types > 0 && samples+others > 0:
		return decode.Likely
	case types > 0 && !complete, samples > 10, strings > 1 && others > 0:
		return decode.Maybe
	}
	return decode.No
}

var (
	legacyText = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(heap profile: *\d+: *\d+ *\[ *\d+: *\d+ *\] *@ *(heap|growth|fragmentation)|--- (heapz|contentionz|threadz) \d+ ---|--- (mutex|contention):|--- Thread [[:xdigit:]]+ \(name: )`)
	})
	legacyCount = sync.OnceValue(func() *regexp.Regexp {
		return regexp.MustCompile(`^(?:[ \t]*(?:#[^\n]*)?\n)*\S+ profile: total \d+\r?\n`)
	})
)

// legacy recognises the formats from before profile.proto that pprof's library still reads.
func legacy(head []byte) bool {
	if len(head) > 4096 {
		head = head[:4096]
	}
	return legacyText().Match(head) || legacyCount().Match(head) || legacyCPU(head)
}

// title matches the first line of each kind of legacy text.
var title = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?m)^(heap profile:) *\d+:|^(--- [a-z]+z) \d+ ---|^(--- (?:mutex|contention):)|^(\S+ profile: total) \d+\r?$`)
})

// several reports whether a legacy text holds more than one profile. The library would take
// the first line of the second for a sample, or leave the second out.
func several(content []byte) bool {
	if legacyCPU(content) {
		return false
	}
	seen := map[string]bool{}
	for _, m := range title().FindAllSubmatch(content, -1) {
		kind := string(bytes.Join(m[1:], nil))
		if seen[kind] {
			return true
		}
		seen[kind] = true
	}
	return false
}

// legacyCPU recognises a binary CPU profile: words 0, 3, language, period, 0,
// in either size and byte order.
func legacyCPU(head []byte) bool {
	var w [5]uint64
	for _, size := range []int{4, 8} {
		if len(head) < 5*size {
			break
		}
		for _, order := range []binary.ByteOrder{binary.LittleEndian, binary.BigEndian} {
			for i := range w {
				if size == 4 {
					w[i] = uint64(order.Uint32(head[4*i:]))
				} else {
					w[i] = order.Uint64(head[8*i:])
				}
			}
			if w[0] == 0 && w[1] == 3 && w[2] <= 1 && w[3] > 0 && w[3] < 1e9 && w[4] == 0 {
				return true
			}
		}
	}
	return false
}
