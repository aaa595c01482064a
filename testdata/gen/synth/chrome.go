package synth

import (
	"encoding/json"
	"strconv"
)

// chrome writes Google's trace events as JSON: an object with the names of
// processes and threads first, then B and E pairs and, for a part of the
// functions, X events (written as they end, so that they are not sorted).
type chrome struct {
	*output
	prog  *program
	sum   *Summary
	names []string // of functions, as JSON
	cats  []string // of functions, as JSON
}

// The most that an event takes without its name and category.
const (
	chromeBeginBytes = 71
	chromeEndBytes   = 55
	chromeArgsBytes  = 62
)

func writeChrome(out *output, o Options) (*Summary, error) {
	p := newProgram(o.Seed, o.Threads, defaultPaths)
	sum := newSummary(p)
	c := &chrome{output: out, prog: p, sum: sum}
	for _, f := range p.funcs {
		name, err := json.Marshal(f.name)
		if err != nil {
			return nil, err
		}
		c.names = append(c.names, string(name))
		c.cats = append(c.cats, strconv.Quote(modules[f.module].spaces[0]))
	}
	out.buf = append(out.buf, `{"displayTimeUnit":"ns","otherData":{"recorder":"synth"},"traceEvents":[`...)
	for i, t := range p.threads {
		c.metadata(t.pid, t.tid, "process_name", `"name":`+strconv.Quote(processes[roles[t.role].process].name))
		c.metadata(t.pid, t.tid, "thread_name", `"name":`+strconv.Quote(t.name))
		c.metadata(t.pid, t.tid, "thread_sort_index", `"sort_index":`+strconv.Itoa(i))
	}
	writeTrace(p, sum, c, o, sum.Records, out.bytes())
	out.buf = append(out.buf, "\n]}\n"...)
	return sum, nil
}

func (c *chrome) metadata(pid, tid int, name, args string) {
	c.open("M")
	c.buf = append(c.buf, `,"pid":`...)
	c.buf = strconv.AppendInt(c.buf, int64(pid), 10)
	c.buf = append(c.buf, `,"tid":`...)
	c.buf = strconv.AppendInt(c.buf, int64(tid), 10)
	c.buf = append(c.buf, `,"name":"`+name+`","args":{`+args+`}}`...)
}

// complete says which calls are X events: most that call nothing, some others.
func (c *chrome) complete(call uint32) bool {
	n := &c.prog.calls[call]
	if n.nkid == 0 {
		return n.fn%4 != 0
	}
	return n.fn%8 == 1
}

func (c *chrome) hasArgs(call uint32) bool { return c.prog.calls[call].fn%3 == 0 }

func (c *chrome) size(call uint32) (records, bytes int) {
	fn := c.prog.calls[call].fn
	n := chromeBeginBytes + len(c.names[fn]) + len(c.cats[fn])
	if c.hasArgs(call) {
		n += chromeArgsBytes
	}
	if c.complete(call) {
		return 1, n + len(`,"dur":10.000`)
	}
	return 2, n + chromeEndBytes + len(`,"name":`) + len(c.names[fn])
}

func (c *chrome) startBuffer(*thread) {}
func (c *chrome) endBuffer(*thread)   {}

func (c *chrome) begin(t *thread, call uint32) {
	if c.complete(call) {
		return
	}
	c.event("B", t, t.clock)
	c.details(call, t.clock)
}

func (c *chrome) end(t *thread, o openCall) {
	if !c.complete(o.call) {
		c.event("E", t, t.clock)
		c.buf = append(c.buf, `,"name":`...) // which need not be, but some readers want
		c.buf = append(c.buf, c.names[c.prog.calls[o.call].fn]...)
		c.buf = append(c.buf, '}')
		c.settle()
		return
	}
	c.event("X", t, o.start)
	c.buf = append(c.buf, `,"dur":`...)
	c.buf = appendMicros(c.buf, t.clock-o.start)
	c.details(o.call, o.start)
}

func (c *chrome) open(phase string) {
	if c.sum.Records > 0 {
		c.buf = append(c.buf, ',')
	}
	c.sum.Records++
	c.buf = append(c.buf, "\n{\"ph\":\""...)
	c.buf = append(c.buf, phase...)
	c.buf = append(c.buf, '"')
}

func (c *chrome) event(phase string, t *thread, at int64) {
	c.open(phase)
	c.buf = append(c.buf, `,"ts":`...)
	c.buf = appendMicros(c.buf, at)
	c.buf = append(c.buf, `,"pid":`...)
	c.buf = strconv.AppendInt(c.buf, int64(t.pid), 10)
	c.buf = append(c.buf, `,"tid":`...)
	c.buf = strconv.AppendInt(c.buf, int64(t.tid), 10)
}

// details appends name, category and arguments, and closes the event.
func (c *chrome) details(call uint32, at int64) {
	fn := c.prog.calls[call].fn
	c.buf = append(c.buf, `,"name":`...)
	c.buf = append(c.buf, c.names[fn]...)
	c.buf = append(c.buf, `,"cat":`...)
	c.buf = append(c.buf, c.cats[fn]...)
	if c.hasArgs(call) {
		mix := uint64(at) * 0x9E3779B97F4A7C15
		c.buf = append(c.buf, `,"args":{"id":`...)
		c.buf = strconv.AppendUint(c.buf, mix>>44, 10)
		if mix>>40&1 == 0 {
			c.buf = append(c.buf, `,"key":"basket\/`...)
			c.buf = strconv.AppendUint(c.buf, mix>>34&0x3ff, 10)
			c.buf = append(c.buf, `\tcaf\u00e9 \"x\"","retry":false`...)
		} else {
			c.buf = append(c.buf, `,"rows":[1,2.5e3,null],"at":{"shard":`...)
			c.buf = strconv.AppendUint(c.buf, mix>>34&0xf, 10)
			c.buf = append(c.buf, `}`...)
		}
		c.buf = append(c.buf, '}')
	}
	c.buf = append(c.buf, '}')
	c.settle()
}

// appendMicros appends ns as µs with three decimals.
func appendMicros(b []byte, ns int64) []byte {
	b = strconv.AppendInt(b, ns/1000, 10)
	rest := ns % 1000
	return append(b, '.', byte('0'+rest/100), byte('0'+rest/10%10), byte('0'+rest%10))
}
