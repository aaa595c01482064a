package spans

import (
	"context"
	"math"
	"slices"
)

// mostSorted is the maximum number of calls for which StandOut is used, because it needs
// sorted durations. It finds the slow calls if the durations have one mode.
const mostSorted = 20_000

// Slow returns the slow calls: the last mode of the durations or, of calls with one mode,
// those that stand out. It reports false if there are none.
func (d *Durations) Slow() (slow Mode, ok bool) {
	if hs := d.Modes(); len(hs) > 1 {
		return hs[len(hs)-1], true
	}
	return d.apart, d.apart.Count > 0
}

// SlowOf is like [Durations.Slow], for plain durations.
func SlowOf(values []int64) (slow Mode, ok bool) {
	if len(values) == 0 {
		return Mode{}, false
	}
	d := Durations{Count: int64(len(values)), Min: slices.Min(values), Max: slices.Max(values)}
	if err := d.summarize(context.Background(), []parts{{values}}, []int64{0, 1}); err != nil {
		return Mode{}, false
	}
	return d.Slow()
}

// Limits of StandOut.
const (
	// mostSlow is the largest share of slow values.
	mostSlow = .3
	// wideGap is the least ratio of two neighbouring values with a gap between them.
	wideGap = 1.25
	// fewestApart is the number of values that a gap must leave above it.
	fewestApart = 4
)

// StandOut returns how many of the largest values stand out from the rest. sorted is in ascending
// order. A value is a candidate if it is at least 1.3 times the median and exceeds it by more than
// five times the median deviation. Of these, at most the largest 30 % of all values are
// considered. If a wide gap (see wideGap) leaves at least four of them above it, only the values
// above the widest such gap stand out. Without such a gap all candidates stand out, or none if
// they are more than 30 % of the values.
func StandOut(sorted []int64) int {
	n := len(sorted)
	if n == 0 {
		return 0
	}
	middle := sorted[n/2]
	deviations := make([]int64, n)
	for i, v := range sorted {
		deviations[i] = max(v-middle, middle-v)
	}
	slices.Sort(deviations)
	usual := deviations[n/2]
	at := n
	for at > 0 && float64(sorted[at-1]) >= 1.3*float64(middle) && float64(sorted[at-1]-middle) > 5*float64(usual) {
		at--
	}
	least := n - int(mostSlow*float64(n))
	border := max(at, least)
	if border == n {
		return 0
	}
	for i := border; i <= n-fewestApart; i++ {
		if r := ratio(sorted, i); r >= wideGap && r > ratio(sorted, border) {
			border = i
		}
	}
	if at < least && ratio(sorted, border) < wideGap {
		return 0
	}
	return n - border
}

// ratio returns how many times as long as its predecessor a sorted value is; 0 for the first.
func ratio(sorted []int64, i int) float64 {
	if i == 0 {
		return 0
	}
	return float64(sorted[i]) / float64(max(1, sorted[i-1]))
}

// findApart finds the calls that stand out.
func (d *Durations) findApart(all parts) {
	if d.Count > mostSorted {
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
