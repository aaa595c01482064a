package perfetto

import (
	"cmp"
	"slices"

	"ashlar/ingest/recording"
)

// Kinds of events in the queue.
const (
	begin = iota
	end
	whole
	instant
	count
	switched
	waking
	sampled
)

// event waits for those before it: sequences stand one behind the other in a trace.
type event struct {
	at          int64 // nanoseconds
	end         int64
	order       int
	kind        uint8
	track       *track
	frame       recording.FrameID
	args        uint64
	name        string
	value       float64
	flows, ends []uint64
	sched       *turn
	sample      *sample
}

// mostQueued is how many events wait before the first half of them has to be
// taken.
const mostQueued = 1 << 20

func (d *decoder) enqueue(e event) {
	e.order = d.order
	d.order++
	d.queue = append(d.queue, e)
}

func (d *decoder) sortQueue() {
	slices.SortFunc(d.queue, func(a, b event) int { return cmp.Or(cmp.Compare(a.at, b.at), a.order-b.order) })
}

func (d *decoder) flushHalf() {
	d.sortQueue()
	d.flush(d.queue[len(d.queue)/2].at)
}

// flush takes the events that are no later than a time.
func (d *decoder) flush(until int64) {
	d.sortQueue()
	n := 0
	for ; n < len(d.queue) && d.queue[n].at <= until; n++ {
		if n%4096 == 0 {
			d.b.Progress()
		}
		d.do(&d.queue[n])
	}
	d.queue = slices.Delete(d.queue, 0, n)
}

// time is a time in picoseconds since the first one.
func (d *decoder) time(ns int64) int64 {
	if !d.zeroed {
		d.zeroed, d.zero = true, ns
		*d.b.Clock() = recording.Clock{Unit: "ns", PerUnit: 1000, Origin: recording.Decimal{Mantissa: ns}}
	}
	const most = 1 << 62 / 1000
	return min(max(ns-d.zero, -most), most) * 1000
}

// do puts an event into the recording.
func (d *decoder) do(e *event) {
	at := d.time(e.at)
	d.last = max(d.last, at)
	switch e.kind {
	case switched, waking:
		d.schedule(e, at)
		return
	case sampled:
		d.addSample(e.sample, at)
		return
	case count:
		d.point(e, at)
		return
	}
	t := e.track
	d.spans()
	b := d.build(t, e.name)
	d.arrows(e, b, at)
	switch e.kind {
	case instant:
		b.Instant(at, e.name, e.args)
	case whole:
		if t.thread {
			b.Span(at, max(at, d.time(e.end)), e.frame, e.args, false)
		} else {
			b.SpanOf(t.group, at, max(at, d.time(e.end)), e.frame, e.args, false)
		}
	case begin:
		if t.thread {
			if !b.Begin(at, e.frame, e.args) {
				d.backward()
			}
			return
		}
		t.open = &opened{t.open, at, e.frame, e.args}
		d.b.Cover(at, at)
	case end:
		d.close(t, b, e, at)
	}
}

func (d *decoder) backward() {
	d.slices.Mend("")
	d.b.Warn("time-backward", "", "Events of a thread come in no order over more than %d others; they are taken to be at the time of those before", mostQueued)
}

// close ends the innermost slice of a track.
func (d *decoder) close(t *track, b *recording.TrackBuilder, e *event, at int64) {
	if t.thread {
		if e.args != 0 && b.Depth() > 0 {
			b.SetArgs(e.args)
		}
		matched, forward := b.End(at)
		switch {
		case !matched:
			d.unmatched()
		case !forward:
			d.backward()
		}
		return
	}
	o := t.open
	if o == nil {
		d.unmatched()
		return
	}
	t.open = o.below
	b.SpanOf(t.group, o.at, max(at, o.at), o.frame, cmp.Or(o.args, e.args), false)
}

func (d *decoder) unmatched() {
	d.slices.Kept--
	d.slices.Leave("")
	d.b.Warn("end-unmatched", "", "Slices end that have not begun: their beginning was before the trace or is lost; the ends were left out")
}

// spans says that there are any.
func (d *decoder) spans() {
	if _, ok := d.events[""]; !ok {
		d.events[""] = d.b.AddEvent(recording.SpanEvent())
	}
}

// point adds a value to a counter.
func (d *decoder) point(e *event, at int64) {
	t := e.track
	if t.counter == 0 {
		pid, thread := d.above(t)
		name := cmp.Or(t.name, "counter")
		series := ""
		if thread != nil {
			series = cmp.Or(thread.name, d.states.Names[thread.tid])
		}
		t.counter = d.b.AddCounter(d.b.Process(pid), name, series, t.unit) + 1
	}
	d.b.CounterPoint(t.counter-1, at, e.value)
}

// arrows takes the flows that pass an event.
func (d *decoder) arrows(e *event, b *recording.TrackBuilder, at int64) {
	step := recording.FlowStep{Track: b.Index(), Time: at}
	for i, id := range append(slices.Clip(e.flows), e.ends...) {
		f := d.flows[id]
		if f == nil {
			f = &recording.Flow{Name: "flow"}
			d.flows[id] = f
		}
		f.Steps = append(f.Steps, step)
		if i >= len(e.flows) {
			delete(d.flows, id)
			d.addFlow(f)
		}
	}
}

func (d *decoder) addFlow(f *recording.Flow) {
	if len(f.Steps) > 1 {
		d.b.AddFlow(*f)
	}
}

// reversed turns a list round, so that what began first stands first.
func reversed(o *opened) (first *opened) {
	for o != nil {
		first, o, o.below = o, o.below, first
	}
	return first
}

// end closes what is open at the end of the trace.
func (d *decoder) end() {
	var open []*track
	for _, t := range d.tracks {
		open = append(open, t)
	}
	for _, t := range d.asyncs {
		open = append(open, t)
	}
	slices.SortFunc(open, func(a, b *track) int { return cmp.Compare(a.group, b.group) })
	n := 0
	for _, t := range open {
		for o := reversed(t.open); o != nil; o = o.below {
			if n++; n%4096 == 0 {
				if d.b.Progress(); d.ctx.Err() != nil {
					return // there is no memory for more
				}
			}
			d.build(t, "").SpanOf(t.group, o.at, max(o.at, d.last), o.frame, o.args, true)
		}
	}
	d.states.End(d.last)
	ids := []uint64{}
	for id := range d.flows {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	for _, id := range ids {
		d.addFlow(d.flows[id])
	}
	d.endHeaps()
	if n := d.texts.Dropped; n > 0 {
		d.b.Remark("args-dropped", "", "There are more arguments than are kept; %d events have none of them", n)
	}
}
