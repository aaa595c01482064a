package jfr

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf16"

	"ashlar/ingest/plain"
	"ashlar/ingest/recording"
)

// chunk is one under way. Its content is read at a place, and what cannot be read
// panics with errCut.
type chunk struct {
	d          *decoder
	b          []byte
	at         int
	compressed bool

	startNanos, startTicks, perSecond, metadataAt int64

	classes map[int64]*class
	pools   map[int64]map[int64]int // where values lie, by class and number
	stacks  map[int64]recording.CallID
	threads map[int64]*recording.TrackBuilder
	frames  map[frameKey]recording.FrameID
	ids     struct{ thread, stack int64 }
	steps   int // of skip
}

// class is a type of events or of values.
type class struct {
	id       int64
	name     string
	kind     kind
	fields   []field
	stack    int // the field that is the stack, -1 where there is none
	weight   int // of weights, -1 where there is none
	threaded bool
}

type field struct {
	name        string
	class       int64
	of          *class
	pool, array bool
}

// field is a field's place, -1 where there is none.
func (cl *class) field(name string) int {
	return slices.IndexFunc(cl.fields, func(f field) bool { return f.name == name })
}

// short is a type's name without its package.
func (cl *class) short() string { return cl.name[strings.LastIndexByte(cl.name, '.')+1:] }

type kind uint8

const (
	composed kind = iota
	oneByte
	number
	float
	double
	text
)

var kinds = map[string]kind{"boolean": oneByte, "byte": oneByte, "short": number, "char": number, "int": number, "long": number,
	"float": float, "double": double, "java.lang.String": text}

var errCut = errors.New("its content ends too early")

// mostDepth bounds how deep values lie in each other.
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

// varint is a number of 7 bits a byte, the ninth byte with all of its 8.
func (c *chunk) varint() int64 {
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

// number is one of a type, of so many bytes where numbers are not compressed.
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

// count is how many things follow, of which each has a byte at least.
func (c *chunk) count() int {
	n := c.number(4)
	if n < 0 || n > int64(len(c.b)-c.at) {
		panic(errCut)
	}
	return int(n)
}

// text is a string, or the number of one.
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
		panic(errors.New("it has a text in a coding that is not known"))
	}
	return s, 0
}

// skip passes over a value.
func (c *chunk) skip(cl *class, depth int) {
	// Types without fields take no bytes: those of many such would take for ever.
	if c.steps++; depth > mostDepth || c.steps > 1<<20+8*len(c.b) {
		panic(errors.New("its values lie too deep in each other"))
	}
	switch cl.kind {
	case oneByte:
		c.take1()
	case number:
		c.number(width[cl.name])
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

var width = map[string]int64{"short": 2, "char": 2, "int": 4, "long": 8}

func (c *chunk) skipField(f *field, depth int) {
	n := 1
	if f.array {
		n = c.count()
	}
	for range n {
		switch {
		case f.pool:
			c.number(8)
		case f.of == nil:
			panic(fmt.Errorf("a field %q is of no type", f.name))
		default:
			c.skip(f.of, depth+1)
		}
	}
}

// read reads the types, the tables and then the events.
func (c *chunk) read() (err error) {
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
	c.metadata()
	var counts = map[int64]int{}
	c.each(func(id int64, end int) {
		if counts[id]++; id == 1 {
			c.checkpoint()
		}
	})
	for _, name := range first { // in this order, whichever comes first
		for _, cl := range c.classes {
			if cl.name == name && counts[cl.id] > 0 && cl.stack >= 0 {
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
	return nil
}

// each visits the events by their type, at what stands behind that.
func (c *chunk) each(visit func(id int64, end int)) {
	for at := headBytes; at < len(c.b); {
		c.at = at
		size := c.number(4)
		if size < 2 || size > int64(len(c.b)-at) {
			panic(fmt.Errorf("an event at byte %d of it has %s", at, plain.Plural(size, "byte")))
		}
		end := at + int(size)
		visit(c.number(8), end)
		at = end
	}
}

// element is one of the tree that describes types.
type element struct {
	name     string
	attrs    map[string]string
	children []*element
}

func (c *chunk) metadata() {
	if c.metadataAt < headBytes || c.metadataAt >= int64(len(c.b)) {
		panic(errors.New("it does not say what its events are"))
	}
	c.at = int(c.metadataAt)
	c.number(4)
	for range 4 { // its type, its time, how long it took, its number
		c.number(8)
	}
	names := make([]string, 0, 64)
	for range c.count() {
		s, _ := c.text()
		names = append(names, s)
	}
	name := func() string {
		i := c.number(4)
		if i < 0 || i >= int64(len(names)) {
			panic(errors.New("a name of its types is none of the names"))
		}
		return names[i]
	}
	var tree func(depth int) *element
	tree = func(depth int) *element {
		if depth > mostDepth {
			panic(errors.New("its types lie too deep in each other"))
		}
		e := &element{name: name(), attrs: map[string]string{}}
		for range c.count() {
			k := name()
			e.attrs[k] = name()
		}
		for range c.count() {
			e.children = append(e.children, tree(depth+1))
		}
		return e
	}
	for _, m := range tree(0).children {
		for _, e := range m.children {
			if e.name == "class" {
				c.class(e)
			}
		}
	}
	for _, cl := range c.classes {
		for i := range cl.fields {
			cl.fields[i].of = c.classes[cl.fields[i].class]
		}
		switch cl.name {
		case "java.lang.Thread":
			c.ids.thread = cl.id
		case "jdk.types.StackTrace":
			c.ids.stack = cl.id
		}
	}
}

func (c *chunk) class(e *element) {
	id, err := strconv.ParseInt(e.attrs["id"], 10, 64)
	if err != nil {
		return
	}
	cl := &class{id: id, name: e.attrs["name"], kind: kinds[e.attrs["name"]], weight: -1}
	for _, f := range e.children {
		if f.name != "field" {
			continue
		}
		of, _ := strconv.ParseInt(f.attrs["class"], 10, 64)
		cl.fields = append(cl.fields, field{name: f.attrs["name"], class: of, pool: f.attrs["constantPool"] == "true", array: f.attrs["dimension"] == "1"})
	}
	cl.stack = cl.field("stackTrace")
	cl.threaded = cl.field("eventThread") >= 0
	for i := len(weights) - 1; i >= 0; i-- {
		if cl.field(weights[i].field) >= 0 {
			cl.weight = i
		}
	}
	c.classes[id] = cl
}

// checkpoint notes where the values of a table lie.
func (c *chunk) checkpoint() {
	for range 3 { // its time, how long it took, where the next is
		c.number(8)
	}
	c.take1()
	for range c.count() {
		id := c.number(8)
		cl := c.classes[id]
		if cl == nil {
			panic(errors.New("a table is of a type that is not described"))
		}
		pool := c.pools[id]
		if pool == nil {
			pool = map[int64]int{}
			c.pools[id] = pool
		}
		for range c.count() {
			key := c.number(8)
			pool[key] = c.at
			c.skip(cl, 0)
		}
	}
}

// record has the fields of an event that are taken.
type record struct {
	start, duration, thread, stack, owner, weight int64
	on, name                                      string
	gauges                                        [3]float64
}

func (c *chunk) event(cl *class) {
	ev := record{gauges: [3]float64{math.NaN(), math.NaN(), math.NaN()}}
	on, counters := lasting[cl.name].on, gaugeFields[cl.name]
	for i := range cl.fields {
		f := &cl.fields[i]
		switch {
		case i == cl.stack:
			ev.stack = c.number(8)
		case f.name == "eventThread" || f.name == "sampledThread":
			ev.thread = c.number(8)
		case f.name == "previousOwner" && f.pool:
			ev.owner = c.number(8)
		case f.array || f.of == nil:
			c.skipField(f, 0)
		case f.of.kind == number:
			v := c.number(width[f.of.name])
			switch {
			case f.name == "startTime":
				ev.start = v
			case f.name == "duration":
				ev.duration = v
			case cl.weight >= 0 && f.name == weights[cl.weight].field:
				ev.weight = v
			}
			ev.gauge(counters, f.name, float64(v))
		case f.of.kind == float:
			ev.gauge(counters, f.name, float64(math.Float32frombits(binary.BigEndian.Uint32(c.bytes(4)))))
		case f.of.kind == text && (f.name == on || f.name == "name"):
			s := c.string(f)
			if f.name == on {
				ev.on = s
			} else {
				ev.name = s
			}
		case f.pool && f.name == on:
			ev.on = c.className(c.number(8), f.of)
		default:
			c.skipField(f, 0)
		}
	}
	c.take(cl, &ev)
}

func (ev *record) gauge(counters []string, name string, v float64) {
	if i := slices.Index(counters, name); i >= 0 {
		ev.gauges[i] = v
	}
}
