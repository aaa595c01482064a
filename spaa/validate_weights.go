package spaa

import (
	"cmp"
	"maps"
	"math"
	"slices"
	"strings"
)

// memoryUnits are the standard allocation metrics of §9.2 and their units.
var memoryUnits = map[string]string{
	"alloc_bytes": "bytes", "alloc_count": "count", "free_bytes": "bytes", "free_count": "count",
	"live_bytes": "bytes", "live_count": "count", "peak_bytes": "bytes",
}

func (v *validator) checkWeightObjects(ws []Weight) {
	find := weightFinder(ws)
	for i := range ws {
		w := &ws[i]
		if find(w.Metric) != w {
			v.add("metric-repeated", "the weights have the metric %q twice", w.Metric)
		}
		if unit, ok := memoryUnits[w.Metric]; ok && w.Unit != unit && given(w.Unit, w.Extra, "unit") {
			v.add("memory-unit", "the metric %s has the unit %q instead of %s", w.Metric, w.Unit, unit)
		}
	}
}

// metricOf is a metric of an event.
type metricOf struct{ event, metric string }

// total adds a weight of a stack to the total of its metric, and warns once where the
// total becomes too large.
func (v *validator) total(w *Weight, e *Event) {
	k := metricOf{metric: w.Metric}
	if e != nil {
		k.event = e.Name
	}
	was, ok := v.totals[k]
	if !ok && len(v.totals) >= v.opts.MaxPending {
		return
	}
	if v.totals == nil {
		v.totals = map[metricOf]float64{}
	}
	now := was + w.Value.Float64()
	v.totals[k] = now
	if math.Abs(now) >= 1<<63 && math.Abs(was) < 1<<63 {
		v.add("metric-total", "the metric %q adds up to 2^63 or more here", w.Metric)
	}
}

// unit checks that a metric has the same unit as before.
func (v *validator) unit(w *Weight, e *Event) {
	if w.Unit == "" {
		return
	}
	k := metricOf{metric: w.Metric}
	if e != nil {
		k.event = e.Name
	}
	switch was, ok := v.units[k]; {
	case ok && was != w.Unit:
		v.add("metric-unit", "the metric %q has the unit %q here and %q before", w.Metric, w.Unit, was)
	case !ok && len(v.units) < v.opts.MaxPending:
		v.units[metricOf{strings.Clone(k.event), strings.Clone(k.metric)}] = strings.Clone(w.Unit)
	}
}

// checkWeights checks the weights of a stack, or of a stack in a window; e is nil if the
// event is unknown.
func (v *validator) checkWeights(ws []Weight, e *Event, isStack bool) {
	v.checkWeightObjects(ws)
	primary := ""
	if e != nil {
		primary = e.Sampling.PrimaryMetric
	}
	for i := range ws {
		w := &ws[i]
		if w.Value.IsZero() {
			continue
		}
		if isStack {
			v.total(w, e)
			v.unit(w, e)
		}
		metric := w.Metric
		sign := w.Value.sign()
		counts := metric == primary || metric == "period" || metric == "samples" || metric == "count"
		if sign < 0 || sign == 0 && counts {
			v.add("metric-suspicious", "the metric %s is %s", metric, w.Value)
		}
	}
	if isStack && e != nil {
		v.checkMetrics(ws, e)
	}
}

func (v *validator) checkMetrics(ws []Weight, e *Event) {
	has := func(metric string) bool {
		w := findWeight(ws, metric)
		return w != nil && !w.Value.IsZero()
	}
	primary := e.Sampling.PrimaryMetric
	lacksPrimary := primary != "" && !has(primary)
	if lacksPrimary {
		v.add("primary-metric", "the weights lack %q, the primary metric of event %q", primary, e.Name)
	}
	switch tool := v.tool(); {
	case e.isMemory():
	case tool == "perf" && !has("period") && !(lacksPrimary && primary == "period"):
		v.add("native-metric", "a perf stack lacks its own metric, period")
	case tool == "dtrace" && !has("samples") && !has("count") && !lacksPrimary:
		v.add("native-metric", "a DTrace stack lacks its own metric, samples or count")
	}
	if has("cpu_time_ns") && e.Sampling.Mode != "frequency" {
		v.add("derived-metric", "cpu_time_ns is derived, but event %q is not sampled by frequency", e.Name)
	}
	v.checkMemory(ws, e)
}

func (v *validator) checkMemory(ws []Weight, e *Event) {
	values := map[string]int64{}
	standard := false
	for i := range ws {
		metric := ws[i].Metric
		if _, ok := memoryUnits[metric]; !ok {
			continue
		}
		standard = true
		if n, exact := ws[i].Value.Int64(); exact {
			values[metric] = n
		}
		if t := e.AllocationTracking; t != nil && t.TracksFrees.OK && !t.TracksFrees.V &&
			(strings.HasPrefix(metric, "free_") || strings.HasPrefix(metric, "live_")) {
			v.add("memory-frees", "the stack has %s, but event %q does not track frees", metric, e.Name)
		}
	}
	if e.isMemory() && !standard {
		v.add("memory-metrics", "the stack of the memory event %q has none of the standard metrics", e.Name)
	}
	for _, what := range []string{"bytes", "count"} {
		alloc, hasAlloc := values["alloc_"+what]
		free, hasFree := values["free_"+what]
		live, hasLive := values["live_"+what]
		if hasAlloc && hasLive && (hasFree && live != alloc-free || live > alloc) {
			v.add("memory-live", "live_%s is %d, which is not alloc_%s minus free_%s", what, live, what, what)
		}
	}
	if peak, ok := values["peak_bytes"]; ok {
		if live, ok := values["live_bytes"]; ok && peak < live {
			v.add("memory-peak", "peak_bytes is %d, less than live_bytes %d", peak, live)
		}
	}
}

func (v *validator) checkSample(s *Sample) {
	if s.Context != nil {
		v.checkContext(s.Context, false)
	}
	v.nameThread(s.TID)
	if !s.StackID.IsZero() {
		v.wantStackID(s.StackID, "sample-stack")
	}
	v.addSample(s)
	v.countPeriod(s)
	if given(s.Event, s.Extra, "event") && v.header != nil && v.events[s.Event] == nil {
		v.add("sample-event", "the header has no event %q", s.Event)
	}
	if !s.Period.IsZero() && s.Period.sign() <= 0 {
		v.add("metric-suspicious", "the period of the sample is %s", s.Period)
	}
	if v.header == nil || v.header.TimeRange == nil || s.Timestamp.IsZero() {
		return
	}
	t, at := v.header.TimeRange, decimal(s.Timestamp.Decimal())
	if t.Start != "" && compareDecimals(at, v.start) < 0 || t.End != "" && compareDecimals(at, v.end) > 0 {
		v.add("sample-time", "the timestamp %s lies outside of the time range from %s to %s", s.Timestamp, t.Start, t.End)
	}
}

func (v *validator) checkWindow(w *Window) {
	if !w.Start.IsZero() && !w.End.IsZero() && compareNumbers(w.Start, w.End) > 0 {
		v.add("window-range", "the window goes from %s to %s", w.Start, w.End)
	}
	v.addWindow(w)
	if !timeUnits(w.Unit) {
		v.add("time-unit", "the window has the unknown unit %q", w.Unit)
	}
	for i := range w.ByStack {
		s := &w.ByStack[i]
		if !s.StackID.IsZero() {
			v.wantStackID(s.StackID, "window-stack")
		}
		v.checkWeights(s.Weights, nil, false)
		v.addRow(s)
	}
}

func (n Number) sign() int {
	m, _, exact := n.Decimal()
	if m == 0 && !exact {
		return cmp.Compare(n.Float64(), 0)
	}
	return cmp.Compare(m, 0)
}

// decimalValue is the result of Decimal.
type decimalValue struct {
	mant  int64
	dec   int
	exact bool
}

func decimal(m int64, d int, exact bool) decimalValue { return decimalValue{m, d, exact} }

func compareNumbers(a, b Number) int {
	return compareDecimals(decimal(a.Decimal()), decimal(b.Decimal()))
}

// compareDecimals compares whole parts and then fractions of 18 digits, so
// nothing overflows.
func compareDecimals(a, b decimalValue) int {
	aw, af := a.split()
	bw, bf := b.split()
	if c := cmp.Compare(aw, bw); c != 0 {
		return c
	}
	return cmp.Compare(af, bf)
}

func (d decimalValue) split() (whole, fraction int64) {
	scale := int64(math.Pow10(d.dec))
	return d.mant / scale, d.mant % scale * int64(math.Pow10(maxDecimals-d.dec))
}

// periods counts the samples of an event.
type periods struct {
	samples, without int64
	first            int64 // line of the first sample without a period
}

func (v *validator) countPeriod(s *Sample) {
	p := v.periods[s.Event]
	if p == nil {
		if len(v.periods) >= v.opts.MaxPending {
			return
		}
		p = new(periods)
		v.periods[strings.Clone(s.Event)] = p
	}
	p.samples++
	if s.Period.IsZero() {
		if p.without++; p.without == 1 {
			p.first = v.lines.line
		}
	}
}

func (v *validator) checkPeriods() {
	for _, name := range slices.Sorted(maps.Keys(v.periods)) {
		p := v.periods[name]
		if p.without > 0 && p.without < p.samples {
			v.addAt(p.first, "sample-period", "%d of the %d samples of event %q have no period, first here", p.without, p.samples, name)
		}
	}
}
