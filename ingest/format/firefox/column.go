package firefox

import (
	"math"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/jsonscan"
	"ashlar/ingest/model/column"
)

// numbers are a column of a table; values may be missing. Each takes four bytes as long
// as that is enough. A nil column is empty.
type numbers struct {
	small  column.Vec[int32]
	wide   column.Vec[int64] // replaces small once a value does not fit there
	scale  column.Vec[int8]
	isWide bool
	finest int // largest scale of any value
}

const (
	smallNull = math.MinInt32
	wideNull  = -1 // marks a missing value
)

var boolean = map[string]int64{"true": 1, "false": 0}

// add adds a value of the file; anything but a number counts as missing.
func (c *numbers) add(raw []byte) {
	n, ok, fits := decode.ParseNumber(jsonscan.Unquoted(raw))
	if !ok || !fits {
		var is bool
		n = decode.Number{}
		if n.Mantissa, is = boolean[string(raw)]; !is {
			n = decode.Number{Scale: wideNull}
		}
	}
	c.finest = max(c.finest, n.Scale)
	if !c.isWide {
		switch {
		case n.Scale == wideNull:
			c.small.Append(smallNull)
			return
		case n.Scale == 0 && n.Mantissa > smallNull && n.Mantissa <= math.MaxInt32:
			c.small.Append(int32(n.Mantissa))
			return
		}
		c.widen()
	}
	c.wide.Append(n.Mantissa)
	c.scale.Append(int8(n.Scale))
}

func (c *numbers) widen() {
	c.isWide = true
	for i := range c.small.Len() {
		v, scale := int64(c.small.At(i)), int8(0)
		if v == smallNull {
			v, scale = 0, wideNull
		}
		c.wide.Append(v)
		c.scale.Append(scale)
	}
	c.small = column.Vec[int32]{}
}

func (c *numbers) len() int {
	switch {
	case c == nil:
		return 0
	case c.isWide:
		return c.wide.Len()
	}
	return c.small.Len()
}

// at returns number i; ok is false if it is missing.
func (c *numbers) at(i int) (n decode.Number, ok bool) {
	if i < 0 || i >= c.len() {
		return n, false
	}
	if c.isWide {
		n = decode.Number{Mantissa: c.wide.At(i), Scale: int(c.scale.At(i))}
		return n, n.Scale != wideNull
	}
	v := c.small.At(i)
	return decode.Number{Mantissa: int64(v)}, v != smallNull
}

// index returns number i as an index into another table, -1 for none.
func (c *numbers) index(i int) int {
	n, ok := c.at(i)
	if !ok || n.Scale != 0 || n.Mantissa < 0 || n.Mantissa > math.MaxInt32 {
		return -1
	}
	return int(n.Mantissa)
}

// line returns number i as a line or column number, 0 for none.
func (c *numbers) line(i int) int32 { return int32(max(c.index(i), 0)) }
