package perfscript

import (
	"math"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
)

// Indices of each event's metrics. The period metric exists only if periods are printed.
const (
	samplesMetric = 0
	periodMetric  = 1
)

// batch is the number of samples summed before their rows are added to the builder, so
// that the flame graph of a long pipe grows too.
const batch = 1 << 16

// rows sums samples by event, thread, comm and stack.
type rows struct {
	b        *recording.Builder
	meta     *meta
	events   map[string]int
	contexts map[contextKey]recording.ContextID
	index    map[rowKey]int
	sums     []sum
	without  []without // by event
	pending  int
	timed    bool
	origin   int64
}

// without counts the samples of an event that have no period, and has the line of the
// first one.
type without struct{ samples, first int64 }

type contextKey struct {
	track int
	comm  string
}

type rowKey struct {
	event, track int
	ctx          recording.ContextID
	call         recording.CallID
}

type sum struct {
	rowKey
	samples, period int64
}

func (r *rows) init(b *recording.Builder, m *meta) {
	r.b, r.meta = b, m
	r.events = map[string]int{}
	r.contexts = map[contextKey]recording.ContextID{}
	r.index = map[rowKey]int{}
}

// add counts a sample whose header is on the given line; stack is leaf first.
func (r *rows) add(h *header, stack []*frame, place func(int64) string, line int64) {
	key := rowKey{event: r.event(h), call: r.call(stack), track: recording.NoTrack}
	t := r.track(h)
	if t != nil {
		key.track = t.Index()
	}
	key.ctx = r.context(h, key.track)
	i, ok := r.index[key]
	if !ok {
		i = len(r.sums)
		r.index[key] = i
		r.sums = append(r.sums, sum{rowKey: key, period: recording.Missing})
	}
	s := &r.sums[i]
	s.samples++
	period := int64(recording.Missing)
	switch {
	case h.periodOutOfRange:
		r.b.Warn("period-too-large", place(line), "The period on line %d exceeds 63 bits and was left out", line)
	case h.hasPeriod:
		total := &r.meta.total
		if h.period > math.MaxInt64-*total {
			r.b.Warn("period-too-large", place(line), "The period on line %d makes the sum exceed 63 bits and was left out", line)
			break
		}
		*total += h.period
		period = h.period
		s.period = max(0, s.period) + period
	default:
		w := &r.without[key.event]
		if w.samples++; w.samples == 1 {
			w.first = line
		}
	}
	if h.hasTime {
		r.sample(h, t, key, period, place, line)
	}
	if r.pending++; r.pending >= batch {
		r.flush()
	}
}

// sample puts a sample on its thread's track.
func (r *rows) sample(h *header, t *recording.TrackBuilder, key rowKey, period int64, place func(int64) string, line int64) {
	if !r.timed {
		r.begin(h.ns)
	}
	at := h.ns - r.origin
	if h.ns == math.MaxInt64 || at > math.MaxInt64/2000 || at < -math.MaxInt64/2000 {
		r.b.Warn("time-too-far", place(line), "The sample on line %d is more than fifty days from the others; it is in the flamegraph but not on the timeline", line)
		return
	}
	if t == nil {
		t = r.b.Track(recording.TrackKey{Name: string(h.comm)})
	}
	t.Sample(key.event, at*1000, key.call, h.cpu, []int64{1, period}[:len(r.b.Event(key.event).Metrics)])
}

// begin sets the time from which the recording counts.
func (r *rows) begin(ns int64) {
	r.timed, r.origin = true, ns
	*r.b.Clock() = recording.Clock{Unit: "seconds", PerUnit: 1e12, Origin: recording.Decimal{Mantissa: ns, Scale: 9}}
}

// anchor sets that time from the first times of the text if the very first is far from most.
func (r *rows) anchor(first []int64) {
	times := make([]decode.Picos, len(first))
	for i, ns := range first {
		times[i] = decode.Picos{Mantissa: ns, Scale: -3}
	}
	if i := decode.Anchor(times); i > 0 {
		r.begin(first[i])
	}
}

// call interns a stack. Inlined functions have no file; they get the file of the function
// they are inlined into, which follows them.
func (r *rows) call(stack []*frame) recording.CallID {
	call, module, depth := recording.NoCall, "", 0
	for i := len(stack) - 1; i >= 0; i-- {
		f := stack[i]
		if f.inlined {
			depth++
		} else {
			module, depth = f.dso, 0
		}
		call = r.b.Call(call, f.id(r.b, module, depth))
	}
	return call
}

// event returns the event of a header, adding it if it is new.
func (r *rows) event(h *header) int {
	i, ok := r.events[string(h.event)]
	if !ok {
		name := string(h.event)
		e := recording.Event{Name: name, Kind: EventKind(name), Mode: "period", Basis: recording.FromStacks,
			Metrics: []recording.Metric{{Name: "samples", Unit: "count", PerSample: recording.SampleOne}}}
		if e.Kind == "probe" {
			e.Mode = "event"
		}
		i = r.b.AddEvent(e)
		r.events[name] = i
		r.without = append(r.without, without{})
	}
	e := r.b.Event(i)
	if h.hasPeriod && len(e.Metrics) == 1 {
		// perf report weights by period, so the period is the primary metric.
		e.Metrics = append(e.Metrics, recording.Metric{Name: "period", Unit: PeriodUnit(e.Name), PerSample: recording.SampleColumn})
		e.Primary = periodMetric
	}
	return i
}

// track returns the track of a header's thread, adding it if it is new; nil if the header
// names no thread.
func (r *rows) track(h *header) *recording.TrackBuilder {
	if !h.hasTID && len(h.comm) == 0 {
		return nil
	}
	k := recording.TrackKey{PID: h.pid, TID: h.tid}
	if !h.hasTID {
		k.Name = string(h.comm)
	}
	t := r.b.Track(k)
	if t.Name() != string(h.comm) {
		t.SetName(string(h.comm)) // the latest: programs rename their threads
	}
	return t
}

func (r *rows) context(h *header, track int) recording.ContextID {
	id, ok := r.contexts[contextKey{track, string(h.comm)}]
	if ok {
		return id
	}
	var attrs []recording.Attr
	if len(h.comm) > 0 {
		attrs = append(attrs, recording.Attr{Key: "comm", Value: string(h.comm)})
	}
	if h.hasPID {
		attrs = append(attrs, recording.Attr{Key: "pid", Value: itoa(h.pid)})
	}
	if h.hasTID {
		attrs = append(attrs, recording.Attr{Key: "tid", Value: itoa(h.tid)})
	}
	id = r.b.Context(attrs)
	r.contexts[contextKey{track, string(h.comm)}] = id
	return id
}

// flush adds the sums to the builder, in the order in which their stacks first occurred.
func (r *rows) flush() {
	for i := range r.sums {
		s := &r.sums[i]
		values := []int64{s.samples, s.period}[:len(r.b.Event(s.event).Metrics)]
		r.b.AddStack(s.event, s.call, s.track, s.ctx, values)
	}
	r.sums, r.pending = r.sums[:0], 0
	clear(r.index)
}

// warnWithout warns of events with samples of which only some have a period.
func (r *rows) warnWithout(place func(int64) string) {
	for i, w := range r.without {
		if e := r.b.Event(i); w.samples > 0 && len(e.Metrics) > periodMetric {
			r.b.Warn("period-missing", place(w.first), "%s of event %s without a period, first on line %d: they count in the metric samples, but as 0 in the metric period", safetext.Plural(w.samples, "sample"), e.Name, w.first)
		}
	}
}
