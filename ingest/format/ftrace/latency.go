package ftrace

import (
	"bytes"
	"regexp"
	"sync"

	"ashlar/ingest/model/recording"
)

// latency matches a line of the latency format, which the latency tracers and the option
// latency-format print: thread name and id, processor and flags without a blank between
// them, microseconds since the first event, a mark for long delays, and the event.
var latency = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(.*)-(\d+)\s+(\d+)([^\s\d]\S{3,7})\s+(\d+)us\s?([+!#*$@])?\s*:\s+(.*)$`)
})

// called matches an event of the function tracer: a function and its caller.
var called = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^(\S+) (<-\S+)$`) })

// named matches any other event: its name and details.
var named = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^([\w.:-]+):(?:\s+(.*))?$`) })

// match returns the parts of an event as line does, and the power of ten of its time's
// unit in picoseconds; nil for other lines.
func match(l []byte) (m [][]byte, unit int) {
	if m = line().FindSubmatch(l); m != nil {
		return m, 12
	}
	if x := function().FindSubmatch(l); x != nil {
		return x, 12
	}
	x := latency().FindSubmatch(l)
	if x == nil {
		return nil, 0
	}
	m = [][]byte{x[0], x[1], x[2], nil, x[3], x[4], x[5], nil, nil}
	body := bytes.TrimSpace(x[7])
	if f := called().FindSubmatch(body); f != nil {
		m[7], m[8] = f[1], f[2]
	} else if e := named().FindSubmatch(body); e != nil {
		m[7], m[8] = e[1], e[2]
	} else {
		m[7] = body
	}
	return m, 6
}

func matches(l []byte) bool {
	m, _ := match(l)
	return m != nil
}

// function matches an event of the function tracer in the usual format.
var function = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^\s*(.*)-(\d+)\s+(?:\(\s*(\d+|-+)\)\s+)?\[(\d+)\]\s+(?:([^\s:\d][^\s:]{3,7}?)\s*)?(\d+\.\d+):\s+(\S+) (<-\S+)$`)
})

// stackLine reads a line of a kernel stack below an event; it returns false for other
// lines.
func (d *decoder) stackLine(l []byte) bool {
	if !bytes.HasPrefix(bytes.TrimSpace(l), []byte("=> ")) {
		return false
	}
	d.b.Remark("stack-not-shown", d.place(), "Line %d is part of a stack below an event; these stacks are not shown", d.n)
	return true
}

// clock sets the recording's clock: its unit, 10^power picoseconds, and its origin, the
// first time in the file.
func (d *decoder) clock(power int, first recording.Decimal) {
	c := recording.Clock{Unit: "seconds", PerUnit: 1e12, Origin: first}
	if power == 6 {
		c.Unit, c.PerUnit = "us", 1e6
	}
	*d.b.Clock() = c
}
