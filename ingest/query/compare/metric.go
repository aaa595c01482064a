package compare

import (
	"errors"
	"fmt"
	"math/big"
	"strings"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

// unit is a unit of measurement: what it measures, and its size in base units.
type unit struct {
	class string
	base  int64
}

// units can be converted into each other. pprof spells them out, SPAA and perf abbreviate
// them; kB and the like are left out because they mean 1,000 bytes in some files and
// 1,024 in others.
var units = map[string]unit{
	"ps": {"time", 1}, "picoseconds": {"time", 1},
	"ns": {"time", 1e3}, "nanosecond": {"time", 1e3}, "nanoseconds": {"time", 1e3},
	"us": {"time", 1e6}, "µs": {"time", 1e6}, "μs": {"time", 1e6}, "microsecond": {"time", 1e6}, "microseconds": {"time", 1e6},
	"ms": {"time", 1e9}, "millisecond": {"time", 1e9}, "milliseconds": {"time", 1e9},
	"s": {"time", 1e12}, "sec": {"time", 1e12}, "second": {"time", 1e12}, "seconds": {"time", 1e12},
	"min": {"time", 60e12}, "minute": {"time", 60e12}, "minutes": {"time", 60e12},
	"B": {"bytes", 1}, "byte": {"bytes", 1}, "bytes": {"bytes", 1},
	"KiB": {"bytes", 1 << 10}, "MiB": {"bytes", 1 << 20}, "GiB": {"bytes", 1 << 30},
}

// unitOf returns the unit of a metric of an event. An unknown unit equals only itself. A
// bare count counts the things in its name; a number of events counts events of one kind.
func unitOf(ev *recording.Event, m *recording.Metric) unit {
	if u, ok := units[m.Unit]; ok {
		return u
	}
	switch m.Unit {
	case "events", "event":
		return unit{"events of " + plainEvent(ev.Name), 1}
	case "", "count", "counts", "samples", "sample":
		if isSampleName(m.Name) {
			return unit{samplesClass, 1}
		}
		return unit{"count", 1}
	}
	return unit{m.Unit, 1}
}

// samplesClass is the class of units for numbers of samples.
const samplesClass = "samples"

// plainEvent returns an event's name without perf's modifiers (cycles:uppp).
func plainEvent(name string) string {
	if at := strings.LastIndexByte(name, ':'); at > 0 && strings.Trim(name[at+1:], "ukhGHIpPSDWe") == "" {
		return name[:at]
	}
	return name
}

func isSampleName(name string) bool { return name == "samples" || name == "sample" }

// A Metric is the compared metric in each recording.
type Metric struct {
	// Event and Metric index the recording's events and their metrics, by
	// recording: A's, then B's.
	Event, Metric []int
	// Common is the metric of the results, with the finest unit and the most decimals of
	// all recordings.
	Common recording.Metric
	// Guard is the number of Common's decimals that were added for scaled values.
	Guard int
	// Rule is how the metrics were matched: "event and metric", "metric", "unit", or
	// "name" if B's metric was named.
	Rule string
	// times are the factors that convert each recording's values to Common.
	times []int64
}

// Rules by which metrics are matched.
const (
	sameEvent  = "event and metric"
	sameMetric = "metric"
	sameUnit   = "unit"
	byName     = "name"
)

// matchMetrics is MatchMetric, but B's metric may be named too.
func matchMetrics(recs []*recording.Recording, sides int, o Options) (*Metric, error) {
	if o.MetricB == "" {
		return MatchMetric(recs, o.Event, o.Metric)
	}
	m := &Metric{Rule: byName}
	var first unit
	for i, rec := range recs {
		name := o.Metric
		if i >= sides {
			name = o.MetricB
		}
		e, k, err := analyze.Choose(rec, o.Event, name)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", rec.Source.Path, err)
		}
		if e < 0 {
			return nil, noMetric(recs, o.Event, name)
		}
		u := unitOf(&rec.Events[e], &rec.Events[e].Metrics[k])
		if i == 0 {
			first = u
		} else if u.class != first.class {
			return nil, fmt.Errorf("%s and %s measure different things; %s", recs[0].Events[m.Event[0]].Metrics[m.Metric[0]].Name, name, noMetric(recs, "", ""))
		}
		m.Event, m.Metric = append(m.Event, e), append(m.Metric, k)
	}
	return m, m.scale(recs)
}

// MatchMetric finds the metric to compare. event and metric are names in the form that
// analyze.Choose accepts. If both are empty, it takes the default metric of the first
// recording or, if that has no counterpart in some recording, the first of the first
// recording's metrics that has one in all. A counterpart measures the same thing. It has
// the same name in an event of the same name, else the same name in another event, else
// another name. If no name was given, numbers of samples of different events come last,
// because each event may have its own sampling rate. The error lists the metrics of each
// side.
func MatchMetric(recs []*recording.Recording, event, metric string) (*Metric, error) {
	first := recs[0]
	e, m, err := chosen(recs, event, metric)
	if err != nil {
		return nil, err
	}
	type candidate struct{ e, m int }
	candidates := []candidate{{e, m}}
	if event == "" && metric == "" {
		for e := range first.Events {
			for m := range first.Events[e].Metrics {
				candidates = append(candidates, candidate{e, m})
			}
		}
	}
	last := func(c candidate) bool {
		return len(candidates) > 1 && unitOf(&first.Events[c.e], &first.Events[c.e].Metrics[c.m]).class == samplesClass
	}
	for _, step := range []struct {
		rule string
		last bool
	}{{sameEvent, false}, {sameMetric, false}, {sameUnit, false}, {sameMetric, true}, {sameUnit, true}} {
		for _, c := range candidates {
			if c.e < 0 || step.rule != sameEvent && last(c) != step.last {
				continue
			}
			if got := counterparts(recs, c.e, c.m, step.rule, event, metric); got != nil {
				return got, got.scale(recs)
			}
		}
	}
	return nil, noMetric(recs, event, metric)
}

// chosen finds the metric in the first recording. If only another recording has a metric
// of that name, it returns the first recording's counterpart.
func chosen(recs []*recording.Recording, event, metric string) (e, m int, err error) {
	if e, m, err = analyze.Choose(recs[0], event, metric); err == nil {
		return e, m, nil
	}
	for _, rec := range recs[1:] {
		oe, om, oerr := analyze.Choose(rec, event, metric)
		if oerr != nil || oe < 0 {
			continue
		}
		for _, rule := range []string{sameEvent, sameMetric, sameUnit} {
			if e, m := find(recs[0], &rec.Events[oe], &rec.Events[oe].Metrics[om], rule); e >= 0 {
				return e, m, nil
			}
		}
	}
	return -1, -1, noMetric(recs, event, metric)
}

func counterparts(recs []*recording.Recording, e, m int, rule, event, metric string) *Metric {
	ev := &recs[0].Events[e]
	got := &Metric{Event: []int{e}, Metric: []int{m}, Rule: rule}
	for _, rec := range recs[1:] {
		// Prefer the given names if they fit.
		if event != "" || metric != "" {
			if ce, cm, err := analyze.Choose(rec, event, metric); err == nil && ce >= 0 &&
				unitOf(&rec.Events[ce], &rec.Events[ce].Metrics[cm]).class == unitOf(ev, &ev.Metrics[m]).class {
				got.Event, got.Metric = append(got.Event, ce), append(got.Metric, cm)
				continue
			}
		}
		ce, cm := find(rec, ev, &ev.Metrics[m], rule)
		if ce < 0 {
			return nil
		}
		got.Event, got.Metric = append(got.Event, ce), append(got.Metric, cm)
	}
	return got
}

// find returns the counterpart of a metric by one rule, or -1. Primary metrics come
// first.
func find(rec *recording.Recording, ev *recording.Event, m *recording.Metric, rule string) (e, k int) {
	class := unitOf(ev, m).class
	for e := range rec.Events {
		other := &rec.Events[e]
		if rule == sameEvent && other.NameOrKind() != ev.NameOrKind() {
			continue
		}
		if rule != sameUnit {
			if k := other.Metric(m.Name); k >= 0 && unitOf(other, &other.Metrics[k]).class == class {
				return e, k
			}
			continue
		}
		if class == "count" { // counts may count different things
			continue
		}
		if p := other.Primary; p < len(other.Metrics) && unitOf(other, &other.Metrics[p]).class == class {
			return e, p
		}
	}
	if rule != sameUnit || class == "count" {
		return -1, -1
	}
	for e := range rec.Events {
		for k := range rec.Events[e].Metrics {
			if unitOf(&rec.Events[e], &rec.Events[e].Metrics[k]).class == class {
				return e, k
			}
		}
	}
	return -1, -1
}

// noMetric returns an error that lists the metrics of each side.
func noMetric(recs []*recording.Recording, event, metric string) error {
	var b strings.Builder
	b.WriteString("the recordings have no metric in common")
	if metric != "" || event != "" {
		fmt.Fprintf(&b, " as %s", strings.TrimSpace(event+" "+metric))
	}
	seen := map[string]bool{}
	for _, rec := range recs {
		if seen[rec.Source.Path] {
			continue
		}
		seen[rec.Source.Path] = true
		b.WriteString("; " + rec.Source.Path + " has " + metricsOf(rec))
	}
	return errors.New(b.String())
}

func metricsOf(rec *recording.Recording) string {
	var all []string
	for e := range rec.Events {
		ev := &rec.Events[e]
		for k := range ev.Metrics {
			m := &ev.Metrics[k]
			name := m.Name
			if ev.Name != "" {
				name = ev.Name + " " + name
			}
			if m.Unit != "" {
				name += " (" + m.Unit + ")"
			}
			all = append(all, name)
		}
	}
	if all == nil {
		return "none"
	}
	return strings.Join(all, ", ")
}

// scale finds the common scale: the finest unit and the most decimals.
func (m *Metric) scale(recs []*recording.Recording) error {
	quanta := make([]*big.Rat, len(recs)) // the value 1, in base units
	best := 0
	for r, rec := range recs {
		met := &rec.Events[m.Event[r]].Metrics[m.Metric[r]]
		quanta[r] = new(big.Rat).SetFrac(big.NewInt(unitOf(&rec.Events[m.Event[r]], met).base), pow10(met.Decimals))
		if quanta[r].Cmp(quanta[best]) < 0 {
			best = r
		}
	}
	m.Common = recs[best].Events[m.Event[best]].Metrics[m.Metric[best]]
	m.Common.Total, m.Common.PerSample = 0, recording.SampleNone
	m.Common.Name = recs[0].Events[m.Event[0]].Metrics[m.Metric[0]].Name
	quantum := new(big.Rat).Set(quanta[best])
	const most = 18
	for {
		m.times = m.times[:0]
		for r := range recs {
			f := new(big.Rat).Quo(quanta[r], quantum)
			if f.IsInt() && f.Num().IsInt64() {
				m.times = append(m.times, f.Num().Int64())
			}
		}
		if len(m.times) == len(recs) {
			return nil
		}
		if m.Common.Decimals++; m.Common.Decimals > most {
			return errors.New("the units of the metrics cannot be converted; " + noMetric(recs, "", "").Error())
		}
		quantum.Quo(quantum, big.NewRat(10, 1))
	}
}

func pow10(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// Measures returns what a metric measures, "time" or "bytes", and its unit in picoseconds
// or bytes; "" and 1 for anything else.
func Measures(m *recording.Metric) (class string, base int64) {
	if u, ok := units[m.Unit]; ok {
		return u.class, u.base
	}
	return "", 1
}

// Readable rounds an amount in Common's units for display. It keeps the decimals that
// scaling added only if the amount would otherwise be 0.
func (m *Metric) Readable(v int64) (int64, *recording.Metric) {
	c := m.Common
	tens := int64(1)
	for range m.Guard {
		tens *= 10
	}
	if r := (v + tens/2) / tens; tens > 1 && r > 0 {
		v, c.Decimals = r, c.Decimals-m.Guard
	}
	return v, &c
}
