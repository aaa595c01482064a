package speedscope

import (
	"fmt"
	"math"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
)

// units maps each unit of time to n, where the unit is 10^n picoseconds.
var units = map[string]int{"nanoseconds": 3, "microseconds": 6, "milliseconds": 9, "seconds": 12}

// eventKey identifies an event: the unit of its weights, or time from spans or samples.
type eventKey struct {
	basis recording.Basis
	unit  string
}

// event returns the index of an event, adding the event if it is new.
func (d *decoder) event(k eventKey) int {
	e, ok := d.events[k]
	if ok {
		return e
	}
	switch k.basis {
	case recording.FromSpans:
		e = d.b.AddEvent(recording.SpanEvent())
	case recording.FromSamples:
		e = d.b.AddEvent(recording.Event{Kind: "sample", Basis: k.basis, Metrics: []recording.Metric{
			{Name: "time", Unit: "ns", Decimals: 3, PerSample: recording.SampleColumn},
		}})
	default:
		unit := k.unit
		if unit == "none" || unit == "" {
			unit = "count"
		}
		e = d.b.AddEvent(recording.Event{Kind: "sample", Basis: k.basis, Metrics: []recording.Metric{{Name: "weight", Unit: unit}}})
	}
	d.events[k] = e
	return e
}

// buildWaiting builds the profiles that have been read, now that the frames are
// known.
func (d *decoder) buildWaiting() error {
	for i, p := range d.waiting {
		if err := d.build(p); err != nil {
			return err
		}
		d.waiting[i] = nil
	}
	d.waiting = d.waiting[:0]
	return nil
}

func (d *decoder) build(p *profile) error {
	name := p.name
	if d.tracks[p.name]++; d.tracks[p.name] > 1 {
		name = fmt.Sprintf("%s (%d)", p.name, d.tracks[p.name])
	}
	t := d.b.Track(recording.TrackKey{Name: name})
	if p.kind == "sampled" && p.stacks.Len() != p.values.len() {
		d.b.Warn("weights-missing", decode.Byte(p.from), "The profile at byte %d has unequal numbers, %s and %s; the surplus is left out", p.from, safetext.Plural(p.stacks.Len(), "stack"), safetext.Plural(p.values.len(), "weight"))
	}
	exp, timed := units[p.unit]
	switch {
	case timed:
		d.setOrigin(p, exp)
		if p.kind == "evented" {
			return d.spans(p, exp, t)
		}
		return d.samples(p, exp, t)
	case p.kind == "evented":
		return d.passed(p, t)
	}
	return d.weights(p, t)
}

// setOrigin sets the origin of times from the first profile with times: its start, unless that is
// far from its events.
func (d *decoder) setOrigin(p *profile, exp int) {
	if d.origin != nil {
		return
	}
	start := p.start
	if !p.starts && p.kind == "evented" && p.values.len() > 0 {
		start = p.values.at(0)
	}
	if p.kind == "evented" {
		times := []decode.Picos{start.Picos(exp)}
		for i := range min(p.values.len(), 1024) {
			times = append(times, p.values.at(i).Picos(exp))
		}
		if i := decode.Anchor(times); i > 0 {
			start = p.values.at(i - 1)
		}
	}
	origin := start.Picos(exp)
	d.origin = &origin
	*d.b.Clock() = recording.Clock{Unit: p.unit, PerUnit: int64(math.Pow10(exp)), Origin: recording.Decimal{Mantissa: start.Mantissa, Scale: start.Scale}}
}

// time converts a profile's time to a time in the recording.
func (d *decoder) time(n decode.Number, exp int) (int64, bool) {
	return n.Picos(exp).Since(*d.origin)
}

// cover extends the recording to the start and end of a profile.
func (d *decoder) cover(p *profile, exp int) {
	for _, n := range []struct {
		decode.Number
		has bool
	}{{p.start, p.starts}, {p.end, p.ends}} {
		if at, ok := d.time(n.Number, exp); ok && n.has {
			d.b.Cover(at, at)
		}
	}
}

// beyond warns that a profile continues after its own end time by more than rounding
// explains.
func (d *decoder) beyond(p *profile, last int64, exp int) {
	end, ok := d.time(p.end, exp)
	start, near := d.time(p.start, exp)
	if !ok || !near || !p.ends || end < start || last <= end+(end-start)/1000+1 {
		return
	}
	ms := func(ps int64) string { return fmt.Sprintf("%.6g ms", float64(ps)/1e9) }
	d.b.Remark("beyond-end", decode.Byte(p.from), "The profile at byte %d has a stated length of %s, but data up to %s", p.from, ms(end-start), ms(last-start))
}

// stride is the number of records processed between calls of decode.Tick.
const stride = 8192

func (d *decoder) tick(i int) error {
	if i%stride != 0 {
		return nil
	}
	return decode.Tick(d.ctx, d.b)
}

// spans builds an evented profile in a unit of time.
func (d *decoder) spans(p *profile, exp int, t *recording.TrackBuilder) error {
	d.event(eventKey{basis: recording.FromSpans})
	d.cover(p, exp)
	opened, last := openFrames{d: d, p: p}, int64(math.MinInt64)
	for i := range p.frames.Len() {
		if err := d.tick(i); err != nil {
			return err
		}
		at, ok := d.time(p.values.at(i), exp)
		if !ok {
			d.eventTally.Leave(decode.Byte(p.from))
			d.b.Warn("time-far", decode.Byte(p.from), "Event %d of the profile at byte %d is more than 26 days from the others and was left out", i, p.from)
			continue
		}
		open, n, ok := opened.next(i)
		switch {
		case !ok:
			continue
		case open:
			ok = t.Begin(at, d.frameOf(p.frames.At(i)), 0)
		default:
			for ; n > 0; n-- {
				_, forward := t.End(at)
				ok = ok && forward
			}
		}
		d.eventTally.Kept++
		last = max(last, at)
		if !ok {
			d.backward(p, i)
		}
	}
	d.beyond(p, last, exp)
	return nil
}

func (d *decoder) backward(p *profile, i int) {
	d.eventTally.Mend(decode.Byte(p.from))
	d.b.Warn("time-backward", decode.Byte(p.from), "Event %d of the profile at byte %d is earlier than the previous one; it gets the previous time", i, p.from)
}

// openFrames follows which frames of an evented profile are open.
type openFrames struct {
	d     *decoder
	p     *profile
	stack []uint32
}

// next handles event i: it opens a frame (open is true) or closes the n innermost ones.
// ok is false if it closes a frame that is not open; such an event is left out.
func (o *openFrames) next(i int) (open bool, n int, ok bool) {
	f := o.p.frames.At(i)
	if f&closing == 0 {
		o.stack = append(o.stack, f)
		return true, 0, true
	}
	for k := len(o.stack) - 1; k >= 0; k-- {
		if o.stack[k] != f&^closing {
			continue
		}
		n = len(o.stack) - k
		o.stack = o.stack[:k]
		if n > 1 {
			o.d.eventTally.Mend(decode.Byte(o.p.from))
			o.d.b.Warn("close-crossed", decode.Byte(o.p.from), "Event %d of the profile at byte %d closes frame %d while inner frames are open; they are closed too", i, o.p.from, f&^closing)
		}
		return false, n, true
	}
	o.d.eventTally.Leave(decode.Byte(o.p.from))
	o.d.b.Warn("close-unmatched", decode.Byte(o.p.from), "Event %d of the profile at byte %d closes frame %d, which is not open, and was left out", i, o.p.from, f&^closing)
	return false, 0, false
}

// samples builds a sampled profile whose weights are times.
func (d *decoder) samples(p *profile, exp int, t *recording.TrackBuilder) error {
	e := d.event(eventKey{basis: recording.FromSamples})
	d.cover(p, exp)
	at, _ := d.time(p.start, exp)
	if !p.starts {
		at = 0
	}
	n := min(p.stacks.Len(), p.values.len())
	for i := range p.stacks.Len() {
		if err := d.tick(i); err != nil {
			return err
		}
		if i >= n || p.stacks.At(i) == noStack {
			d.sampleTally.Leave(decode.Byte(p.from))
			continue
		}
		w := p.values.at(i)
		lasts, ok := w.Picos(exp).Since(decode.Picos{})
		if !ok || at > math.MaxInt64/4 {
			d.sampleTally.Leave(decode.Byte(p.from))
			d.b.Warn("time-far", decode.Byte(p.from), "Sample %d of the profile at byte %d is too long or too late and was left out", i, p.from)
			continue
		}
		d.sampleTally.Kept++
		t.Sample(e, at, d.call(p.stacks.At(i)), -1, []int64{lasts})
		at += max(lasts, 0)
		d.b.Cover(at, at)
	}
	d.beyond(p, at, exp)
	return nil
}

// weights builds a sampled profile whose unit is not a unit of time.
func (d *decoder) weights(p *profile, t *recording.TrackBuilder) error {
	a := d.newAdder(p)
	n := min(p.stacks.Len(), p.values.len())
	for i := range p.stacks.Len() {
		if err := d.tick(i); err != nil {
			return err
		}
		if i >= n || p.stacks.At(i) == noStack {
			d.sampleTally.Leave(decode.Byte(p.from))
			continue
		}
		a.add(p.stacks.At(i), p.values.at(i))
		d.sampleTally.Kept++
	}
	return a.flush(t)
}

// passed builds an evented profile whose unit is not a unit of time: each stack gets the
// amount that passed while it was open.
func (d *decoder) passed(p *profile, t *recording.TrackBuilder) error {
	a := d.newAdder(p)
	opened := openFrames{d: d, p: p}
	var path []uint32 // nodes of the tree
	var last decode.Number
	for i := range p.frames.Len() {
		if err := d.tick(i); err != nil {
			return err
		}
		at, backward := p.values.at(i), false
		if len(path) > 0 {
			ps, ok := at.Picos(a.scale).Since(last.Picos(a.scale))
			if ok && ps < 0 {
				ps, at, backward = 0, last, true
			}
			if !ok {
				d.eventTally.Leave(decode.Byte(p.from))
				d.b.Warn("weight-too-large", "", "The distance of two events exceeds 64 bits; the second was left out")
				continue
			}
			a.add(path[len(path)-1], decode.Number{Mantissa: ps, Scale: a.scale})
		}
		last = at
		open, n, ok := opened.next(i)
		switch {
		case !ok:
			continue
		case open:
			parent := uint32(0)
			if len(path) > 0 {
				parent = path[len(path)-1]
			}
			path = append(path, d.nodes.child(parent, p.frames.At(i)))
		default:
			path = path[:len(path)-n]
		}
		d.eventTally.Kept++
		if backward {
			d.backward(p, i)
		}
	}
	if p.ends && len(path) > 0 {
		d.b.Usual("unclosed", decode.Byte(p.from), "The profile at byte %d ends with %s open, closed at its end", p.from, safetext.Plural(len(path), "frame"))
		if ps, ok := p.end.Picos(a.scale).Since(last.Picos(a.scale)); ok && ps > 0 {
			a.add(path[len(path)-1], decode.Number{Mantissa: ps, Scale: a.scale})
		}
	}
	return a.flush(t)
}

// adder sums weights by stack, in units of 10^-scale.
type adder struct {
	d     *decoder
	event int
	scale int
	nodes []uint32 // nodes with a sum, in order of first appearance
	sums  map[uint32]int64
	full  []nodeSum // sums that would not fit with the next weight
}

type nodeSum struct {
	node uint32
	sum  int64
}

// newAdder chooses the number of decimals of a profile's weights so that their sum and
// that of all earlier profiles fit.
func (d *decoder) newAdder(p *profile) *adder {
	a := &adder{d: d, event: d.event(eventKey{recording.FromStacks, p.unit}), sums: map[uint32]int64{}}
	m := &d.b.Event(a.event).Metrics[0]
	most := math.Abs(float64(m.Total)) / math.Pow10(m.Decimals)
	for i := range p.values.len() {
		v := p.values.at(i)
		most += 2 * math.Abs(float64(v.Mantissa)) / math.Pow10(v.Scale)
	}
	a.scale = max(p.values.finest, m.Decimals)
	for a.scale > 0 && most*math.Pow10(a.scale) > math.MaxInt64/2 {
		a.scale--
	}
	if a.scale < p.values.finest {
		d.b.Warn("weight-rounded", decode.Byte(p.from), "Weights of the profile at byte %d have too many digits and were rounded", p.from)
	}
	if !d.b.SetDecimals(a.event, 0, a.scale) {
		a.scale = m.Decimals
	}
	return a
}

// add adds to the weight of a stack.
func (a *adder) add(node uint32, v decode.Number) {
	w, ok := v.Round(a.scale).At(a.scale)
	if !ok {
		w = v.Limit().Mantissa
	}
	sum, known := a.sums[node]
	if !known {
		a.nodes = append(a.nodes, node)
	}
	if recording.Saturated(sum, w) != sum+w {
		a.full = append(a.full, nodeSum{node, sum})
		sum = 0
	}
	a.sums[node] = sum + w
}

// flush adds the sums to the recording.
func (a *adder) flush(t *recording.TrackBuilder) error {
	for _, n := range a.full {
		a.d.b.AddStack(a.event, a.d.call(n.node), t.Index(), 0, []int64{n.sum})
	}
	for i, n := range a.nodes {
		if err := a.d.tick(i); err != nil {
			return err
		}
		a.d.b.AddStack(a.event, a.d.call(n), t.Index(), 0, []int64{a.sums[n]})
	}
	return nil
}
