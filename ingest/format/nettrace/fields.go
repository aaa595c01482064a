package nettrace

import (
	"fmt"
	"math"
	"strconv"
	"time"
	"unicode/utf16"

	"ashlar/ingest/format/decode"
)

// field is a field of an event: its name and the shape of its value.
type field struct {
	name string
	is   shape
}

// shape is the encoding of a value.
type shape struct {
	code   uint32
	of     *shape  // shape of an array's elements
	n      int     // number of elements of a fixed-length array
	fields []field // fields of an object
}

// Codes of shapes.
const (
	shapeObject  = 1
	shapeBool    = 3
	shapeUTF16   = 4
	shapeInt8    = 5
	shapeUint8   = 6
	shapeInt16   = 7
	shapeUint16  = 8
	shapeInt32   = 9
	shapeUint32  = 10
	shapeInt64   = 11
	shapeUint64  = 12
	shapeFloat32 = 13
	shapeFloat64 = 14
	shapeDate    = 16
	shapeGUID    = 17
	shapeString  = 18
	shapeArray   = 19
	shapeVarint  = 20
	shapeUvarint = 21
	shapeFixed   = 22
	shapeUTF8    = 23
	shapeRelLoc  = 24
	shapeDataLoc = 25
)

const (
	// deepest is the maximum nesting depth of shapes.
	deepest = 8
	// mostValues is the maximum number of values read from an event.
	mostValues = 1 << 12
)

// fields reads n field descriptions. one reads a single description in the file's
// version.
func (c *cursor) fields(n uint32, one func(depth int) field, depth int) (out []field) {
	if depth > deepest {
		c.bad = true
	}
	for ; n > 0 && !c.bad; n-- {
		out = append(out, one(depth))
	}
	return out
}

// oldField reads a field description of versions 4 and 5.
func (c *cursor) oldField(depth int) (f field) {
	if f.is.code = c.u32(); f.is.code == shapeObject {
		f.is.fields = c.fields(c.u32(), c.oldField, depth+1)
	}
	f.name = c.wide()
	return f
}

// sizedField reads a field description of version 5 in the form that allows arrays.
func (c *cursor) sizedField(depth int) (f field) {
	in := &cursor{b: c.take(max(4, uint64(c.u32())) - 4)}
	f.name = in.wide()
	f.is = in.shape(in.u32, in.u32, in.sizedField, depth)
	c.bad = c.bad || in.bad
	return f
}

// newField reads a field description of version 6.
func (c *cursor) newField(depth int) (f field) {
	in := &cursor{b: c.take(uint64(c.u16()))}
	f.name = in.text()
	f.is = in.shape(func() uint32 { return uint32(in.u8()) }, func() uint32 { return uint32(in.u16()) }, in.newField, depth)
	c.bad = c.bad || in.bad
	return f
}

// shape reads a shape: its code, and the details that this code requires.
func (c *cursor) shape(code, count func() uint32, one func(depth int) field, depth int) shape {
	if depth > deepest {
		c.bad = true
	}
	if c.bad {
		return shape{}
	}
	s := shape{code: code()}
	switch s.code {
	case shapeObject:
		s.fields = c.fields(count(), one, depth+1)
	case shapeArray, shapeFixed, shapeRelLoc, shapeDataLoc:
		of := c.shape(code, count, one, depth+1)
		if s.of = &of; s.code == shapeFixed {
			s.n = int(c.u16())
		}
	}
	return s
}

// values reads the fields of an event, each as JSON.
type values struct {
	whole []byte
	left  int // how many more values may be read: values without bytes could go on forever
}

func (v *values) next(c *cursor, s *shape) []byte {
	if v.left--; v.left < 0 {
		c.bad = true
	}
	if c.bad {
		return nil
	}
	switch s.code {
	case shapeArray, shapeFixed, shapeRelLoc, shapeDataLoc:
		if s.of == nil { // versions 4 and 5 cannot describe the elements
			c.bad = true
			return nil
		}
	}
	switch s.code {
	case shapeObject:
		var o decode.Args
		for i := range s.fields {
			o.Raw(s.fields[i].name, v.next(c, &s.fields[i].is))
		}
		if b := o.JSON(); b != nil {
			return b
		}
		return []byte("{}")
	case shapeArray:
		return v.list(c, s.of, int(c.u16()))
	case shapeFixed:
		return v.list(c, s.of, s.n)
	case shapeRelLoc, shapeDataLoc:
		at, size := uint64(c.u16()), uint64(c.u16())
		if s.code == shapeRelLoc {
			at += uint64(len(v.whole) - len(c.b))
		}
		there := &cursor{b: v.whole}
		there.take(at)
		there.b = there.take(size)
		c.bad = c.bad || there.bad
		return v.list(there, s.of, toEnd)
	}
	return c.plain(s.code)
}

// toEnd, as a number of values, means all values up to the end of the bytes.
const toEnd = -1

// list reads n values; an array of characters becomes a text.
func (v *values) list(c *cursor, s *shape, n int) []byte {
	more := func(i int) bool { return !c.bad && i != n && (n != toEnd || len(c.b) > 0) }
	switch s.code {
	case shapeUTF8:
		if n == toEnd {
			n = len(c.b)
		}
		return decode.Quoted(string(c.take(uint64(n))))
	case shapeUTF16:
		var text []uint16
		for i := 0; more(i); i++ {
			text = append(text, c.u16())
		}
		return decode.Quoted(string(utf16.Decode(text)))
	}
	out := []byte{'['}
	for i := 0; more(i); i++ {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, v.next(c, s)...)
	}
	return append(out, ']')
}

// plain reads a value without parts.
func (c *cursor) plain(code uint32) []byte {
	signed := func(size int) []byte {
		u := c.number(size)
		return strconv.AppendInt(nil, int64(u<<(64-8*size))>>(64-8*size), 10)
	}
	unsigned := func(size int) []byte { return strconv.AppendUint(nil, c.number(size), 10) }
	switch code {
	case shapeBool:
		return strconv.AppendBool(nil, c.u32() != 0)
	case shapeUTF16:
		return decode.Quoted(string(utf16.Decode([]uint16{c.u16()})))
	case shapeInt8:
		return signed(1)
	case shapeUint8:
		return unsigned(1)
	case shapeInt16:
		return signed(2)
	case shapeUint16:
		return unsigned(2)
	case shapeInt32:
		return signed(4)
	case shapeUint32:
		return unsigned(4)
	case shapeInt64:
		return signed(8)
	case shapeUint64:
		return unsigned(8)
	case shapeFloat32:
		return decode.Float(float64(math.Float32frombits(c.u32())))
	case shapeFloat64:
		return decode.Float(math.Float64frombits(c.u64()))
	case shapeDate:
		var n [8]int
		for i := range n {
			n[i] = int(c.u16())
		}
		return decode.Quoted(time.Date(n[0], time.Month(n[1]), n[3], n[4], n[5], n[6], n[7]*1e6, time.UTC).Format("2006-01-02T15:04:05.000"))
	case shapeGUID:
		a, b, e, rest := c.u32(), c.u16(), c.u16(), c.take(8)
		if c.bad {
			return nil
		}
		return decode.Quoted(fmt.Sprintf("%08x-%04x-%04x-%x-%x", a, b, e, rest[:2], rest[2:]))
	case shapeString:
		return decode.Quoted(c.wide())
	case shapeVarint:
		u := c.uvarint()
		return strconv.AppendInt(nil, int64(u>>1)^-int64(u&1), 10)
	case shapeUvarint:
		return strconv.AppendUint(nil, c.uvarint(), 10)
	case shapeUTF8:
		return decode.Quoted(string(c.take(1)))
	}
	c.bad = true // its length is unknown
	return nil
}
