package spaa

import (
	"fmt"
	"math"
	"strings"

	"ashlar/ingest/format/perfscript"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
)

const (
	// maxDecimals is the maximum number of decimals of a metric's values.
	maxDecimals = 9
	// maxMetrics and maxEvents limit the recording's tables; real files have only a few
	// of each.
	maxMetrics = 64
	maxEvents  = 4096
)

// eventState holds the merger's data about an event that the builder does not hold.
type eventState struct {
	name     uint32
	declared bool
	// primary is the index of the declared primary metric, -1 when there is
	// none.
	primary int
	metrics []metricState
	weighed bool // a stack record had weights
	// bare is the number of stack records without weights, and bareLine the line of the
	// first.
	bare, bareLine int64
	samples        int64
	// noPeriod is the number of samples without a period, and noPeriodLine the line of the
	// first.
	noPeriod, noPeriodLine int64
	// period is the metric that a sample's period measures, -1 for none. It was
	// determined when the event had periodOf metrics.
	period, periodOf int
	// columns is 1 + the last metric that samples carry.
	columns int
}

type metricState struct {
	name, unit uint32
	decimals   int
	count      bool // the metric counts samples: "samples" or "count"
	stuck      bool // the builder cannot raise its decimals any further
}

// event returns the index of an event by name, adding it when the header does
// not have it.
func (m *merger) event(name uint32, line int64) int32 {
	if e := m.known(name); e >= 0 {
		return e
	}
	if len(m.events) >= maxEvents {
		m.warn(warnEventLimit, line, quote(m.names.text[name]))
		m.eventOf[name] = maxEvents
		return maxEvents - 1
	}
	m.warn(warnEventUndeclared, line, quote(m.names.text[name]))
	return m.addEvent(name, recording.Event{Name: m.names.text[name]})
}

// known returns the index of an event by name, -1 if there is none.
func (m *merger) known(name uint32) int32 {
	for int(name) >= len(m.eventOf) {
		m.eventOf = append(m.eventOf, make([]int32, max(64, len(m.eventOf)))...)
	}
	return m.eventOf[name] - 1
}

// addEvent adds a new event.
func (m *merger) addEvent(name uint32, e recording.Event) int32 {
	i := int32(m.b.AddEvent(e))
	m.events = append(m.events, eventState{name: name, primary: -1})
	m.eventOf[name] = i + 1
	return i
}

// defaultEvent returns the event for records that name none.
func (m *merger) defaultEvent(line int64) int32 {
	if name := m.names.id(""); len(m.events) == 0 && m.known(name) < 0 {
		m.addEvent(name, recording.Event{})
	}
	m.warn(warnEventMissing, line, "event "+quote(m.names.text[m.events[0].name]))
	return 0
}

// metric returns the index of an event's metric, adding it when it is new; -1
// when there are too many.
func (m *merger) metric(event int32, name, unit uint32, line int64) int {
	ev := &m.events[event]
	for i := range ev.metrics {
		if ms := &ev.metrics[i]; ms.name == name {
			if unit != ms.unit && unit != 0 {
				m.setUnit(event, i, unit, line)
			}
			return i
		}
	}
	text := m.names.text[name]
	if len(ev.metrics) >= maxMetrics {
		m.warn(warnMetricLimit, line, quote(text))
		return -1
	}
	i := len(ev.metrics)
	ms := metricState{name: name, unit: unit, count: text == "samples" || text == "count"}
	met := recording.Metric{Name: text, Unit: m.unit(event, name, unit), Kind: metricKind(text)}
	if ms.count {
		met.PerSample = recording.SampleOne
	}
	ev.metrics = append(ev.metrics, ms)
	e := m.b.Event(int(event))
	e.Metrics = append(e.Metrics, met)
	if ev.primary < 0 && text == "period" {
		e.Primary = i // the weight of perf samples, if the header names no primary metric
	}
	return i
}

// unit returns the unit of a metric; unit is 0 if the file gives none. perf's clocks
// count nanoseconds, which some converters call events.
func (m *merger) unit(event int32, metric, unit uint32) string {
	name, text := m.names.text[metric], m.names.text[unit]
	if name == "period" && (unit == 0 || text == "events") {
		if u := perfscript.PeriodUnit(m.names.text[m.events[event].name]); u == "ns" {
			return u
		}
	}
	if unit == 0 {
		return usualUnit(name)
	}
	return text
}

// setUnit sets the unit when the first value with a unit is read.
func (m *merger) setUnit(event int32, metric int, unit uint32, line int64) {
	ms := &m.events[event].metrics[metric]
	if ms.unit != 0 {
		if _, ok := inUnit(number{}, m.names.text[unit], m.names.text[ms.unit]); ok {
			return // weights converts the value
		}
		m.warn(warnUnit, line, quote(m.names.text[ms.name]))
		return
	}
	ms.unit = unit
	m.b.Event(int(event)).Metrics[metric].Unit = m.unit(event, ms.name, unit)
}

// inUnit converts a number from one unit of time to another; ok is false if it cannot.
func inUnit(n number, from, to string) (out number, ok bool) {
	a, known := unitSize(from)
	b, also := unitSize(to)
	switch {
	case !known || !also:
		return n, false
	case a%b == 0:
		v, fits := mulExact(n.mant, a/b)
		if !fits {
			if v, n.inexact = math.MaxInt64, true; n.mant < 0 {
				v = math.MinInt64
			}
			n.dec = 0
		}
		n.mant = v
		return n, true
	}
	for f := b / a; b%a == 0 && f%10 == 0; {
		if f /= 10; int(n.dec) >= len(pow10)-1 {
			return n, false
		}
		if n.dec++; f == 1 {
			return n, true
		}
	}
	return n, false
}

// metricKind returns the kind of a metric by its name, as in section 9.2 of the spec.
func metricKind(name string) recording.MetricKind {
	switch {
	case strings.HasPrefix(name, "live_"):
		return recording.Level
	case name == "peak_bytes":
		return recording.Peak
	}
	return recording.Sum
}

// usualUnit returns the unit of a metric for which the file gives none.
func usualUnit(name string) string {
	switch {
	case name == "samples", name == "count", strings.HasSuffix(name, "_count"):
		return "count"
	case strings.HasSuffix(name, "_bytes"), name == "bytes":
		return "bytes"
	case strings.HasSuffix(name, "_ns"):
		return "ns"
	case strings.HasSuffix(name, "_us"):
		return "us"
	case strings.HasSuffix(name, "_ms"):
		return "ms"
	}
	return ""
}

// weights returns values by metric from a list of weights, whose names are numbers in the
// merger's names. The result is valid until the next call.
func (m *merger) weights(event int32, ws []weightRec, line int64) []int64 {
	values := m.values[:0]
	for range m.events[event].metrics {
		values = append(values, recording.Missing)
	}
	for i := range ws {
		w := &ws[i]
		k := m.metric(event, w.metric, w.unit, line)
		if k < 0 {
			continue
		}
		for len(values) <= k {
			values = append(values, recording.Missing)
		}
		if values[k] != recording.Missing {
			m.warn(warnDuplicateMetric, line, quote(m.names.text[w.metric]))
			continue
		}
		n := w.value
		if own := m.events[event].metrics[k].unit; own != w.unit && w.unit != 0 && own != 0 {
			n, _ = inUnit(n, m.names.text[w.unit], m.names.text[own])
		}
		values[k] = m.value(event, k, n, line)
	}
	m.values = values
	return values
}

// value converts a number to the metric's decimals, raising them if necessary.
func (m *merger) value(event int32, metric int, n number, line int64) int64 {
	ms := &m.events[event].metrics[metric]
	v, dec := n.mant, int(n.dec)
	if n.inexact {
		c := warnRounded
		if v == math.MaxInt64 || v == math.MinInt64 {
			c = warnSaturated
		}
		m.warn(c, line, quote(m.names.text[ms.name]))
	}
	if dec != ms.decimals {
		v = m.rescale(event, metric, v, dec, line)
	}
	if v == recording.Missing {
		m.warn(warnSaturated, line, quote(m.names.text[ms.name]))
		v++
	}
	return v
}

func (m *merger) rescale(event int32, metric int, v int64, dec int, line int64) int64 {
	ms := &m.events[event].metrics[metric]
	for dec > ms.decimals && v%10 == 0 {
		v /= 10
		dec--
	}
	if to := min(dec, maxDecimals); to > ms.decimals && !ms.stuck {
		if m.b.SetDecimals(int(event), metric, to) {
			ms.decimals = to
		} else {
			ms.stuck = true
		}
	}
	if dec > ms.decimals {
		m.warn(warnRounded, line, quote(m.names.text[ms.name]))
		p := pow10[dec-ms.decimals]
		rest := v % p
		v /= p
		switch { // halves away from zero
		case rest >= p-p/2:
			v++
		case rest <= p/2-p:
			v--
		}
		return v
	}
	out, ok := mulExact(v, pow10[ms.decimals-dec])
	if !ok {
		m.warn(warnSaturated, line, quote(m.names.text[ms.name]))
		if v < 0 {
			return math.MinInt64 + 1
		}
		return math.MaxInt64
	}
	return out
}

// finishEvents decides for each event whether its values come from stack records or
// samples.
func (m *merger) finishEvents() {
	for i := range m.events {
		ev := &m.events[i]
		if ev.bare > 0 && (ev.weighed || ev.samples == 0) && ev.declared {
			m.warn(warnPrimaryMissing, ev.bareLine, quote(m.names.text[ev.name]))
			m.pending[warnPrimaryMissing] += ev.bare - 1
		}
		m.checkPeriods(int32(i))
		if ev.weighed || ev.samples == 0 {
			continue
		}
		hasCount := false
		for k := range ev.metrics {
			hasCount = hasCount || ev.metrics[k].count
		}
		if !hasCount {
			m.metric(int32(i), m.names.id("samples"), 0, 0)
		}
		m.b.Event(i).Basis = recording.FromSamples
	}
}

// checkPeriods warns if some samples of an event have a period and others do not: sums over
// a range leave those out.
func (m *merger) checkPeriods(event int32) {
	ev := &m.events[event]
	k := m.b.Event(int(event)).Metrics
	if ev.noPeriod == 0 || ev.noPeriod == ev.samples || ev.period < 0 || ev.period >= len(k) {
		return
	}
	m.warn(warnNoPeriod, ev.noPeriodLine, fmt.Sprintf("%d of %s of event %s carry no period and count as 0 in the metric %s of a range; to count all, use the metric samples", ev.noPeriod, safetext.Plural(ev.samples, "sample"), quote(m.names.text[ev.name]), quote(k[ev.period].Name)))
	m.pending[warnNoPeriod] += ev.noPeriod - 1
}
