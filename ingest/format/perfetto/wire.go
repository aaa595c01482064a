package perfetto

import (
	"iter"
	"math"

	"google.golang.org/protobuf/encoding/protowire"
)

// value is the content of a protobuf field: a number or bytes.
type value struct {
	n uint64
	b []byte
}

func (v value) text() string { return string(v.b) }

// each yields the fields of a message up to the first one that is cut or invalid.
func each(b []byte) iter.Seq2[protowire.Number, value] {
	return func(yield func(protowire.Number, value) bool) {
		for len(b) > 0 {
			num, v, n := field(b)
			if n < 0 {
				return
			}
			b = b[n:]
			if !yield(num, v) {
				return
			}
		}
	}
}

// varint reads the varint at i. next is the index after it, or -1 if it is incomplete.
func varint(b []byte, i int) (v uint64, next int) {
	if uint(i) < uint(len(b)) && b[i] < 0x80 {
		return uint64(b[i]), i + 1
	}
	return longVarint(b, i)
}

// longVarint is like varint, for numbers of more than one byte. Most times and lengths
// take two or three.
func longVarint(b []byte, i int) (v uint64, next int) {
	if i+3 <= len(b) {
		v := uint64(b[i]&0x7f) | uint64(b[i+1]&0x7f)<<7
		if b[i+1] < 0x80 {
			return v, i + 2
		}
		if b[i+2] < 0x80 {
			return v | uint64(b[i+2])<<14, i + 3
		}
	}
	v, n := protowire.ConsumeVarint(b[i:])
	if n < 0 {
		return 0, -1
	}
	return v, i + n
}

const (
	// mostNumber is the largest field number.
	mostNumber = 1<<29 - 1
	// lengthType is the wire type of length-delimited fields.
	lengthType = 2
)

// fieldAt reads the field at i. from is the index after its tag and next the index after
// the field, or -1 if the field is incomplete.
func fieldAt(b []byte, i int) (num protowire.Number, v value, from, next int) {
	tag, from := varint(b, i)
	if from < 0 {
		return 0, v, from, -1
	}
	if typ := tag & 7; typ&^lengthType != 0 || tag < 1<<3 || tag>>3 > mostNumber {
		num, v, n := anyField(b[i:])
		if n < 0 {
			return num, v, from, -1
		}
		return num, v, from, i + n
	}
	num = protowire.Number(tag >> 3)
	n, next := varint(b, from)
	switch {
	case next < 0 || tag&7 == 0:
		v.n = n
	case n > uint64(len(b)-next):
		next = -1
	default:
		v.b = b[next:][:n:n]
		next += int(n)
	}
	return num, v, from, next
}

// field reads the first field, which takes n bytes; n is negative if it is incomplete.
// Nearly all fields have a number below 16 and a value or length below 128, so that each
// takes one byte.
func field(b []byte) (num protowire.Number, v value, n int) {
	if len(b) > 1 && b[1] < 0x80 && b[0] >= 1<<3 && b[0] < 0x80 {
		switch x := int(b[1]); protowire.Type(b[0] & 7) {
		case protowire.VarintType:
			return protowire.Number(b[0] >> 3), value{n: uint64(x)}, 2
		case protowire.BytesType:
			if x <= len(b)-2 {
				return protowire.Number(b[0] >> 3), value{b: b[2:][:x:x]}, 2 + x
			}
		}
	}
	return anyField(b)
}

// anyField is like field, for longer fields and other types.
func anyField(b []byte) (num protowire.Number, v value, n int) {
	num, typ, n := protowire.ConsumeTag(b)
	if n < 0 {
		return num, v, n
	}
	m := 0
	switch rest := b[n:]; typ {
	case protowire.VarintType:
		v.n, m = protowire.ConsumeVarint(rest)
	case protowire.Fixed64Type:
		v.n, m = protowire.ConsumeFixed64(rest)
	case protowire.Fixed32Type:
		var x uint32
		x, m = protowire.ConsumeFixed32(rest)
		v.n = uint64(x)
	case protowire.BytesType:
		v.b, m = protowire.ConsumeBytes(rest)
	default:
		m = protowire.ConsumeFieldValue(num, typ, rest)
	}
	if m < 0 {
		return num, v, m
	}
	return num, v, n + m
}

// numbers appends the numbers of a repeated field, packed or not.
func (v value) numbers(to []uint64) []uint64 {
	if v.b == nil {
		return append(to, v.n)
	}
	for i := 0; i < len(v.b); {
		x, next := varint(v.b, i)
		if next < 0 {
			break
		}
		to, i = append(to, x), next
	}
	return to
}

// fixed appends the numbers of a repeated field: of eight bytes each if eight is set,
// else varints.
func (v value) fixed(to []uint64, eight bool) []uint64 {
	if v.b == nil || !eight {
		return v.numbers(to)
	}
	for b := v.b; len(b) >= 8; b = b[8:] {
		n, _ := protowire.ConsumeFixed64(b)
		to = append(to, n)
	}
	return to
}

func (v value) floats(to []float64) []float64 {
	for _, n := range v.fixed(nil, true) {
		to = append(to, math.Float64frombits(n))
	}
	return to
}
