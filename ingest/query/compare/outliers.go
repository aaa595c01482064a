package compare

import (
	"math"
	"slices"
)

// far is the modified z-score from which a value is an outlier, and leastRuns the number
// of runs from which it is computed.
const far, leastRuns = 3.5, 5

// Outliers reports for each of Runs whether its total is an outlier on its side: whether
// its modified z-score exceeds 3.5 (Iglewicz and Hoaglin, "How to Detect and Handle
// Outliers", ASQC 1993). Sides with fewer than five runs have none.
func (c *Comparison) Outliers() []bool {
	out := make([]bool, len(c.Runs))
	for _, side := range [][2]int{{0, c.Sides}, {c.Sides, len(c.Runs)}} {
		var totals []float64
		for r := side[0]; r < side[1]; r++ {
			_, n := c.sideOf(r)
			totals = append(totals, float64(c.Runs[r].Scaled)*float64(n))
		}
		copy(out[side[0]:], outliers(totals))
	}
	return out
}

func outliers(values []float64) []bool {
	out := make([]bool, len(values))
	if len(values) < leastRuns {
		return out
	}
	middle := median(values)
	away, sum := make([]float64, len(values)), 0.0
	for i, v := range values {
		away[i] = math.Abs(v - middle)
		sum += away[i]
	}
	// Either measure estimates the standard deviation of a normal distribution, thanks to its
	// factor. The median deviation is zero if more than half of the values are equal; then use
	// the mean deviation.
	unit := median(away) / .6745
	if unit == 0 {
		unit = 1.253314 * sum / float64(len(values))
	}
	for i := range values {
		out[i] = away[i] > far*unit
	}
	return out
}

func median(values []float64) float64 {
	s := slices.Sorted(slices.Values(values))
	n := len(s)
	return (s[(n-1)/2] + s[n/2]) / 2
}
