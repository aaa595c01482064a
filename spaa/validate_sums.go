package spaa

import (
	"cmp"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// stackSums compares the weights in the records of one stack id with the sums over its
// samples and over its windows. It does so for two metrics: the one that a sample's
// period measures and the one that counts samples.
type stackSums struct {
	id       ID
	order    int             // of the first reference in the file
	windowed [summed]float64 // the maximum over the windows
	tiled    [summed]float64 // the sum over the windows
	// events are the sums by event: records of two events may have one id. The event of
	// samples that name none is 0.
	events []eventSums
}

type eventSums struct {
	event   uint64 // hash of the name
	line    int64  // line of the first stack record, 0 while there is none
	samples int64
	whole   [summed]float64
	sampled [summed]float64
	has     [summed]bool
}

// of returns the sums of an event.
func (s *stackSums) of(event uint64) *eventSums {
	for i := range s.events {
		if s.events[i].event == event {
			return &s.events[i]
		}
	}
	s.events = append(s.events, eventSums{event: event})
	return &s.events[len(s.events)-1]
}

// all returns the sums over all events.
func (s *stackSums) all() (sum eventSums) {
	for i := range s.events {
		e := &s.events[i]
		if sum.line == 0 || e.line > 0 && e.line < sum.line {
			sum.line = e.line
		}
		sum.samples += e.samples
		for k := range summed {
			sum.whole[k] += e.whole[k]
			sum.sampled[k] += e.sampled[k]
			sum.has[k] = sum.has[k] || e.has[k]
		}
	}
	return sum
}

// The metrics that are compared.
const (
	sumOfPeriod = iota
	sumOfCount
	summed
)

func (v *validator) sumsOf(id ID) *stackSums {
	k := v.key(id)
	s := v.sums[k]
	if s == nil {
		id.text = strings.Clone(id.text)
		s = &stackSums{id: id, order: len(v.sums)}
		v.sums[k] = s
	}
	return s
}

// sumOf returns the sum that a metric belongs to, -1 for none.
func sumOf(metric, primary string) int {
	switch metric {
	case "samples", "count":
		return sumOfCount
	case "period", primary:
		return sumOfPeriod
	}
	return -1
}

func (v *validator) addStack(s *Stack, e *Event) {
	if s.ID.IsZero() || e == nil {
		return
	}
	sums := v.sumsOf(s.ID).of(v.hash(e.Name))
	if sums.line == 0 {
		sums.line = v.lines.line
	}
	period := findWeight(s.Weights, "period") != nil
	for i := range s.Weights {
		w := &s.Weights[i]
		k := sumOf(w.Metric, e.Sampling.PrimaryMetric)
		if k < 0 || k == sumOfPeriod && period && w.Metric != "period" {
			continue
		}
		sums.has[k] = true
		sums.whole[k] += w.Value.Float64()
	}
}

func (v *validator) addSample(s *Sample) {
	if s.StackID.IsZero() {
		return
	}
	event := uint64(0)
	if s.Event != "" {
		event = v.hash(s.Event)
	}
	sums := v.sumsOf(s.StackID).of(event)
	sums.samples++
	sums.sampled[sumOfCount]++
	sums.sampled[sumOfPeriod] += s.Period.Float64()
}

func (v *validator) addRow(s *StackWeights) {
	if s.StackID.IsZero() {
		return
	}
	sums := v.sumsOf(s.StackID)
	for i := range s.Weights {
		if w := &s.Weights[i]; w.Metric == "period" || w.Metric == "samples" || w.Metric == "count" {
			k := sumOf(w.Metric, "")
			sums.windowed[k] = max(sums.windowed[k], w.Value.Float64())
			sums.tiled[k] += w.Value.Float64()
		}
	}
}

// addWindow remembers the time of a window.
func (v *validator) addWindow(w *Window) {
	v.windows = append(v.windows, windowTime{w.Start.Float64(), w.End.Float64(), strings.Clone(w.Unit)})
}

type windowTime struct {
	start, end float64
	unit       string
}

// apart reports whether no two windows overlap, so that their sums are parts of one whole.
func (v *validator) apart() bool {
	slices.SortFunc(v.windows, func(a, b windowTime) int { return cmp.Compare(a.start, b.start) })
	for i, w := range v.windows {
		if w.start > w.end || i > 0 && (w.start < v.windows[i-1].end || w.unit != v.windows[0].unit) {
			return false
		}
	}
	return true
}

// exact is the factor by which a sum may exceed another one: sums are of floating point.
const exact = 1 + 1e-9

// checkSums reports parts larger than their whole. Samples that name no event may belong to
// any of their stack's events.
func (v *validator) checkSums() {
	apart := v.apart()
	inOrder := func(a, b *stackSums) int { return cmp.Compare(a.order, b.order) }
	for _, s := range slices.SortedFunc(maps.Values(v.sums), inOrder) {
		all := s.all()
		for k := range summed {
			switch {
			case apart && s.tiled[k] > s.windowed[k] && all.exceeds(k, s.tiled[k]):
				v.addAt(all.line, "windows-sum", "the windows add up to a %s of %s for stack %s, more than the stack's total of %s", sumNames[k], sumText(s.tiled[k]), s.id.quoted(), sumText(all.whole[k]))
			case all.exceeds(k, s.windowed[k]):
				v.addAt(all.line, "windows-sum", "a window has a %s of %s for stack %s, more than the stack's total of %s", sumNames[k], sumText(s.windowed[k]), s.id.quoted(), sumText(all.whole[k]))
			}
		}
		if s.of(0).samples > 0 {
			v.checkSamples(s, &all)
			continue
		}
		for i := range s.events {
			v.checkSamples(s, &s.events[i])
		}
	}
}

func (v *validator) checkSamples(s *stackSums, e *eventSums) {
	for k := range summed {
		if e.exceeds(k, e.sampled[k]) {
			v.addAt(e.line, "samples-sum", "the %d samples of stack %s add up to a %s of %s, more than the stack's total of %s", e.samples, s.id.quoted(), sumNames[k], sumText(e.sampled[k]), sumText(e.whole[k]))
		}
	}
}

var sumNames = [summed]string{"period", "count"}

func sumText(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }

// exceeds reports whether a part is more than the whole. Other rules cover stacks without
// the metric.
func (e *eventSums) exceeds(k int, part float64) bool {
	return e.line > 0 && e.has[k] && e.whole[k] > 0 && part > e.whole[k]*exact
}
