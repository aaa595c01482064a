package jfr

import (
	"errors"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// class is a type of events or of values.
type class struct {
	id       int64
	name     string
	kind     kind
	width    int64 // size of uncompressed numbers in bytes
	fields   []field
	numbers  int // count of numbers that make up a value, 0 if it has other parts
	stack    int // index of the stack field, -1 if there is none
	weight   int // index in weights, -1 if there is none
	threaded bool
	timed    bool // its events have a duration

	counters []string // see gaugeFields
	lasting  lasting
	lasts    bool // its events are states of their thread
}

type field struct {
	name        string
	class       int64
	of          *class
	pool, array bool
	role        role
	gauge       int // index in class.counters
}

// role is the use of a field of an event or frame. It follows from names and types, which
// are compared once per chunk.
type role uint8

const (
	isPassed role = iota
	isStack
	isThread
	isOwner
	isStart
	isDuration
	isWeight
	isGauge
	isOn      // the object that the thread waits for, as text
	isOnClass // the object that the thread waits for, as a class
	isName

	isMethod // from here on: uses of a frame's fields
	isLine
	isKind
)

// role returns the use of a field in an event.
func (cl *class) role(i int) role {
	f := &cl.fields[i]
	switch {
	case i == cl.stack:
		return isStack
	case f.name == "eventThread" || f.name == "sampledThread":
		return isThread
	case f.name == "previousOwner" && f.pool:
		return isOwner
	case f.array || f.of == nil:
		return isPassed
	case f.of.kind == number && f.name == "startTime":
		return isStart
	case f.of.kind == number && f.name == "duration":
		return isDuration
	case f.of.kind == number && cl.weight >= 0 && f.name == weights[cl.weight].field:
		return isWeight
	case f.of.kind == number || f.of.kind == float:
		if f.gauge = slices.Index(cl.counters, f.name); f.gauge >= 0 {
			return isGauge
		}
	case f.of.kind == text && f.name == cl.lasting.on:
		return isOn
	case f.of.kind == text && f.name == "name":
		return isName
	case f.pool && f.name == cl.lasting.on:
		return isOnClass
	}
	return isPassed
}

// frameRole returns the use of a field in a frame.
func (f *field) frameRole() role {
	switch {
	case f.name == "method" && f.pool:
		return isMethod
	case f.name == "lineNumber" && f.of != nil && f.of.kind == number:
		return isLine
	case f.name == "type" && f.pool:
		return isKind
	}
	return isPassed
}

// field returns the index of a field, -1 if there is none.
func (cl *class) field(name string) int {
	return slices.IndexFunc(cl.fields, func(f field) bool { return f.name == name })
}

// short returns a type's name without its package.
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

var width = map[string]int64{"short": 2, "char": 2, "int": 4, "long": 8}

// element is a node of the tree that describes types.
type element struct {
	name     string
	attrs    map[string]string
	children []*element
}

// metadata reads a chunk's description of its event types.
func (c *chunk) metadata() {
	if c.metadataAt < headBytes || c.metadataAt >= int64(len(c.b)) {
		panic(errors.New("event descriptions are missing"))
	}
	c.at = int(c.metadataAt)
	c.number(4)
	for range 4 { // type, time, duration, number
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
			panic(errors.New("a type refers to a missing name"))
		}
		return names[i]
	}
	var tree func(depth int) *element
	tree = func(depth int) *element {
		if depth > mostDepth {
			panic(errors.New("types are nested too deeply"))
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
	c.resolve()
}

// resolve finds the types of fields after all types were read. In a damaged file two types
// may have the same name; the one with the larger id counts.
func (c *chunk) resolve() {
	for _, id := range slices.Sorted(maps.Keys(c.classes)) {
		cl := c.classes[id]
		for i := range cl.fields {
			f := &cl.fields[i]
			f.of = c.classes[f.class]
			if f.role = cl.role(i); cl.name == "jdk.types.StackFrame" {
				f.role = f.frameRole()
			}
		}
		cl.numbers = len(cl.fields)
		for i := range cl.fields {
			if f := &cl.fields[i]; f.array || !f.pool && (f.of == nil || f.of.kind != number) {
				cl.numbers = 0
			}
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
	cl := &class{id: id, name: e.attrs["name"], kind: kinds[e.attrs["name"]], width: width[e.attrs["name"]], weight: -1}
	cl.counters = gaugeFields[cl.name]
	cl.lasting, cl.lasts = states[cl.name]
	for _, f := range e.children {
		if f.name != "field" {
			continue
		}
		of, _ := strconv.ParseInt(f.attrs["class"], 10, 64)
		cl.fields = append(cl.fields, field{name: f.attrs["name"], class: of, pool: f.attrs["constantPool"] == "true", array: f.attrs["dimension"] == "1"})
	}
	cl.stack = cl.field("stackTrace")
	cl.threaded, cl.timed = cl.field("eventThread") >= 0, cl.field("duration") >= 0
	for i := len(weights) - 1; i >= 0; i-- {
		if cl.field(weights[i].field) >= 0 {
			cl.weight = i
		}
	}
	c.classes[id] = cl
}
