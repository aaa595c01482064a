package spans

import (
	"math"
	"slices"
)

// Moment is a stretch of time From..To with the spans that begin in it: how
// many, and their median length.
type Moment struct{ From, To, Count, Median int64 }

// Direction is the verdict of a trend.
type Direction string

// What trends say. Unknown: there are too few moments with spans.
const (
	Slower  Direction = "slower"
	Faster  Direction = "faster"
	Steady  Direction = "steady"
	Unknown Direction = "unknown"
)

// Trend reports whether a function gets slower over time. It looks at the medians
// of moments, so that single slow calls do not matter: the line is that of
// Theil and Sen (the median of the slopes of all pairs), the doubt that of Mann
// and Kendall (how likely medians in no order would rise or fall as often).
type Trend struct {
	Direction Direction
	// First and Last are the line's lengths at the first and the last moment
	// with spans, in picoseconds.
	First, Last float64
	// Tau is Kendall's, from -1 (always falls) to 1 (always rises); P is the
	// two-sided probability of one so far from 0 if there is no trend.
	Tau, P float64
	// Moments is how many were looked at.
	Moments int
}

// A trend is one when it is unlikely to be chance, and large enough to matter.
const (
	leastMoments = 8
	trendP       = 0.01
	trendChange  = 0.05
)

// trendOf looks at the moments that have spans.
func trendOf(ms []Moment) Trend {
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

// chance is the two-sided probability of Kendall's sum s or one further from 0
// among values that are in no order: normal, corrected for ties and for s being
// whole.
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

// middle is the usual median; it changes the order of s.
func middle(s []float64) float64 {
	slices.Sort(s)
	n := len(s)
	if n%2 == 1 {
		return s[n/2]
	}
	return (s[n/2-1] + s[n/2]) / 2
}
