package spaa

import (
	"strconv"
	"strings"
)

// stackSums compares the weights in the records of one stack id with the sums over its
// samples and over its windows. It does so for two metrics: the one that a sample's
// period measures and the one that counts samples.
type stackSums struct {
	id       ID
	line     int64 // line of the first stack record, 0 while there is none
	samples  int64
	whole    [summed]float64
	sampled  [summed]float64
	windowed [summed]float64 // the maximum over the windows
	has      [summed]bool
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
		s = &stackSums{id: id}
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
	sums := v.sumsOf(s.ID)
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
	sums := v.sumsOf(s.StackID)
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
		}
	}
}

// checkSums reports parts larger than their whole.
func (v *validator) checkSums() {
	const exact = 1 + 1e-9 // sums are of floating point
	number := func(f float64) string { return strconv.FormatFloat(f, 'f', -1, 64) }
	names := [summed]string{"period", "count"}
	for _, s := range v.sums {
		for k := range summed {
			if s.line == 0 || !s.has[k] || s.whole[k] <= 0 { // another rule covers this
				continue
			}
			whole := s.whole[k] * exact
			if s.sampled[k] > whole {
				v.addAt(s.line, "samples-sum", "the %d samples of stack %s add up to a %s of %s, more than the stack's total of %s", s.samples, s.id.quoted(), names[k], number(s.sampled[k]), number(s.whole[k]))
			}
			if s.windowed[k] > whole {
				v.addAt(s.line, "windows-sum", "a window has a %s of %s for stack %s, more than the stack's total of %s", names[k], number(s.windowed[k]), s.id.quoted(), number(s.whole[k]))
			}
		}
	}
}
