package spans

import (
	"math"
	"slices"
)

// fewCalls is the number of calls up to which slow ones are found by StandOut if no mode is
// certain: a mode takes at least nine calls.
const fewCalls = 200

// Slow returns the slow calls: the last mode of the durations or, of few calls with one
// mode, those that stand out. It reports false if there are none.
func (d *Durations) Slow() (slow Mode, ok bool) {
	if hs := d.Modes(); len(hs) > 1 {
		return hs[len(hs)-1], true
	}
	return d.apart, d.apart.Count > 0
}

// StandOut returns the number of values, at the end of sorted ones, that stand out: those
// of at least 1.3 times the median that are further from it than five times the usual
// deviation (the median one). More than a quarter of the values do not stand out.
func StandOut(sorted []int64) int {
	if len(sorted) == 0 {
		return 0
	}
	middle := sorted[len(sorted)/2]
	deviations := make([]int64, len(sorted))
	for i, v := range sorted {
		deviations[i] = max(v-middle, middle-v)
	}
	slices.Sort(deviations)
	usual := deviations[len(deviations)/2]
	n := 0
	for i := len(sorted) - 1; i >= 0; i-- {
		if v := sorted[i]; float64(v) < 1.3*float64(middle) || float64(v-middle) <= 5*float64(usual) {
			break
		}
		n++
	}
	if 4*n > len(sorted) {
		return 0
	}
	return n
}

// findApart finds the calls that stand out from few.
func (d *Durations) findApart(all parts) {
	if d.Count > fewCalls {
		return
	}
	sorted := slices.Concat(all...)
	slices.Sort(sorted)
	if n := StandOut(sorted); n > 0 {
		d.apart = Mode{From: sorted[len(sorted)-n], To: math.MaxInt64, Count: int64(n)}
		if d.Max < math.MaxInt64 {
			d.apart.To = d.Max + 1
		}
	}
}
