package firefox

import (
	"fmt"
	"math"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/model/recording"
)

// An event is an event of the recording with the samples of one kind.
type event struct {
	id     int
	weight bool // each sample has its own weight
	cpu    bool
	exp    int // weights are in 10^exp units; for times, in 10^exp picoseconds
	scale  int // decimals of weights that are not times
	values []int64
}

// stride is the number of records processed between checks of the clock.
const stride = 8192

func (d *decoder) pause(i int) error {
	if i%stride != 0 {
		return nil
	}
	return d.tick()
}

// build builds the recording.
func (d *decoder) build() error {
	d.addMeta(&d.root.meta)
	for _, kind := range []string{"samples", "JS allocations", "native allocations"} {
		d.addEvents(d.root, kind)
	}
	return d.process(d.root, 0, 0)
}

// process builds the recording of a process, which began shift picoseconds after the
// first one.
func (d *decoder) process(p *profile, shift int64, depth int) error {
	d.cover(p, shift)
	for _, t := range p.threads {
		x := &stacks{d: d, p: p, tables: t.tables.over(&p.tables), shift: shift}
		if err := d.thread(x, t, depth); err != nil {
			return err
		}
	}
	for _, c := range p.counters {
		if err := d.counter(p, c, shift); err != nil {
			return err
		}
	}
	for _, sub := range p.processes {
		later := shift
		if sub.meta.start.ok && p.meta.start.ok {
			if ps, ok := sub.meta.start.Picos(9).Since(p.meta.start.Picos(9)); ok {
				later += ps
			}
		}
		if err := d.process(sub, later, depth+1); err != nil {
			return err
		}
	}
	return nil
}

// cover extends the recording to the whole time that was recorded.
func (d *decoder) cover(p *profile, shift int64) {
	for _, n := range []number{p.meta.begin, p.meta.end} {
		if !n.ok {
			continue
		}
		if at, ok := d.at(n.Number, shift); ok {
			d.b.Cover(at, at)
		}
	}
}

// at converts a time of the file to a time of the recording, whose first time is 0.
func (d *decoder) at(n decode.Number, shift int64) (int64, bool) {
	t := n.Picos(9)
	if d.origin == nil {
		d.origin = &t
		*d.b.Clock() = recording.Clock{Unit: "ms", PerUnit: 1e9, Origin: recording.Decimal{Mantissa: n.Mantissa, Scale: n.Scale}}
	}
	at, ok := t.Since(*d.origin)
	return at + shift, ok
}

// times reads the times of a table: absolute ones, or differences to the row before.
type times struct {
	d        *decoder
	own, far *numbers
	last     int64
	any      bool
	shift    int64
}

func (d *decoder) timesOf(t *table, shift int64) *times {
	x := &times{d: d, own: t.col("time"), shift: shift}
	if x.own == nil {
		x.far = t.col("timeDeltas")
	}
	return x
}

// next returns the time of row i; rows must be read in order.
func (x *times) next(i int) (int64, bool) {
	if x.far == nil {
		n, ok := x.own.at(i)
		if !ok {
			return 0, false
		}
		return x.d.at(n, x.shift)
	}
	n, ok := x.far.at(i)
	if !ok {
		return x.last, x.any
	}
	if !x.any {
		at, ok := x.d.at(n, x.shift)
		x.last, x.any = at, ok
		return at, ok
	}
	ps, ok := n.Picos(9).Since(decode.Picos{})
	if !ok || x.last > math.MaxInt64/4 {
		return 0, false
	}
	x.last += ps
	return x.last, true
}

func (t *table) rows() int {
	n := max(t.col("stack").len(), t.col("time").len(), t.col("timeDeltas").len())
	return max(n, t.col("name").len())
}

// of returns the table of a kind of samples.
func (t *thread) of(kind string) *table {
	switch kind {
	case "samples":
		return t.samples
	case "JS allocations":
		return t.js
	}
	return t.natively
}

// addEvents adds the events that the samples of a kind need, in all processes.
func (d *decoder) addEvents(p *profile, kind string) {
	for _, t := range p.threads {
		s := t.of(kind)
		if s == nil || s.rows() == 0 {
			continue
		}
		key := kind
		if kind == "samples" && s.weightType != "" {
			key = s.weightType
		}
		e := d.events[key]
		if e == nil {
			e = &event{id: -1}
			d.events[key] = e
		}
		weights, cpu := s.col("weight"), s.col("threadCPUDelta")
		e.weight = e.weight || weights.len() > 0
		e.cpu = e.cpu || cpu.len() > 0
		if weights != nil {
			e.scale = max(e.scale, min(weights.finest, 6))
		}
		if e.id < 0 {
			e.id = d.b.AddEvent(recording.Event{Name: kind, Kind: "sample", Basis: recording.FromSamples})
		}
		*d.b.Event(e.id) = d.describe(e, key)
	}
	for _, sub := range p.processes {
		d.addEvents(sub, kind)
	}
}

// describe returns the event for samples of a kind, with the metrics found in them.
func (d *decoder) describe(e *event, key string) recording.Event {
	ev := recording.Event{Kind: "sample", Basis: recording.FromSamples}
	m := recording.Metric{Name: "samples", Unit: "count", PerSample: recording.SampleOne}
	if e.weight {
		m.PerSample, m.Decimals = recording.SampleColumn, e.scale
	}
	switch key {
	case "tracing-ms":
		m.Name, m.Unit, m.Decimals, m.PerSample = "time", "ns", 3, recording.SampleColumn
		e.exp = 9
	case "bytes":
		m.Name, m.Unit = "size", "bytes"
	case "JS allocations", "native allocations":
		ev.Name, ev.Kind = key, "allocation"
		m.Name, m.Unit, m.PerSample = "size", "bytes", recording.SampleColumn
	default:
		ev.Mode, ev.Frequency = "frequency", d.root.meta.frequency()
		if ev.Frequency == 0 {
			ev.Mode = ""
		}
	}
	ev.Metrics = []recording.Metric{m}
	if e.cpu {
		c := recording.Metric{Name: "CPU time", Unit: "ns", Decimals: 3, PerSample: recording.SampleColumn}
		if d.cpuExp() < 0 {
			c = recording.Metric{Name: "CPU cycles", Unit: "cycles", PerSample: recording.SampleColumn}
		}
		ev.Metrics = append(ev.Metrics, c)
	}
	e.values = make([]int64, len(ev.Metrics))
	return ev
}

// cpuExp returns the exponent of the unit of CPU times as a power of ten picoseconds, -1
// if they count cycles.
func (d *decoder) cpuExp() int {
	switch d.root.meta.cpuUnit {
	case "ns":
		return 3
	case "variable CPU cycles":
		return -1
	}
	return 6
}

// thread builds a thread.
func (d *decoder) thread(x *stacks, t *thread, depth int) error {
	key := recording.TrackKey{PID: d.pid(t.pid, x.p, depth), TID: d.number(t.tid), Name: t.name}
	for n := 2; d.names[key]; n++ { // merged profiles repeat ids
		key.TID, key.Name = 0, fmt.Sprintf("%s (%d)", t.name, n)
	}
	d.names[key] = true
	process := d.b.ProcessInfo(d.b.Process(key.PID))
	if process.Name == "" {
		if process.Name = t.process; process.Name == "" {
			process.Name = t.kind
		}
	}
	track := d.b.Track(key)
	track.SetName(key.Name)
	track.SetSort(d.sort)
	for _, kind := range []string{"samples", "JS allocations", "native allocations"} {
		if s := t.of(kind); s != nil {
			if err := d.addSamples(x, track, s, kind); err != nil {
				return err
			}
		}
	}
	if t.markers != nil && t.markers.rows() > 0 {
		key.Kind, key.Name = recording.AsyncTrack, key.Name+" markers"
		marks := d.b.Track(key)
		marks.SetName(key.Name)
		marks.SetSort(d.sort + 1)
		if err := d.addMarkers(x, marks, t.markers); err != nil {
			return err
		}
	}
	d.sort += 2
	if t.timeline != nil {
		return d.addTimeline(x, key, t.timeline)
	}
	return nil
}

// pid returns the number of a process. A process without a number gets a new one.
func (d *decoder) pid(raw []byte, p *profile, depth int) int64 {
	if len(raw) > 0 || depth == 0 {
		return d.number(raw)
	}
	return d.number(fmt.Appendf(nil, "process at byte %d", p.from))
}

// addSamples adds the samples of a table.
func (d *decoder) addSamples(x *stacks, track *recording.TrackBuilder, s *table, kind string) error {
	key, tally := kind, d.samples
	if kind != "samples" {
		tally = d.allocations
	} else if s.weightType != "" {
		key = s.weightType
	}
	e := d.events[key]
	times, stack, weight, cpu := d.timesOf(s, x.shift), s.col("stack"), s.col("weight"), s.col("threadCPUDelta")
	for i := range s.rows() {
		if err := d.pause(i); err != nil {
			return err
		}
		tally.Read++
		at, ok := times.next(i)
		if !ok {
			tally.Leave("")
			d.b.Warn("no-time", "", "Sample %d of thread %q has no time, or a time more than 26 days from the first, and was left out", i, track.Name())
			continue
		}
		if _, ok := weight.at(i); !ok && weight.len() > 0 {
			d.b.Warn("weight-missing", "", "Sample %d of thread %q has no weight, or one that is too large; it counts 0", i, track.Name())
		}
		if !e.fill(d, i, weight, cpu) {
			tally.Leave("")
			d.b.Warn("weight-too-large", "", "The weight of sample %d of thread %q is too large and was left out", i, track.Name())
			continue
		}
		tally.Kept++
		track.Sample(e.id, at, x.call(stack.index(i)), -1, e.values)
	}
	return nil
}

// fill sets the values of a sample and reports whether its weight fits.
func (e *event) fill(d *decoder, i int, weight, cpu *numbers) bool {
	w, ok := weight.at(i)
	if !ok {
		if w = (decode.Number{}); weight.len() == 0 {
			w.Mantissa = 1
		}
	}
	switch {
	case e.exp > 0:
		e.values[0], ok = w.Picos(e.exp).Since(decode.Picos{})
	default:
		e.values[0], ok = w.Round(e.scale).At(e.scale)
	}
	if !ok || e.values[0] == recording.Missing {
		return false
	}
	if !e.cpu {
		return true
	}
	e.values[1] = recording.Missing
	if c, ok := cpu.at(i); ok {
		exp := max(d.cpuExp(), 0)
		if v, ok := c.Picos(exp).Since(decode.Picos{}); ok {
			e.values[1] = v
		}
	}
	return true
}

// counter builds a counter. The file stores the change at each time. Memory is shown as the
// running sum of the changes, as in the Firefox Profiler.
func (d *decoder) counter(p *profile, c *counter, shift int64) error {
	count := c.samples.col("count")
	if count.len() == 0 {
		return nil
	}
	sums := c.graph == "line-accumulated" || c.graph == "" && c.category == "Memory"
	unit := c.unit
	if unit == "" && c.category == "Memory" {
		unit = "bytes"
	}
	id := d.b.AddCounter(d.b.Process(d.number(c.pid)), c.name, "", unit)
	times, sum := d.timesOf(c.samples, shift), 0.0
	for i := range count.len() {
		if err := d.pause(i); err != nil {
			return err
		}
		d.points.Read++
		at, timed := times.next(i)
		n, ok := count.at(i)
		if !ok || !timed {
			d.points.Leave("")
			continue
		}
		d.points.Kept++
		v := float64(n.Mantissa) / math.Pow10(n.Scale)
		if sum += v; sums {
			v = sum
		}
		d.b.CounterPoint(id, at, v)
	}
	return nil
}
