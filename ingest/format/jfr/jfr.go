// Package jfr reads Java Flight Recorder files from the JDK, async-profiler and other
// agents. A recording is a sequence of chunks, each with its own types, constant pools and
// events; see jdk.jfr.internal.consumer in the JDK's sources.
//
// Each event type with stacks becomes an event of the recording, and each of its events a
// sample, counted and weighted by duration or, for allocations, by bytes. Waits (monitors,
// parking, sleep, files, sockets) are states of the thread, and the previous owner of a
// monitor is its waker. Other events with a duration are spans, on their thread or, for
// the garbage collector, on tracks of their own. CPU loads and heap sizes are counters.
// The rest, mostly settings, is counted and skipped.
package jfr

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"hash/maphash"
	"maps"
	"math"
	"math/bits"
	"slices"
	"strings"

	"ashlar/ingest/format/codec"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
)

// Format is Java Flight Recorder's format.
var Format = codec.Format{
	Name:       "jfr",
	Title:      "Java Flight Recorder recording",
	Plural:     "Java Flight Recorder recordings",
	Holds:      "execution, wall-clock and allocation samples with stacks, waits of threads, garbage collection and CPU loads, from the JDK and async-profiler",
	Extensions: []string{".jfr"},
	Sniff:      Sniff,
	Decode:     Decode,
}

const (
	magic     = "FLR\x00"
	headBytes = 68
)

// Sniff looks for the magic number.
func Sniff(head []byte, _ bool) (decode.Confidence, error) {
	if bytes.HasPrefix(head, []byte(magic)) {
		return decode.Certain, nil
	}
	return decode.No, nil
}

// decoder turns chunks into a recording.
type decoder struct {
	b         *recording.Builder
	ctx       context.Context
	chunks    int
	seed      maphash.Seed
	seen      map[uint64]bool     // hashes of the chunks
	leafFirst []recording.FrameID // buffer for a stack
	zero      int64               // nanoseconds since 1970 of picosecond 0
	events    map[string]*event
	other     *recording.Tally
	waits     map[*recording.TrackBuilder][]wait
	gauges    map[string]int
}

// event is an event type with samples.
type event struct {
	index  int
	tally  *recording.Tally
	values []int64
}

// wait is a time in which a thread was blocked, with the reason as its call.
type wait struct {
	start, end int64
	call       recording.CallID
	waker      int
}

// Decode reads all chunks into b. If the recording is cut or damaged, it reads the part
// before the damage.
func Decode(ctx context.Context, in *source.Input, b *recording.Builder, _ decode.Options) error {
	d := &decoder{b: b, ctx: ctx, events: map[string]*event{}, waits: map[*recording.TrackBuilder][]wait{}, gauges: map[string]int{}, other: b.Tally("unsupported event"), seed: maphash.MakeSeed(), seen: map[uint64]bool{}}
	free := make(chan *bytes.Buffer, 2)
	read := func(ctx context.Context, out chan<- *chunk) error {
		r := &reader{ctx: ctx, from: &decode.Reader{In: in}, free: free}
		return r.all(out)
	}
	err := decode.Beside(ctx, in, b, 0, read, func(c *chunk) error {
		err := d.add(c)
		select {
		case free <- c.content:
		default:
		}
		return err
	})
	if bad, ok := errors.AsType[*damage](err); ok {
		if !b.Shows() && d.other.Read == 0 {
			return fmt.Errorf("the recording has no events: %w", bad.err)
		}
		b.Warn("damaged", fmt.Sprintf("byte %d", bad.at), "The chunk at byte %d is truncated or damaged (%v); everything before is shown", bad.at, bad.err)
	} else if err != nil {
		return err
	}
	d.finish()
	if !b.Shows() {
		return errors.New("the recording has nothing to show: no samples, waits or garbage collections")
	}
	return nil
}

// damage is the error of a cut or damaged chunk that begins at the given position in the
// file. Nothing after it is read.
type damage struct {
	at  int64
	err error
}

func (e *damage) Error() string { return e.err.Error() }

// add adds the events of a chunk.
func (d *decoder) add(c *chunk) error {
	if c.d = d; c.begun {
		if d.chunks++; d.chunks == 1 {
			d.zero = c.startNanos
			*d.b.Clock() = recording.Clock{Unit: "ns", PerUnit: 1000, Origin: recording.Decimal{Mantissa: d.zero}}
			d.b.Source().Version = c.version
			d.b.Source().Note(recording.NoteTime, recording.NoteUnix(d.zero))
		}
	}
	err := c.err
	if err == nil {
		if d.repeated(c) {
			return nil
		}
		err = c.guard(c.take)
	}
	switch {
	case d.ctx.Err() != nil:
		return d.ctx.Err()
	case err != nil:
		return &damage{c.began, err}
	}
	return nil
}

// repeated reports whether a chunk is the same as an earlier one, and leaves it out. Files
// that were dumped from a running program one after the other share chunks, so their
// concatenation repeats them.
func (d *decoder) repeated(c *chunk) bool {
	sum := maphash.Bytes(d.seed, c.b)
	if !d.seen[sum] {
		d.seen[sum] = true
		return false
	}
	place := decode.Byte(c.began)
	k := d.b.Tally("repeated chunk")
	k.Read++
	k.Leave(place)
	d.b.Mended("chunk-repeated", place, "The chunk at %s is the same as an earlier one, with the same times; it is counted once", place)
	return true
}

// time converts a chunk's ticks to a time of the recording in picoseconds.
func (c *chunk) time(ticks int64) int64 {
	ns := min(max(c.startNanos-c.d.zero, -1<<52), 1<<52)
	return min(max(ns*1000+c.length(ticks-c.startTicks), -1<<62), 1<<62)
}

// length converts a number of ticks to picoseconds, rounded down to nanoseconds.
func (c *chunk) length(ticks int64) int64 {
	n, neg := uint64(ticks), ticks < 0
	if neg {
		n = -n
	}
	hi, lo := bits.Mul64(n, 1e9)
	if hi >= uint64(c.perSecond) {
		return 1 << 60
	}
	ns, _ := bits.Div64(hi, lo, uint64(c.perSecond))
	ps := int64(min(ns, 1<<60/1000)) * 1000
	if neg {
		return -ps
	}
	return ps
}

// finish adds the states of threads in time order.
func (d *decoder) finish() {
	if len(d.waits) > 0 {
		d.b.AddEvent(recording.StateEvent())
	}
	tracks := slices.SortedFunc(maps.Keys(d.waits), func(a, b *recording.TrackBuilder) int { return cmp.Compare(a.Index(), b.Index()) })
	for _, t := range tracks {
		order.By(d.waits[t], func(a, b wait) int { return cmp.Compare(a.start, b.start) })
		for _, w := range d.waits[t] {
			t.State(w.start, w.end, w.call, w.waker)
		}
	}
}

// lasting describes an event that is a state of its thread: the reason for blocking, and
// the field that says what the thread waits for.
type lasting struct{ reason, on string }

var states = map[string]lasting{
	"jdk.JavaMonitorEnter": {"monitor", "monitorClass"},
	"jdk.JavaMonitorWait":  {"Object.wait", "monitorClass"},
	"jdk.ThreadPark":       {"parked", "parkedClass"},
	"jdk.ThreadSleep":      {"sleep", ""},
	"jdk.SocketRead":       {"socket read", "host"},
	"jdk.SocketWrite":      {"socket write", "host"},
	"jdk.FileRead":         {"file read", ""},
	"jdk.FileWrite":        {"file write", ""},
	"jdk.FileForce":        {"file force", ""},
}

// weights lists the fields that weight samples. The first one that a type has is used.
var weights = []struct{ field, metric, unit string }{
	{"allocationSize", "allocated", "bytes"}, {"weight", "weight", "bytes"}, {"size", "size", "bytes"}, {"samples", "samples", "count"},
}

// gaugeFields are the fields of events that become counters.
var gaugeFields = map[string][]string{
	"jdk.CPULoad":       {"jvmUser", "jvmSystem", "machineTotal"},
	"jdk.GCHeapSummary": {"heapUsed"},
}

// first lists the sample types to show before others.
var first = []string{"jdk.ExecutionSample", "datadog.ExecutionSample", "jdk.CPUTimeSample", "profiler.WallClockSample", "datadog.MethodSample"}

// sampleEvent returns the recording's event for a type, and adds it on the first call.
func (d *decoder) sampleEvent(cl *class) *event {
	e := d.events[cl.name]
	if e == nil {
		one := "events"
		if slices.Contains(first, cl.name) && cl.weight < 0 {
			one = "samples"
		}
		ev := recording.Event{Name: cl.name, Kind: "sample", Basis: recording.FromSamples, Metrics: []recording.Metric{{Name: one, Unit: "count", PerSample: recording.SampleOne}}}
		if cl.weight >= 0 {
			w := weights[cl.weight]
			ev.Metrics = append(ev.Metrics, recording.Metric{Name: w.metric, Unit: w.unit, PerSample: recording.SampleColumn})
			ev.Primary = 1
		}
		if cl.timed {
			ev.Metrics = append(ev.Metrics, recording.Metric{Name: "duration", Unit: "ns", PerSample: recording.SampleColumn})
			ev.Primary = len(ev.Metrics) - 1
		}
		e = &event{index: d.b.AddEvent(ev), tally: d.b.Tally(cl.name), values: make([]int64, len(ev.Metrics))}
		d.events[cl.name] = e
	}
	return e
}

// add adds one event of a chunk.
func (c *chunk) add(cl *class, ev *record) {
	d := c.d
	at, length := c.time(ev.start), c.length(max(0, ev.duration))
	if cl.counters != nil {
		for i, name := range cl.counters {
			if v := ev.gauges[i]; !math.IsNaN(v) {
				d.b.CounterPoint(d.gauge(cl, name), at, v)
			}
		}
		d.keep(cl)
		return
	}
	track := c.thread(ev.thread)
	switch {
	case cl.lasts && track != nil && length > 0:
		reason := cl.lasting.reason
		if ev.on != "" {
			reason += " " + ev.on
		}
		w := wait{at, at + length, d.b.Call(c.stack(ev.stack), d.b.StateFrame(recording.Blocked, reason)), recording.NoTrack}
		if owner := c.thread(ev.owner); owner != nil && owner != track {
			w.waker = owner.Index()
		}
		d.waits[track] = append(d.waits[track], w)
	case !cl.lasts && cl.stack < 0 && ev.duration > 0:
		d.span(cl, ev, track, at, at+length)
		return
	}
	if cl.stack < 0 && cl.lasts && track != nil && length > 0 {
		d.keep(cl)
		return
	}
	if cl.stack < 0 {
		d.other.Read++
		d.other.Leave("")
		return
	}
	e := d.sampleEvent(cl)
	e.tally.Read++
	e.tally.Kept++
	n := 1
	if cl.weight >= 0 {
		e.values[n] = ev.weight
		n++
	}
	if cl.timed {
		e.values[n] = length / 1000
	}
	if track == nil {
		track = d.b.Track(recording.TrackKey{Kind: recording.AsyncTrack, Name: "no thread"})
	}
	track.Sample(e.index, at, c.stack(ev.stack), -1, e.values)
}

// span adds an event with a duration but no stack; track is nil if it belongs to no
// thread.
func (d *decoder) span(cl *class, ev *record, track *recording.TrackBuilder, from, to int64) {
	if track == nil || !cl.threaded {
		name := "virtual machine"
		if strings.HasPrefix(cl.short(), "GC") || strings.Contains(cl.name, "Garbage") {
			name = "garbage collection"
		}
		track = d.b.Track(recording.TrackKey{Kind: recording.AsyncTrack, Name: name})
	}
	d.spans()
	name := cl.short()
	if ev.name != "" {
		name += ": " + ev.name
	}
	track.Span(from, to, d.b.FunctionFrame(d.b.Function(recording.Function{Name: name, Module: cl.name})), 0, false)
	d.keep(cl)
}

func (d *decoder) keep(cl *class) {
	t := d.b.Tally(cl.name)
	t.Read++
	t.Kept++
}

func (d *decoder) spans() {
	if d.events[""] == nil {
		d.events[""] = &event{index: d.b.AddEvent(recording.SpanEvent())}
	}
}

func (d *decoder) gauge(cl *class, name string) int {
	k := cl.name + " " + name
	g, ok := d.gauges[k]
	if !ok {
		unit := ""
		if name == "heapUsed" {
			unit = "bytes"
		}
		g = d.b.AddCounter(d.b.Process(0), cl.short(), name, unit)
		d.gauges[k] = g
	}
	return g
}
