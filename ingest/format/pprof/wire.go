package pprof

import "google.golang.org/protobuf/encoding/protowire"

// The messages of profile.proto, in the detail needed to recognise and repair them.
type (
	message map[protowire.Number]field
	field   struct {
		wire uint8
		sub  message
	}
)

const (
	number uint8            = 1 << iota // a varint
	block                               // bytes: a string or a message
	packed = number | block             // repeated numbers, one by one or together
)

var (
	valueType = message{1: {wire: number}, 2: {wire: number}}
	label     = message{1: {wire: number}, 2: {wire: number}, 3: {wire: number}, 4: {wire: number}}
	line      = message{1: {wire: number}, 2: {wire: number}, 3: {wire: number}}
	sample    = message{1: {wire: packed}, 2: {wire: packed}, 3: {block, label}}
	location  = message{1: {wire: number}, 2: {wire: number}, 3: {wire: number}, 4: {block, line}, 5: {wire: number}}
	function  = message{1: {wire: number}, 2: {wire: number}, 3: {wire: number}, 4: {wire: number}, 5: {wire: number}}
	mapping   = message{
		1: {wire: number}, 2: {wire: number}, 3: {wire: number}, 4: {wire: number}, 5: {wire: number},
		6: {wire: number}, 7: {wire: number}, 8: {wire: number}, 9: {wire: number}, 10: {wire: number},
	}
	whole = message{
		1: {block, valueType}, 2: {block, sample}, 3: {block, mapping}, 4: {block, location}, 5: {block, function},
		6: {wire: block}, 7: {wire: number}, 8: {wire: number}, 9: {wire: number}, 10: {wire: number},
		11: {block, valueType}, 12: {wire: number}, 13: {wire: packed}, 14: {wire: number}, 15: {wire: number},
	}
)

// fits reports whether a field's value matches the message's description. Unknown fields
// fit unless strict is set.
func (m message) fits(num protowire.Number, typ protowire.Type, value []byte, strict bool) bool {
	if typ == protowire.StartGroupType {
		return false
	}
	f, known := m[num]
	if !known {
		return !strict
	}
	switch typ {
	case protowire.VarintType:
		return f.wire&number != 0
	case protowire.BytesType:
		if f.wire&block == 0 {
			return false
		}
		body, n := protowire.ConsumeBytes(value)
		switch {
		case n < 0:
			return false
		case f.wire == packed:
			return varints(body) >= 0
		case f.sub != nil:
			return f.sub.valid(body, strict)
		}
		return true
	}
	return false
}

// valid reports whether all of a message's fields fit.
func (m message) valid(b []byte, strict bool) bool {
	for len(b) > 0 {
		num, typ, n := protowire.ConsumeTag(b)
		if n < 0 {
			return false
		}
		b = b[n:]
		size := protowire.ConsumeFieldValue(num, typ, b)
		if size < 0 || !m.fits(num, typ, b[:size], strict) {
			return false
		}
		b = b[size:]
	}
	return true
}

// varints counts the numbers in a packed field, -1 when it is not one.
func varints(b []byte) int {
	count := 0
	for len(b) > 0 {
		_, n := protowire.ConsumeVarint(b)
		if n < 0 {
			return -1
		}
		b = b[n:]
		count++
	}
	return count
}
