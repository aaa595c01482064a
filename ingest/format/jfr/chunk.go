package jfr

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf16"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
)

// chunk is a chunk being read. Its methods read at the current position and panic with
// errCut if the data ends too early.
type chunk struct {
	d          *decoder
	began      int64         // position in the file
	content    *bytes.Buffer // holds b
	b          []byte
	at         int
	compressed bool
	version    string
	begun      bool  // the chunk's header is valid
	err        error // error that makes this the last chunk to be read

	startNanos, startTicks, perSecond, metadataAt int64

	classes map[int64]*class
	counts  map[int64]int           // number of events by class
	pools   map[int64]map[int64]int // positions of values, by class and number
	stacks  map[int64]recording.CallID
	threads map[int64]*recording.TrackBuilder
	traces
	ids   struct{ thread, stack int64 }
	steps int // steps of skip so far
}

var errCut = errors.New("the content is truncated")

// mostDepth is the maximum nesting depth of values.
const mostDepth = 32

func (c *chunk) take1() byte {
	if c.at >= len(c.b) {
		panic(errCut)
	}
	c.at++
	return c.b[c.at-1]
}

func (c *chunk) bytes(n int64) []byte {
	if n < 0 || n > int64(len(c.b)-c.at) {
		panic(errCut)
	}
	c.at += int(n)
	return c.b[c.at-int(n) : c.at]
}

// varint reads an integer of 7 bits a byte; a ninth byte has all 8 bits.
func (c *chunk) varint() int64 {
	if c.at <= len(c.b)-9 {
		b := c.b[c.at:]
		if b[0] < 0x80 {
			c.at++
			return int64(b[0])
		}
		v, n := decode.Varint(binary.LittleEndian.Uint64(b))
		if c.at += n; n == 9 {
			v |= uint64(b[8]) << 56
		}
		return int64(v)
	}
	var v uint64
	for i := range 9 {
		x := c.take1()
		if i == 8 {
			return int64(v | uint64(x)<<56)
		}
		v |= uint64(x&0x7f) << (7 * i)
		if x < 0x80 {
			break
		}
	}
	return int64(v)
}

// skipNumbers skips n compressed numbers.
func (c *chunk) skipNumbers(n int) {
	for n > 0 {
		if n < 8 || c.at > len(c.b)-9 {
			c.varint()
			n--
			continue
		}
		// Skip the numbers that end in the next eight bytes or, if there are none, one of
		// nine bytes.
		stop := ^binary.LittleEndian.Uint64(c.b[c.at:]) & 0x8080808080808080
		n -= max(1, bits.OnesCount64(stop))
		if c.at += 8 - bits.LeadingZeros64(stop)/8; stop == 0 {
			c.at += 9
		}
	}
}

// number reads a number: compressed, or else of the given size in bytes.
func (c *chunk) number(bytes int64) int64 {
	if c.compressed {
		return c.varint()
	}
	switch b := c.bytes(bytes); bytes {
	case 2:
		return int64(int16(binary.BigEndian.Uint16(b)))
	case 4:
		return int64(int32(binary.BigEndian.Uint32(b)))
	default:
		return int64(binary.BigEndian.Uint64(b))
	}
}

// count reads the number of items that follow, each of at least one byte.
func (c *chunk) count() int {
	n := c.number(4)
	if n < 0 || n > int64(len(c.b)-c.at) {
		panic(errCut)
	}
	return int(n)
}

// text reads a string or, in ref, the number of a string in a table.
func (c *chunk) text() (s string, ref int64) {
	switch c.take1() {
	case 0, 1:
	case 2:
		return "", c.number(8)
	case 3:
		s = strings.ToValidUTF8(string(c.bytes(c.number(4))), "\uFFFD")
	case 4:
		units := make([]uint16, 0, 16)
		for range c.count() {
			units = append(units, uint16(c.number(2)))
		}
		s = string(utf16.Decode(units))
	case 5:
		b := c.bytes(c.number(4))
		runes := make([]rune, len(b))
		for i, x := range b {
			runes[i] = rune(x)
		}
		s = string(runes)
	default:
		panic(errors.New("a string has an unknown encoding"))
	}
	return s, 0
}

// skip skips a value.
func (c *chunk) skip(cl *class, depth int) {
	// Types without fields take no bytes, so a huge number of such values could take
	// forever.
	if c.steps++; depth > mostDepth || c.steps > 1<<20+8*len(c.b) {
		panic(errors.New("values are nested too deeply"))
	}
	switch cl.kind {
	case oneByte:
		c.take1()
	case number:
		c.number(cl.width)
	case float:
		c.bytes(4)
	case double:
		c.bytes(8)
	case text:
		c.text()
	default:
		for i := range cl.fields {
			c.skipField(&cl.fields[i], depth)
		}
	}
}

func (c *chunk) skipField(f *field, depth int) {
	n := 1
	if f.array {
		n = c.count()
	}
	if c.compressed && n > 1 && (f.pool || f.of != nil && f.of.numbers > 0) {
		each := 1
		if !f.pool {
			each = f.of.numbers
		}
		c.skipNumbers(n * each)
		return
	}
	for range n {
		switch {
		case f.pool:
			c.number(8)
		case f.of == nil:
			panic(fmt.Errorf("field %q has no type", f.name))
		default:
			c.skip(f.of, depth+1)
		}
	}
}

// guard calls read and returns the error that it panics with.
func (c *chunk) guard(read func()) (err error) {
	defer func() {
		switch p := recover().(type) {
		case nil:
		case interface {
			error
			RuntimeError()
		}:
			panic(p)
		case error:
			err = p
		default:
			panic(p)
		}
	}()
	read()
	return nil
}

// describe reads the chunk's types, and the positions of the values in its constant pools.
func (c *chunk) describe() {
	c.metadata()
	c.each(func(id int64, end int) {
		if c.counts[id]++; id == 1 {
			c.checkpoint()
		}
	})
}

// take reads the events and passes them to the decoder.
func (c *chunk) take() {
	ids := slices.Sorted(maps.Keys(c.classes))
	for _, name := range first { // in this order, independent of the file
		for _, id := range ids {
			if cl := c.classes[id]; cl.name == name && c.counts[cl.id] > 0 && cl.stack >= 0 {
				c.d.sampleEvent(cl)
			}
		}
	}
	n := 0
	c.each(func(id int64, end int) {
		if n++; n%4096 == 0 {
			c.d.b.Progress()
			if err := c.d.ctx.Err(); err != nil {
				panic(err)
			}
		}
		if cl := c.classes[id]; cl != nil && id > 1 {
			c.event(cl)
			return
		}
		c.d.other.Read++
		c.d.other.Leave("")
	})
}

// each calls visit with the type of each event, at the event's first field.
func (c *chunk) each(visit func(id int64, end int)) {
	for at := headBytes; at < len(c.b); {
		c.at = at
		size := c.number(4)
		if size < 2 || size > int64(len(c.b)-at) {
			panic(fmt.Errorf("the event at byte %d has an invalid size, %s", at, safetext.Plural(size, "byte")))
		}
		end := at + int(size)
		visit(c.number(8), end)
		at = end
	}
}

// checkpoint records the positions of a table's values.
func (c *chunk) checkpoint() {
	for range 3 { // time, duration, position of the next checkpoint
		c.number(8)
	}
	c.take1()
	for range c.count() {
		id := c.number(8)
		cl := c.classes[id]
		if cl == nil {
			panic(errors.New("a constant pool has a type that the metadata does not describe"))
		}
		pool := c.pools[id]
		if pool == nil {
			pool = map[int64]int{}
			c.pools[id] = pool
		}
		for range c.count() {
			key := c.number(8)
			if id == c.ids.stack {
				c.trace(cl, key)
				continue
			}
			pool[key] = c.at
			c.skip(cl, 0)
		}
	}
}

// record holds the fields of an event that are used.
type record struct {
	start, duration, thread, stack, owner, weight int64
	on, name                                      string
	gauges                                        [3]float64
}

func (c *chunk) event(cl *class) {
	ev := record{gauges: [3]float64{math.NaN(), math.NaN(), math.NaN()}}
	for i := range cl.fields {
		switch f := &cl.fields[i]; f.role {
		case isStack:
			ev.stack = c.number(8)
		case isThread:
			ev.thread = c.number(8)
		case isOwner:
			ev.owner = c.number(8)
		case isStart:
			ev.start = c.number(f.of.width)
		case isDuration:
			ev.duration = c.number(f.of.width)
		case isWeight:
			ev.weight = c.number(f.of.width)
		case isGauge:
			ev.gauges[f.gauge] = c.gauge(f)
		case isOn:
			ev.on = c.string(f)
		case isName:
			ev.name = c.string(f)
		case isOnClass:
			ev.on = c.className(c.number(8), f.of)
		default:
			c.skipField(f, 0)
		}
	}
	c.add(cl, &ev)
}

// gauge reads a value of a counter.
func (c *chunk) gauge(f *field) float64 {
	if f.of.kind == float {
		return float64(math.Float32frombits(binary.BigEndian.Uint32(c.bytes(4))))
	}
	return float64(c.number(f.of.width))
}
