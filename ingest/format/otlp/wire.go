package otlp

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"strconv"

	"google.golang.org/protobuf/encoding/protowire"
)

// reader parses protobuf. It notes damage and skips the rest of the damaged message.
type reader struct {
	content []byte // the whole file
	era     era
	note    func(code, place, text string)
}

// maxDepth is the maximum nesting depth of arrays.
const maxDepth = 32

// place returns the position in the file where b, a part of it, begins.
func (r *reader) place(b []byte) string {
	return fmt.Sprintf("byte %d", cap(r.content)-cap(b))
}

// fields calls f with each field of a message: n for numbers, body for bytes. A field
// that reaches past the end of the message is cut there.
func (r *reader) fields(b []byte, f func(num protowire.Number, typ protowire.Type, n uint64, body []byte)) {
	for len(b) > 0 {
		num, typ, size := protowire.ConsumeTag(b)
		if size < 0 {
			r.note("damaged", r.place(b), "The protobuf is damaged at "+r.place(b)+"; the rest of its message is left out")
			return
		}
		at := b
		b = b[size:]
		var n uint64
		var body []byte
		switch typ {
		case protowire.VarintType:
			n, size = protowire.ConsumeVarint(b)
		case protowire.Fixed64Type:
			n, size = protowire.ConsumeFixed64(b)
		case protowire.Fixed32Type:
			var v uint32
			v, size = protowire.ConsumeFixed32(b)
			n = uint64(v)
		case protowire.BytesType:
			var want uint64
			want, size = protowire.ConsumeVarint(b)
			if size >= 0 {
				if want > uint64(len(b)-size) {
					r.note("cut", r.place(at), fmt.Sprintf("Field %d at %s is longer than its message: the file is truncated or damaged there", num, r.place(at)))
					want = uint64(len(b) - size)
				}
				body = b[size : size+int(want)]
				size += int(want)
			}
		default:
			size = protowire.ConsumeFieldValue(num, typ, b)
		}
		if size < 0 {
			r.note("damaged", r.place(at), "The protobuf is damaged at "+r.place(at)+"; the rest of its message is left out")
			return
		}
		f(num, typ, n, body)
		b = b[size:]
	}
}

// numbers reads a repeated field of numbers, packed or not.
func numbers[T int32 | int64 | uint64](dst []T, typ protowire.Type, n uint64, body []byte) []T {
	if typ != protowire.BytesType {
		return append(dst, T(n))
	}
	for len(body) > 0 {
		v, size := protowire.ConsumeVarint(body)
		if size < 0 {
			break
		}
		dst = append(dst, T(v))
		body = body[size:]
	}
	return dst
}

// fixed reads a repeated fixed64, packed or not.
func fixed(dst []uint64, typ protowire.Type, n uint64, body []byte) []uint64 {
	if typ != protowire.BytesType {
		return append(dst, n)
	}
	for ; len(body) >= 8; body = body[8:] {
		dst = append(dst, binary.LittleEndian.Uint64(body))
	}
	return dst
}

// message reads ProfilesData or ExportProfilesServiceRequest, which have the same wire
// format.
func (r *reader) message(b []byte) *message {
	m := &message{}
	r.fields(b, func(num protowire.Number, typ protowire.Type, _ uint64, body []byte) {
		switch {
		case typ != protowire.BytesType:
		case num == 1:
			m.resources = append(m.resources, r.resource(body))
		case num == 2:
			r.dictionary(body, &m.dict)
		}
	})
	return m
}

func (r *reader) dictionary(b []byte, d *dictionary) {
	r.fields(b, func(num protowire.Number, typ protowire.Type, _ uint64, body []byte) {
		if typ != protowire.BytesType {
			return
		}
		switch num {
		case 1:
			d.mappings = append(d.mappings, r.mapping(body))
		case 2:
			d.locations = append(d.locations, r.location(body))
		case 3:
			var f function
			r.fields(body, func(num protowire.Number, _ protowire.Type, n uint64, _ []byte) {
				switch num {
				case 1:
					f.name = int32(n)
				case 2:
					f.system = int32(n)
				case 3:
					f.file = int32(n)
				case 4:
					f.start = int64(n)
				}
			})
			d.functions = append(d.functions, f)
		case 4:
			var l link
			r.fields(body, func(num protowire.Number, _ protowire.Type, _ uint64, body []byte) {
				switch num {
				case 1:
					l.trace = body
				case 2:
					l.span = body
				}
			})
			d.links = append(d.links, l)
		case 5:
			d.strings = append(d.strings, string(body))
		case 6:
			d.attrs = append(d.attrs, r.attribute(body, 0, true))
		case 7:
			var s []int32
			r.fields(body, func(num protowire.Number, typ protowire.Type, n uint64, body []byte) {
				if num == 1 {
					s = numbers(s, typ, n, body)
				}
			})
			d.stacks = append(d.stacks, s)
		}
	})
}

func (r *reader) mapping(b []byte) (m mapping) {
	r.fields(b, func(num protowire.Number, typ protowire.Type, n uint64, body []byte) {
		switch num {
		case 1:
			m.start = n
		case 2:
			m.limit = n
		case 3:
			m.offset = n
		case 4:
			m.file = int32(n)
		case 5:
			m.attrs = numbers(m.attrs, typ, n, body)
		}
	})
	return m
}

func (r *reader) location(b []byte) (l location) {
	r.fields(b, func(num protowire.Number, typ protowire.Type, n uint64, body []byte) {
		switch num {
		case 1:
			l.mapping = int32(n)
		case 2:
			l.addr = n
		case 3:
			var x line
			r.fields(body, func(num protowire.Number, _ protowire.Type, n uint64, _ []byte) {
				switch num {
				case 1:
					x.function = int32(n)
				case 2:
					x.line = int64(n)
				case 3:
					x.col = int64(n)
				}
			})
			l.lines = append(l.lines, x)
		case 4:
			l.attrs = numbers(l.attrs, typ, n, body)
		}
	})
	return l
}

// attribute reads a KeyValue or, if unit is set, a KeyValueAndUnit of the dictionary. The
// key's index is in field 3 of a KeyValue and in field 1 of a KeyValueAndUnit.
func (r *reader) attribute(b []byte, depth int, unit bool) (a attribute) {
	r.fields(b, func(num protowire.Number, typ protowire.Type, n uint64, body []byte) {
		switch {
		case num == 1 && typ == protowire.BytesType:
			a.key = string(body)
		case num == 1 && unit, num == 3 && !unit:
			a.keyIdx = int32(n)
		case num == 2 && typ == protowire.BytesType:
			a.value = r.value(body, depth)
		case num == 3:
			a.unitIdx = int32(n)
		}
	})
	return a
}

// value reads an AnyValue.
func (r *reader) value(b []byte, depth int) (v value) {
	if depth > maxDepth {
		r.note("too-deep", r.place(b), "An attribute's value at "+r.place(b)+" is nested too deeply and left out")
		return v
	}
	r.fields(b, func(num protowire.Number, typ protowire.Type, n uint64, body []byte) {
		switch num {
		case 1:
			v.text = string(body)
		case 2:
			v.text = strconv.FormatBool(n != 0)
		case 3:
			v.text = strconv.FormatInt(int64(n), 10)
		case 4:
			v.text = strconv.FormatFloat(math.Float64frombits(n), 'g', -1, 64)
		case 5, 6: // ArrayValue{values 1}, KeyValueList{values 1}
			v.list = []value{}
			r.fields(body, func(in protowire.Number, _ protowire.Type, _ uint64, body []byte) {
				if in != 1 {
					return
				}
				if num == 5 {
					v.list = append(v.list, r.value(body, depth+1))
					return
				}
				a := r.attribute(body, depth+1, false)
				v.list = append(v.list, value{text: a.key, idx: a.keyIdx}, a.value)
			})
		case 7:
			v.text = hex.EncodeToString(body)
		case 8:
			v.idx = int32(n)
		}
	})
	return v
}

func (r *reader) resource(b []byte) (x resource) {
	r.fields(b, func(num protowire.Number, typ protowire.Type, _ uint64, body []byte) {
		switch {
		case typ != protowire.BytesType:
		case num == 1:
			x.attrs = append(x.attrs, r.attributes(body, 1)...)
		case num == 2:
			x.scopes = append(x.scopes, r.scope(body))
		}
	})
	return x
}

func (r *reader) scope(b []byte) (s scope) {
	r.fields(b, func(num protowire.Number, typ protowire.Type, _ uint64, body []byte) {
		switch {
		case typ != protowire.BytesType:
		case num == 1:
			s.attrs = append(s.attrs, r.attributes(body, 3)...)
			r.fields(body, func(num protowire.Number, _ protowire.Type, _ uint64, body []byte) {
				switch num {
				case 1:
					s.name = string(body)
				case 2:
					s.version = string(body)
				}
			})
		case num == 2:
			s.profiles = append(s.profiles, r.profile(body))
		}
	})
	return s
}

// attributes reads the KeyValues in field at of a message.
func (r *reader) attributes(b []byte, at protowire.Number) (out []attribute) {
	r.fields(b, func(num protowire.Number, typ protowire.Type, _ uint64, body []byte) {
		if num == at && typ == protowire.BytesType {
			out = append(out, r.attribute(body, 0, false))
		}
	})
	return out
}
