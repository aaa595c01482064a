package nettrace

import (
	"encoding/binary"
	"unicode/utf16"
)

// cursor reads bytes. After an attempt to read past the end it is bad and returns zeros.
type cursor struct {
	b   []byte
	bad bool
}

func (c *cursor) done() bool { return c.bad || len(c.b) == 0 }

func (c *cursor) take(n uint64) []byte {
	if c.bad || n > uint64(len(c.b)) {
		c.bad = true
		return nil
	}
	b := c.b[:n:n]
	c.b = c.b[n:]
	return b
}

// number reads a little-endian number of the given size in bytes.
func (c *cursor) number(size int) uint64 {
	var room [8]byte
	copy(room[:], c.take(uint64(size)))
	return binary.LittleEndian.Uint64(room[:])
}

func (c *cursor) u8() byte    { return byte(c.number(1)) }
func (c *cursor) u16() uint16 { return uint16(c.number(2)) }
func (c *cursor) u32() uint32 { return uint32(c.number(4)) }
func (c *cursor) u64() uint64 { return c.number(8) }

// uvarint reads an integer of seven bits a byte, lowest first.
func (c *cursor) uvarint() uint64 {
	if c.bad {
		return 0
	}
	v, n := binary.Uvarint(c.b)
	if n <= 0 {
		c.bad = true
		return 0
	}
	c.b = c.b[n:]
	return v
}

// text reads UTF-8 text after its length, as in version 6.
func (c *cursor) text() string { return string(c.take(c.uvarint())) }

// wide reads zero-terminated UTF-16 text.
func (c *cursor) wide() string {
	var s []uint16
	for !c.bad {
		u := c.u16()
		if u == 0 {
			break
		}
		s = append(s, u)
	}
	return string(utf16.Decode(s))
}
