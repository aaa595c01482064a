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
// There may be many: what few have is not in it itself.
type event struct {
	at     int64 // nanoseconds
	end    int64
	kind   uint8
	frame  recording.FrameID
	track  *track
	args   uint64
	name   string
	value  float64
	links  *links
	sched  *turn
	sample *sample
}

// links are the flows that pass an event, and those that end there.
type links struct{ flows, ends []uint64 }

// mostQueued is how many events wait before the first half of them has to be
// taken.
const mostQueued = 1 << 20

// turnOf is the place of an event in the queue, and when its turn is.
type turnOf struct {
	at int64
	i  int32
}

func (d *decoder) enqueue(e event) { d.queue = append(d.queue, e) }

// sorted lists the queue by time; those of one time are as they came.
func (d *decoder) sorted() []turnOf {
	d.turns = d.turns[:0]
	inOrder := true
	for i := range d.queue {
		inOrder = inOrder && (i == 0 || d.queue[i-1].at <= d.queue[i].at)
		d.turns = append(d.turns, turnOf{d.queue[i].at, int32(i)})
	}
	if !inOrder {
		slices.SortFunc(d.turns, func(a, b turnOf) int { return cmp.Or(cmp.Compare(a.at, b.at), int(a.i)-int(b.i)) })
	}
	return d.turns
}

// flush takes the earlier half of the events, or all.
func (d *decoder) flush(all bool) {
	turns := d.sorted()
	if len(turns) == 0 {
		return
	}
	until := turns[len(turns)/2].at
	for n, t := range turns {
		if !all && t.at > until {
			break
		}
		if n%4096 == 0 {
			d.b.Progress()
		}
		d.do(&d.queue[t.i])
	}
	left := d.queue[:0]
	for i := range d.queue {
		if !all && d.queue[i].at > until {
			left = append(left, d.queue[i])
		}
	}
	clear(d.queue[len(left):])
	d.queue = left
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
		t.open.push(opened{at, e.args, e.frame})
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
	if e.links == nil {
		return
	}
	step := recording.FlowStep{Track: b.Index(), Time: at}
	for i, id := range append(slices.Clip(e.links.flows), e.links.ends...) {
		f := d.flows[id]
		if f == nil {
			f = &recording.Flow{Name: "flow"}
			d.flows[id] = f
		}
		f.Steps = append(f.Steps, step)
		if i >= len(e.links.flows) {
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
