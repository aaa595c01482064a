package parquet

import "encoding/binary"

// compact reads Thrift's compact protocol, in which the metadata of Parquet files is written.
// Lengths are checked against the bytes that follow, so that memory is bounded by the input.
type compact struct {
	b     []byte
	at    int
	bad   bool
	depth int
}

// maxNesting is the maximum depth of structures in metadata, and of groups in a schema.
const maxNesting = 32

// Types of the compact protocol.
const (
	compactTrue  = 1
	compactFalse = 2
)

func (c *compact) rest() int { return len(c.b) - c.at }

func (c *compact) byte() byte {
	if c.bad = c.bad || c.rest() < 1; c.bad {
		return 0
	}
	c.at++
	return c.b[c.at-1]
}

func (c *compact) uvarint() uint64 {
	if c.bad {
		return 0
	}
	v, n := binary.Uvarint(c.b[c.at:])
	if c.bad = n <= 0; c.bad {
		return 0
	}
	c.at += n
	return v
}

func (c *compact) int() int64 {
	u := c.uvarint()
	return int64(u>>1) ^ -int64(u&1)
}

// count reads the number of things that take at least one byte each.
func (c *compact) count() int {
	n := c.uvarint()
	if c.bad = c.bad || n > uint64(c.rest()); c.bad {
		return 0
	}
	return int(n)
}

func (c *compact) binary() []byte {
	n := c.count()
	c.at += n
	return c.b[c.at-n : c.at]
}

// fields calls f for each field of a structure. f must read the field.
func (c *compact) fields(f func(id int, kind byte)) {
	if c.depth++; c.depth > maxNesting {
		c.bad = true
	}
	for id := 0; !c.bad; {
		h := c.byte()
		if h&15 == 0 {
			break
		}
		if h>>4 != 0 {
			id += int(h >> 4)
		} else {
			id = int(int16(c.int()))
		}
		if c.bad = c.bad || id <= 0; !c.bad {
			f(id, h&15)
		}
	}
	c.depth--
}

// list calls f for each element of a list. f must read the element.
func (c *compact) list(f func(kind byte)) {
	h := c.byte()
	n := int(h >> 4)
	if n == 15 {
		n = c.count()
	}
	for i := 0; i < n && !c.bad; i++ {
		f(h & 15)
	}
}

// skip skips a field.
func (c *compact) skip(kind byte) {
	switch kind {
	case compactTrue, compactFalse: // the value of a field is its type
	case 3:
		c.byte()
	case 4, 5, 6:
		c.uvarint()
	case 7:
		if c.bad = c.bad || c.rest() < 8; !c.bad {
			c.at += 8
		}
	case 8:
		c.binary()
	case 9, 10:
		c.list(c.skipElement)
	case 11:
		n := c.count()
		if n == 0 {
			return
		}
		kinds := c.byte()
		for i := 0; i < n && !c.bad; i++ {
			c.skipElement(kinds >> 4)
			c.skipElement(kinds & 15)
		}
	case 12:
		c.fields(func(_ int, kind byte) { c.skip(kind) })
	default:
		c.bad = true
	}
}

// skipElement skips an element of a list or a map, in which booleans take a byte.
func (c *compact) skipElement(kind byte) {
	if kind == compactTrue || kind == compactFalse {
		kind = 3
	}
	if c.depth++; c.depth > maxNesting {
		c.bad = true
		return
	}
	c.skip(kind)
	c.depth--
}
