package fuchsia

import (
	"math"
	"strconv"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/model/recording"
)

// Types of events.
const (
	instant = iota
	counter
	begin
	end
	complete
	asyncBegin
	asyncInstant
	asyncEnd
	flowBegin
	flowStep
	flowEnd
)

// An arg is an argument: its value as JSON, as raw bits and, if it is numeric, as a
// number.
type arg struct {
	name    string
	json    []byte
	bits    uint64
	number  float64
	numeric bool
}

// args reads n arguments.
func (d *decoder) args(c *cursor, n uint64) (out []arg) {
	for range n {
		if c.bad {
			return out
		}
		from := c.b
		head := c.word()
		size := field(head, 4, 15) * 8
		if size == 0 || size > uint64(len(from)) {
			c.bad = true
			return out
		}
		in := &cursor{b: from[8:size]}
		out = append(out, d.arg(in, head))
		c.b, c.bad = from[size:], in.bad
	}
	return out
}

// arg reads an argument.
func (d *decoder) arg(c *cursor, head uint64) arg {
	a := arg{name: d.ref(c, field(head, 16, 31)), json: []byte("null")}
	whole := func(signed bool) {
		a.numeric = true
		if signed {
			a.number, a.json = float64(int64(a.bits)), strconv.AppendInt(nil, int64(a.bits), 10)
		} else {
			a.number, a.json = float64(a.bits), strconv.AppendUint(nil, a.bits, 10)
		}
	}
	switch field(head, 0, 3) {
	case 1:
		a.bits = uint64(int64(int32(field(head, 32, 63))))
		whole(true)
	case 2:
		a.bits = field(head, 32, 63)
		whole(false)
	case 3:
		a.bits = c.word()
		whole(true)
	case 4:
		a.bits = c.word()
		whole(false)
	case 5:
		a.bits = c.word()
		a.number, a.numeric = math.Float64frombits(a.bits), true
		a.json = decode.Float(a.number)
	case 6:
		a.json = decode.Quoted(d.ref(c, field(head, 32, 47)))
	case 7:
		a.bits = c.word()
		a.json = decode.Quoted("0x" + strconv.FormatUint(a.bits, 16))
	case 8: // id of a kernel object
		a.bits = c.word()
		a.json = strconv.AppendUint(nil, a.bits, 10)
	case 9:
		a.json = strconv.AppendBool(nil, field(head, 32, 32) != 0)
	}
	return a
}

// keep stores arguments and returns a reference to them.
func (d *decoder) keep(args []arg) uint64 {
	var all decode.Args
	for _, a := range args {
		all.Raw(a.name, a.json)
	}
	if text := all.JSON(); text != nil {
		return d.texts.Add(text)
	}
	return 0
}

// event reads an event. It reports whether any part of the event is kept.
func (d *decoder) event(c *cursor, head uint64) bool {
	ticks := c.word()
	of := d.thread(c, field(head, 24, 31))
	category := d.ref(c, field(head, 32, 47))
	name := d.ref(c, field(head, 48, 63))
	args := d.args(c, field(head, 20, 23))
	kind := field(head, 16, 19)
	var extra uint64
	if kind == counter || kind >= complete {
		extra = c.word()
	}
	if c.bad {
		return false
	}
	at := d.time(ticks)
	t := d.track(of)
	switch kind {
	case instant:
		t.builder.Instant(at, name, d.keep(args))
	case counter:
		return d.count(of.pid, name, extra, args, at)
	case begin:
		t.open = append(t.open, opened{t.forward(d, at), d.frame(name, category), d.keep(args)})
		d.b.Cover(at, at)
	case end:
		return t.close(d, at, args)
	case complete:
		stop := d.time(extra)
		if stop < at {
			d.b.Warn("span-backward", decode.Byte(d.at), "The span at byte %d ends before it starts; it is shown without length", d.at)
			d.records.Mend(decode.Byte(d.at))
		}
		t.builder.Span(at, max(at, stop), d.frame(name, category), d.keep(args), false)
	case asyncBegin, asyncInstant, asyncEnd:
		return d.async(of.pid, category, name, extra, kind, at, args)
	case flowBegin, flowStep, flowEnd:
		return d.flow(t, flowKey{category, name, extra}, kind, at)
	default:
		d.b.Remark("record-unknown", decode.Byte(d.at), "Records of an unknown type (first at byte %d) were left out", d.at)
		return false
	}
	return true
}

// event0 adds the event for spans if there is none yet.
func (d *decoder) event0() {
	if !d.spans {
		d.spans = true
		d.b.AddEvent(recording.SpanEvent())
	}
}

func (d *decoder) frame(name, category string) recording.FrameID {
	d.event0()
	return d.b.FunctionFrame(d.b.Function(recording.Function{Name: name, Module: category}))
}

// forward returns at, or the thread's last time if that is later.
func (t *track) forward(d *decoder, at int64) int64 {
	if at < t.last {
		d.records.Mend(decode.Byte(d.at))
		d.b.Warn("time-backward", decode.Byte(d.at), "The time at byte %d is earlier than the previous one on its thread; the previous time is used", d.at)
		return t.last
	}
	t.last = at
	return at
}

// close ends the innermost span of a thread.
func (t *track) close(d *decoder, at int64, args []arg) bool {
	if len(t.open) == 0 {
		return d.unmatched()
	}
	at = t.forward(d, at)
	o := t.open[len(t.open)-1]
	t.open = t.open[:len(t.open)-1]
	if o.args == 0 {
		o.args = d.keep(args)
	}
	t.builder.Span(o.at, at, o.frame, o.args, false)
	return true
}

func (d *decoder) unmatched() bool {
	d.b.Usual("end-unmatched", decode.Byte(d.at), "Spans end without a start, first at byte %d: the start was before the trace or is lost; the ends were left out", d.at)
	return false
}

// count adds a point to the counter of each numeric argument.
func (d *decoder) count(pid uint64, name string, id uint64, args []arg, at int64) bool {
	any := false
	for _, a := range args {
		if !a.numeric || math.IsNaN(a.number) || math.IsInf(a.number, 0) {
			continue
		}
		series := a.name
		if id != 0 {
			series += " " + strconv.FormatUint(id, 10)
		}
		k := counterKey{pid, name, series}
		n, ok := d.counters[k]
		if !ok {
			n = d.b.AddCounter(d.b.Process(d.id(pid)), name, series, "")
			d.counters[k] = n
		}
		d.b.CounterPoint(n, at, a.number)
		any = true
	}
	if !any {
		d.b.Warn("no-number", decode.Byte(d.at), "The counter at byte %d has no number and was left out", d.at)
	}
	return any
}

// async reads an event of an asynchronous operation.
func (d *decoder) async(pid uint64, category, name string, id, kind uint64, at int64, args []arg) bool {
	k := asyncKey{pid, name, id}
	a := d.asyncs[k]
	if a == nil {
		a = &async{builder: d.b.Track(recording.TrackKey{Kind: recording.AsyncTrack, PID: d.id(pid), Name: name}), group: uint32(len(d.order) + 1)}
		a.builder.SetName(name)
		d.asyncs[k] = a
		d.order = append(d.order, a)
	}
	switch kind {
	case asyncInstant:
		a.builder.Instant(at, name, d.keep(args))
	case asyncBegin:
		a.open = append(a.open, opened{at, d.frame(name, category), d.keep(args)})
		d.b.Cover(at, at)
	default:
		if len(a.open) == 0 {
			return d.unmatched()
		}
		o := a.open[len(a.open)-1]
		a.open = a.open[:len(a.open)-1]
		if o.args == 0 {
			o.args = d.keep(args)
		}
		a.builder.SpanOf(a.group, o.at, max(o.at, at), o.frame, o.args, false)
	}
	return true
}

// flow adds a step to a flow.
func (d *decoder) flow(t *track, k flowKey, kind uint64, at int64) bool {
	f := d.flows[k]
	if kind == flowBegin || f == nil {
		if kind != flowBegin {
			d.b.Usual("flow-unmatched", decode.Byte(d.at), "Flows continue without a start, first at byte %d", d.at)
		}
		d.addFlow(f)
		f = &recording.Flow{Name: k.name}
		d.flows[k] = f
	}
	f.Steps = append(f.Steps, recording.FlowStep{Track: t.builder.Index(), Time: at})
	if kind == flowEnd {
		d.addFlow(f)
		delete(d.flows, k)
	}
	return true
}

// addFlow adds a flow that has at least two steps.
func (d *decoder) addFlow(f *recording.Flow) {
	if f != nil && len(f.Steps) > 1 {
		d.b.AddFlow(*f)
	}
}
