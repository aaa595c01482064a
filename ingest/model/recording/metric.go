package recording

import (
	"cmp"
	"math"
	"slices"
)

// Missing marks a value that a record does not have; it counts as 0.
const Missing = math.MinInt64

// MetricKind is the meaning of adding two values of a metric.
type MetricKind uint8

const (
	// Sum metrics add up over stacks, threads and time.
	Sum MetricKind = iota
	// Level metrics (live_bytes, live_count, inuse_space) add up over stacks
	// but not over time: they are a state at one moment.
	Level
	// Peak metrics (peak_bytes) are each stack's own maximum; adding them
	// gives an upper bound, never a fact.
	Peak
)

// String returns sum, level or peak.
func (k MetricKind) String() string {
	switch k {
	case Level:
		return "level"
	case Peak:
		return "peak"
	}
	return "sum"
}

// SampleWeight is the source of a single sample's value of a metric.
type SampleWeight uint8

const (
	// SampleNone: samples do not carry this metric.
	SampleNone SampleWeight = iota
	// SampleOne: every sample counts one.
	SampleOne
	// SampleColumn: each sample has its own value.
	SampleColumn
)

// Metric is a quantity measured for an event.
//
// Its values are int64 in units of 10^-Decimals of Unit, so that decimal fractions in a
// file stay exact: with Unit "ns" and Decimals 3 the value 1500 is 1.5 ns.
type Metric struct {
	Name, Unit string
	Decimals   int
	Kind       MetricKind
	PerSample  SampleWeight
	// Total is the sum over the whole recording.
	Total int64
}

// Basis is the kind of records that carry an event's values.
type Basis uint8

const (
	// FromStacks: aggregated stack records. There may also be samples and windows.
	FromStacks Basis = iota
	// FromSpans: spans; values are times and counts.
	FromSpans
	// FromSamples: single samples only.
	FromSamples
	// FromStates: the states of threads; values are times.
	FromStates
)

// Event is one kind of occurrence that was recorded: CPU cycles, allocations,
// a probe, or the spans of a trace. Name is empty if the format has none.
type Event struct {
	Name, Kind, Mode string
	// Label is the event's common name, if the format's name is not clear.
	Label string
	// Period is the sampling period and Frequency the rate in Hz; 0 when not
	// recorded.
	Period    int64
	Frequency float64
	// PeriodType and PeriodUnit name the quantity that Period counts, such as cpu in
	// nanoseconds, where the format states it.
	PeriodType, PeriodUnit string
	Basis                  Basis
	Metrics                []Metric
	// Note is the recorder's own remark on the measurement.
	Note string
	// Primary is the index in Metrics of the one to show first.
	Primary int
}

// Saturated reports whether the total exceeds the range of int64, so that sums stop at
// its limit.
func (m *Metric) Saturated() bool { return m.Total == end(1) || m.Total == end(-1) }

// Title returns the event's name for display: its label or name, or else "spans" or
// "samples".
func (e *Event) Title() string {
	switch {
	case e.Label != "" || e.Name != "":
		return cmp.Or(e.Label, e.Name)
	case e.Basis == FromSpans:
		return "spans"
	}
	return "samples"
}

// MetricTitle returns the name of a metric for display. SpanWaiting is "off CPU", because a
// thread without CPU may have waited or been preempted.
func (e *Event) MetricTitle(i int) string {
	if e.Basis == FromSpans && i == SpanWaiting {
		return "off CPU"
	}
	return e.Metrics[i].Name
}

// NameOrKind returns the name of the event for --event: its name, or its kind if the
// format has no name for it.
func (e *Event) NameOrKind() string { return cmp.Or(e.Name, e.Kind, "[unnamed]") }

// Metric returns the index of the named metric, or -1.
func (e *Event) Metric(name string) int {
	for i := range e.Metrics {
		if e.Metrics[i].Name == name {
			return i
		}
	}
	return -1
}

// Metrics of every event whose Basis is FromSpans, in this order.
const (
	SpanTime  = 0
	SpanCount = 1
	// SpanCPU is the CPU time of spans, and SpanWaiting the rest of their duration. They
	// exist only if some spans have a CPU time (see Builder.SetCPU).
	SpanCPU     = 2
	SpanWaiting = 3
)

// plainSpanMetrics is the number of metrics common to all traces.
const plainSpanMetrics = 2

// cpuMetrics returns the metrics SpanCPU and SpanWaiting. Their totals are computed on
// request.
func cpuMetrics() []Metric {
	return []Metric{{Name: "cpu", Unit: "ns", Decimals: 3, Total: Missing}, {Name: "waiting", Unit: "ns", Decimals: 3, Total: Missing}}
}

// Plain returns the event without the metrics that depend on the CPU times of spans, for
// writing it to a file or adding it to a Builder.
func (e Event) Plain() Event {
	if e.Basis == FromSpans && len(e.Metrics) > plainSpanMetrics {
		e.Metrics = e.Metrics[:plainSpanMetrics:plainSpanMetrics]
		if e.Primary >= plainSpanMetrics {
			e.Primary = SpanTime
		}
	}
	return e
}

// Plain returns the recording with its events reduced by [Event.Plain].
func (r *Recording) Plain() *Recording {
	if r.CPU == nil {
		return r
	}
	c := *r
	c.Events = slices.Clone(r.Events)
	for i := range c.Events {
		c.Events[i] = c.Events[i].Plain()
	}
	return &c
}

// SpanEvent returns the event for the spans of a trace: its metrics are time (in ns,
// exact to the picosecond) and count.
func SpanEvent() Event {
	return Event{Kind: "trace", Mode: "event", Basis: FromSpans, Metrics: []Metric{
		SpanTime:  {Name: "time", Unit: "ns", Decimals: 3},
		SpanCount: {Name: "count", Unit: "count"},
	}}
}
