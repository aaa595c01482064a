package perfetto

import (
	"cmp"
	"math"
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
// There may be many: what few have is not in it itself.
type event struct {
	at    int64  // nanoseconds
	bits  uint64 // of a whole slice when it ends, of a counter its value
	args  uint64
	track *track
	more  any    // *links, *turn or *sample
	label uint32 // of decoder.labels
	kind  uint8
}

// links are the flows that pass an event, and those that end there.
type links struct{ flows, ends []uint64 }

// mostQueued is how many events wait before the first half of them has to be
// taken.
const mostQueued = 1 << 20

func (d *decoder) enqueue(e event) { d.queue.add(e) }

// flush takes the earlier half of the events, or all.
func (d *decoder) flush(all bool) {
	turns := d.queue.sorted()
	if len(turns) == 0 {
		return
	}
	n, until := 0, turns[len(turns)/2].at
	for ; n < len(turns) && (all || turns[n].at <= until); n++ {
		if n%4096 == 0 {
			d.b.Progress()
		}
		d.do(&d.queue.events[turns[n].i])
	}
	d.queue.drop(n)
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
		d.addSample(e.more.(*sample), at)
		return
	case count:
		d.point(e, at)
		return
	}
	t := e.track
	d.spans()
	is := d.labels[e.label]
	b := d.build(t, is.name)
	if e.more != nil {
		d.arrows(e.more.(*links), b, at)
	}
	switch e.kind {
	case instant:
		b.Instant(at, is.name, e.args)
	case whole:
		if t.thread {
			b.Span(at, max(at, d.time(int64(e.bits))), is.frame, e.args, false)
		} else {
			b.SpanOf(t.group, at, max(at, d.time(int64(e.bits))), is.frame, e.args, false)
		}
	case begin:
		if t.thread {
			if !b.Begin(at, is.frame, e.args) {
				d.backward()
			}
			return
		}
		t.open.push(opened{at, e.args, is.frame})
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
	o, ok := t.open.pop()
	if !ok {
		d.unmatched()
		return
	}
	b.SpanOf(t.group, o.at, max(at, o.at), o.frame, cmp.Or(o.args, e.args), false)
}

func (d *decoder) unmatched() {
	d.slices.Kept--
	d.slices.Leave("")
	d.b.Warn("end-unmatched", "", "Slices end that have not begun: their beginning was before the trace or is lost; the ends were left out")
}

// spans says that there are any.
func (d *decoder) spans() {
	if !d.slicesSaid {
		d.slicesSaid = true
		d.b.AddEvent(recording.SpanEvent())
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
	d.b.CounterPoint(t.counter-1, at, math.Float64frombits(e.bits))
}

// arrows takes the flows that pass an event.
func (d *decoder) arrows(l *links, b *recording.TrackBuilder, at int64) {
	step := recording.FlowStep{Track: b.Index(), Time: at}
	for i, id := range append(slices.Clip(l.flows), l.ends...) {
		f := d.flows[id]
		if f == nil {
			f = &recording.Flow{Name: "flow"}
			d.flows[id] = f
		}
		f.Steps = append(f.Steps, step)
		if i >= len(l.flows) {
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
		for o := range t.open.all {
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
	d.texts.Tell(d.b, "event")
}
