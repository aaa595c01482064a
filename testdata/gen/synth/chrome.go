package synth

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
)

// chrome writes Google's trace events as JSON: an object that begins with the names of
// processes and threads, followed by the events in the form of a shape.
type chrome struct {
	*output
	shape *chromeShape
	prog  *program
	sum   *Summary
	names []string // function names, as JSON without the closing quote
	cats  []string // categories of functions, as JSON

	held    []chromeEvent // events, if a shape reorders them
	begun   [][]int       // indices in held of the open X events, by thread
	started int           // calls
	from    int           // start of the event in buf
	indent  bytes.Buffer
}

// chromeEvent is an event before it is written.
type chromeEvent struct {
	ph         byte
	at, length int64 // ns
	call       uint32
	thread     int32
	id         int // id of the operation or the flow
}

// written returns the time at which a program that writes each event as soon as it ends
// writes this one.
func (e *chromeEvent) written() int64 { return e.at + e.length }

// The largest sizes of events in bytes, without name and category.
const (
	chromeBeginBytes = 71
	chromeEndBytes   = 55
	chromeArgsBytes  = 62
)

func writeChrome(out *output, o Options) (*Summary, error) {
	shape := chromeShapeOf(o.Shape)
	if shape.threads > 0 {
		o.Threads = shape.threads
	}
	p := newProgram(o.Seed, o.Threads, defaultPaths)
	if shape.wander != nil {
		p = p.wandering(shape.wander.depth, shape.wander.again, shape.wander.calls)
	}
	sum := newSummary(p)
	c := &chrome{output: out, shape: shape, prog: p, sum: sum, begun: make([][]int, o.Threads)}
	for _, f := range p.funcs {
		name, err := json.Marshal(f.name)
		if err != nil {
			return nil, err
		}
		c.names = append(c.names, string(name[:len(name)-1])+shape.suffix)
		c.cats = append(c.cats, strconv.Quote(modules[f.module].spaces[0]))
	}
	out.buf = append(out.buf, `{"displayTimeUnit":"ns","otherData":{"recorder":"synth"},"traceEvents":[`...)
	for i, t := range p.threads {
		c.metadata(t.pid, t.tid, "process_name", `"name":`+strconv.Quote(processes[roles[t.role].process].name))
		c.metadata(t.pid, t.tid, "thread_name", `"name":`+strconv.Quote(t.name))
		c.metadata(t.pid, t.tid, "thread_sort_index", `"sort_index":`+strconv.Itoa(i))
	}
	writeTrace(p, sum, c, o, sum.Records, out.bytes())
	if shape.order != nil {
		shape.order(c.held)
	}
	for i := range c.held {
		c.write(&c.held[i])
	}
	if shape.numbered {
		sum.Functions = sum.Paths
	}
	if shape.unique {
		sum.Functions, sum.Paths = int(sum.Spans), int(sum.Spans)
	}
	out.buf = append(out.buf, c.newline()+"]}"+c.newline()...)
	return sum, nil
}

func (c *chrome) newline() string {
	if c.shape.crlf {
		return "\r\n"
	}
	return "\n"
}

func (c *chrome) metadata(pid, tid int, name, args string) {
	c.open('M')
	c.where(pid, tid)
	c.buf = append(c.buf, `,"name":"`+name+`","args":{`+args+`}`...)
	c.close()
}

func (c *chrome) complete(call uint32) bool { return c.shape.complete(&c.prog.calls[call]) }

func (c *chrome) hasArgs(call uint32) bool {
	return c.shape.longArgs || c.prog.calls[call].fn%3 == 0
}

func (c *chrome) size(call uint32) (records, bytes int) {
	fn := c.prog.calls[call].fn
	n := chromeBeginBytes + len(c.names[fn]) + 1 + len(c.cats[fn])
	switch {
	case c.shape.longArgs:
		n += 300
	case c.hasArgs(call):
		n += chromeArgsBytes
	}
	if c.shape.pretty {
		n += 60
	}
	if c.complete(call) {
		return 1, n + len(`,"dur":10.000`)
	}
	return 2, n + chromeEndBytes + len(`,"name":`) + len(c.names[fn]) + 1
}

func (c *chrome) startBuffer(*thread) {}
func (c *chrome) endBuffer(*thread)   {}

// put writes an event or, if the shape reorders events, holds it until the end.
func (c *chrome) put(e chromeEvent) {
	if c.shape.order != nil {
		c.held = append(c.held, e)
		return
	}
	c.write(&e)
}

func (c *chrome) begin(t *thread, call uint32) {
	c.started++
	e := chromeEvent{ph: 'B', at: t.clock, call: call, thread: int32(t.index), id: c.started}
	switch {
	case c.shape.between && c.started%4 == 0:
		m := e
		m.ph = "isif"[c.started/4%4]
		m.id = c.started / 16
		c.put(m)
	case c.shape.async:
		e.ph, e.id = 'b', t.index
	}
	if !c.complete(call) {
		c.put(e)
		return
	}
	if c.shape.order != nil {
		e.ph = 'X'
		c.begun[t.index] = append(c.begun[t.index], len(c.held))
		c.put(e)
	}
}

func (c *chrome) end(t *thread, o openCall) {
	e := chromeEvent{ph: 'E', at: t.clock, call: o.call, thread: int32(t.index)}
	switch {
	case c.complete(o.call) && c.shape.order != nil:
		last := len(c.begun[t.index]) - 1
		c.held[c.begun[t.index][last]].length = t.clock - o.start
		c.begun[t.index] = c.begun[t.index][:last]
		return
	case c.complete(o.call):
		e.ph, e.at, e.length = 'X', o.start, t.clock-o.start
	case c.shape.async:
		e.ph, e.id = 'e', t.index
	}
	c.put(e)
}

func (c *chrome) write(e *chromeEvent) {
	t := &c.prog.threads[e.thread]
	c.open(e.ph)
	c.buf = append(c.buf, `,"ts":`...)
	c.buf = appendMicros(c.buf, e.at)
	c.where(t.pid, t.tid)
	if e.ph == 'X' {
		c.buf = append(c.buf, `,"dur":`...)
		c.buf = appendMicros(c.buf, e.length)
	}
	fn := c.prog.calls[e.call].fn
	c.buf = append(c.buf, `,"name":`...) // also in end events: it is optional there, but some readers need it
	c.buf = append(c.buf, c.names[fn]...)
	if c.shape.numbered {
		c.buf = append(c.buf, " #"...)
		c.buf = strconv.AppendInt(c.buf, int64(e.call), 10)
	}
	if c.shape.unique {
		c.buf = append(strconv.AppendInt(append(c.buf, " #"...), e.at, 36), '.')
		c.buf = strconv.AppendInt(c.buf, int64(e.thread), 36)
	}
	c.buf = append(c.buf, '"')
	switch e.ph {
	case 'E':
		c.close()
		return
	case 'b', 'e', 's', 'f':
		c.buf = append(c.buf, `,"id":"0x`...)
		c.buf = strconv.AppendInt(c.buf, int64(e.id), 16)
		c.buf = append(c.buf, `","bp":"e"`...)
	case 'i':
		c.buf = append(c.buf, `,"s":"t"`...)
	}
	c.buf = append(c.buf, `,"cat":`...)
	if e.ph == 's' || e.ph == 'f' {
		c.buf = append(c.buf, `"flow"`...)
	} else {
		c.buf = append(c.buf, c.cats[fn]...)
	}
	if c.hasArgs(e.call) && e.ph != 'e' {
		c.args(e)
	}
	c.close()
}

func (c *chrome) args(e *chromeEvent) {
	mix := uint64(e.at) * 0x9E3779B97F4A7C15
	c.buf = append(c.buf, `,"args":{"id":`...)
	c.buf = strconv.AppendUint(c.buf, mix>>44, 10)
	switch {
	case c.shape.longArgs:
		c.buf = fmt.Appendf(c.buf, longArgs, mix>>50, mix>>40&0xff, mix>>32, mix>>56, mix>>20&0xffff)
	case mix>>40&1 == 0:
		c.buf = append(c.buf, `,"key":"basket\/`...)
		c.buf = strconv.AppendUint(c.buf, mix>>34&0x3ff, 10)
		c.buf = append(c.buf, `\tcaf\u00e9 \"x\"","retry":false`...)
	default:
		c.buf = append(c.buf, `,"rows":[1,2.5e3,null],"at":{"shard":`...)
		c.buf = strconv.AppendUint(c.buf, mix>>34&0xf, 10)
		c.buf = append(c.buf, `}`...)
	}
	c.buf = append(c.buf, '}')
}

// longArgs are arguments like those that profilers for machine learning write for each
// kernel.
const longArgs = `,"External id":%d,"Record function id":0,"Concrete Inputs":["","[%d, 512]","","False"],"Input type":["float","float","","Scalar"],"Input Dims":[[8,128,512],[512,512],[],[]],"Ev Idx":%d,"stream":7,"correlation":%d,"grid":[128,1,1],"block":[256,1,1],"est. achieved occupancy %%":%d`

// open begins an event.
func (c *chrome) open(phase byte) {
	if c.sum.Records > 0 {
		c.buf = append(c.buf, ',')
	}
	c.sum.Records++
	c.buf = append(c.buf, c.newline()...)
	c.from = len(c.buf)
	c.buf = append(c.buf, `{"ph":"`...)
	c.buf = append(c.buf, phase, '"')
}

func (c *chrome) where(pid, tid int) {
	c.buf = append(c.buf, `,"pid":`...)
	c.buf = strconv.AppendInt(c.buf, int64(pid), 10)
	c.buf = append(c.buf, `,"tid":`...)
	c.buf = strconv.AppendInt(c.buf, int64(tid), 10)
}

// close ends an event.
func (c *chrome) close() {
	c.buf = append(c.buf, '}')
	if c.shape.pretty {
		c.indent.Reset()
		if err := json.Indent(&c.indent, c.buf[c.from:], "  ", "  "); err != nil {
			panic(err) // cannot fail: the JSON was generated here
		}
		c.buf = append(c.buf[:c.from], c.indent.Bytes()...)
	}
	c.settle()
}

// appendMicros appends ns as µs with three decimals.
func appendMicros(b []byte, ns int64) []byte {
	b = strconv.AppendInt(b, ns/1000, 10)
	rest := ns % 1000
	return append(b, '.', byte('0'+rest/100), byte('0'+rest/10%10), byte('0'+rest%10))
}

// A chromeShape is one of the ways in which programs write trace events.
type chromeShape struct {
	name, what string
	// complete reports whether a call is an X event; other calls are a B and an E.
	complete func(*call) bool
	// order sorts the events into file order; before that, they are sorted by begin. If
	// order is nil, the events of each thread's buffers stay in the order in which the
	// buffers are filled, each X event at the place where its call ends.
	order func([]chromeEvent)

	threads  int
	suffix   string // suffix of names
	numbered bool   // each call has its own name
	unique   bool   // each span has its own name
	wander   *wander
	longArgs bool // on each event
	async    bool // b and e in place of B and E
	between  bool // instants and flows between them
	pretty   bool
	crlf     bool
}

func all(*call) bool  { return true }
func none(*call) bool { return false }

// some reports true for most calls without children, and for some others.
func some(n *call) bool {
	if n.nkid == 0 {
		return n.fn%4 != 0
	}
	return n.fn%8 == 1
}

var chromeShapes = []chromeShape{
	{name: "", what: "B, E and X, each thread's buffer at a time", complete: some},
	{name: "begin-end", what: "B and E", complete: none},
	{name: "x-before", what: "X before its children", complete: all, order: func([]chromeEvent) {}},
	{name: "x-behind", what: "X behind its children", complete: all},
	{name: "x-by-end", what: "X by end over all threads", complete: all, order: byTime((*chromeEvent).written)},
	{name: "mixed-by-end", what: "B, E and X as they are written over all threads", complete: some, order: byTime((*chromeEvent).written)},
	{name: "x-by-start", what: "X by start over all threads", complete: all, order: byTime(func(e *chromeEvent) int64 { return e.at })},
	{name: "x-random", what: "X in random order", complete: all, order: byTime(func(e *chromeEvent) int64 {
		return int64((uint64(e.at)*0x9E3779B97F4A7C15 ^ uint64(e.thread)) * 0xC2B2AE3D27D4EB4F >> 1)
	})},
	{name: "async", what: "nested async", complete: none, async: true},
	{name: "between", what: "instants and flows between", complete: some, between: true},
	{name: oneThread, what: "one thread", complete: some, threads: 1},
	{name: "threads", what: "2,000 threads", complete: some, threads: 2000},
	{name: "names", what: "50,000 names", complete: some, numbered: true},
	{name: millionNames, what: "a name for each span", complete: all, unique: true},
	{name: manyPaths, what: "nearly as many call paths as spans", complete: all, order: func([]chromeEvent) {}, wander: &wander{depth: maxDepth, again: manyAgain}},
	{name: recursion, what: "recursion of 1,000 frames, nearly as many call paths as spans", complete: all, order: func([]chromeEvent) {}, wander: &wander{depth: 1000, again: 160, calls: 4}},
	{name: "args", what: "300 bytes of arguments on every X", complete: all, longArgs: true},
	{name: "pretty", what: "indented", complete: some, pretty: true},
	{name: "crlf", what: "CRLF", complete: some, crlf: true},
	{name: "escapes", what: "escapes and UTF-8 in names", complete: some, suffix: ` caf\u00e9 \"größer\" \/ 世界`},
}

// byTime returns a function that stably sorts events by a time.
func byTime(of func(*chromeEvent) int64) func([]chromeEvent) {
	return func(all []chromeEvent) {
		slices.SortStableFunc(all, func(a, b chromeEvent) int {
			return int(min(1, max(-1, of(&a)-of(&b))))
		})
	}
}

func chromeShapeOf(name string) *chromeShape {
	for i := range chromeShapes {
		if s := &chromeShapes[i]; s.name == name {
			return s
		}
	}
	return &chromeShapes[0]
}
