package spans

import (
	"math"
	"slices"
)

// A Moment is a stretch of time From..To with the number of spans that begin in it and
// their median length.
type Moment struct{ From, To, Count, Median int64 }

// Direction is the verdict of a trend.
type Direction string

// Directions. Unknown means that too few moments have spans.
const (
	Slower  Direction = "slower"
	Faster  Direction = "faster"
	Steady  Direction = "steady"
	Unknown Direction = "unknown"
)

// A Trend says whether a function gets slower over time. It is computed from the medians
// of moments, so that single slow calls do not matter. The line is Theil and Sen's (the
// median of the slopes of all pairs). The test is Mann and Kendall's (the probability
// that medians in random order rise or fall as often as these).
type Trend struct {
	Direction Direction
	// First and Last are the lengths on the line, in picoseconds, at the first and the
	// last moment that has spans.
	First, Last float64
	// Tau is Kendall's tau, from -1 (always falls) to 1 (always rises). P is the
	// two-sided probability of a tau at least as far from 0 if there is no trend.
	Tau, P float64
	// Moments is the number of moments with spans.
	Moments int
}

// A trend must be unlikely to be chance, and large enough to matter.
const (
	leastMoments = 8
	trendP       = 0.01
	trendChange  = 0.05
)

// TrendOf computes the trend of the moments with spans.
func TrendOf(ms []Moment) Trend {
	var x, y []float64
	for _, m := range ms {
		if m.Count > 0 {
			x = append(x, float64(m.From-ms[0].From)+float64(m.To-m.From)/2)
			y = append(y, float64(m.Median))
		}
	}
	n := len(x)
	t := Trend{Direction: Unknown, P: 1, Moments: n}
	if n == 0 {
		return t
	}
	slope, s := 0.0, 0
	if n > 1 {
		slopes := make([]float64, 0, n*(n-1)/2)
		for i := range n {
			for k := i + 1; k < n; k++ {
				slopes = append(slopes, (y[k]-y[i])/(x[k]-x[i]))
				switch {
				case y[k] > y[i]:
					s++
				case y[k] < y[i]:
					s--
				}
			}
		}
		slope = middle(slopes)
		t.Tau = float64(s) / float64(len(slopes))
	}
	base := make([]float64, n)
	for i := range base {
		base[i] = y[i] - slope*x[i]
	}
	b := middle(base)
	t.First, t.Last = b+slope*x[0], b+slope*x[n-1]
	if n < leastMoments {
		return t
	}
	t.P = chance(s, y)
	t.Direction = Steady
	if change := t.Last - t.First; t.P < trendP && math.Abs(change) >= trendChange*math.Abs(t.First) {
		if t.Direction = Slower; change < 0 {
			t.Direction = Faster
		}
	}
	return t
}

// chance returns the two-sided probability that Kendall's sum is at least as far from 0
// as s for values in random order. It uses the normal distribution, corrected for ties
// and for continuity.
func chance(s int, y []float64) float64 {
	n := float64(len(y))
	v := n * (n - 1) * (2*n + 5)
	sorted := slices.Sorted(slices.Values(y))
	for i := 0; i < len(sorted); {
		k := i
		for k < len(sorted) && sorted[k] == sorted[i] {
			k++
		}
		t := float64(k - i)
		v -= t * (t - 1) * (2*t + 5)
		i = k
	}
	if v <= 0 || s == 0 {
		return 1
	}
	z := (math.Abs(float64(s)) - 1) / math.Sqrt(v/18)
	return math.Erfc(z / math.Sqrt2)
}

// middle returns the usual median; it reorders s.
func middle(s []float64) float64 {
	slices.Sort(s)
	n := len(s)
	if n%2 == 1 {
		return s[n/2]
	}
	return (s[n/2-1] + s[n/2]) / 2
}
