// Package stats implements the statistical tests for comparing recordings: exact tests of
// counts, the Mann-Whitney rank test with the Hodges-Lehmann shift, Welch's test, and the
// Benjamini-Hochberg false discovery rate.
//
// All p-values are two-sided, and swapping the sides changes no result. Tests of discrete
// quantities double the smaller tail, so that their rate of false alarms never exceeds the
// stated level.
package stats

import "math"

// Z95 is the quantile of the normal distribution for 95 % intervals, Z80 the quantile for
// a power of 80 %.
const (
	Z95 = 1.959963984540054
	Z80 = 0.8416212335729143
)

// NormalTails returns the probability that a standard normal variable is at least as far
// from 0 as z, on either side.
func NormalTails(z float64) float64 { return math.Erfc(math.Abs(z) / math.Sqrt2) }

// mostExact is the largest count that is summed term by term. For larger counts the normal
// distribution is accurate enough.
const mostExact = 1e8

// Counts tests whether two observed counts a and b come from the same rate, if a is
// expected to be the share p0 of their sum. Given the sum, a is binomial (Przyborowski
// and Wilenski 1940).
func Counts(a, b, p0 float64) float64 {
	a, b = math.Round(a), math.Round(b)
	n := a + b
	if n <= 0 || p0 <= 0 || p0 >= 1 {
		return 1
	}
	if n > mostExact {
		return NormalTails((a - n*p0) / math.Sqrt(n*p0*(1-p0)))
	}
	at := math.Exp(logChoose(n, a) + a*math.Log(p0) + b*math.Log1p(-p0))
	odds := p0 / (1 - p0)
	up := sumTail(at, func(k float64) float64 { return (b - k) / (a + k + 1) * odds })
	down := sumTail(at, func(k float64) float64 { return (a - k) / (b + k + 1) / odds })
	return math.Min(1, 2*math.Min(up, down))
}

// sumTail adds up a tail of a distribution that begins with term; ratio(k) is the ratio
// of the next term to term k. Beyond the mode the terms decrease.
func sumTail(term float64, ratio func(k float64) float64) float64 {
	sum := term
	for k := 0.0; term > sum*1e-17 || ratio(k) > 1; k++ {
		r := ratio(k)
		if r <= 0 {
			break
		}
		if term *= r; term == 0 && r > 1 {
			return 1 // the mode is so far away that the tail is nearly everything
		}
		sum += term
		if sum > .75 {
			return sum // the other tail is smaller
		}
	}
	return sum
}

func logChoose(n, k float64) float64 {
	a, _ := math.Lgamma(n + 1)
	b, _ := math.Lgamma(k + 1)
	c, _ := math.Lgamma(n - k + 1)
	return a - b - c
}

// CountInterval returns 95 % bounds for the rate behind a count (Byar's approximation to
// the exact Poisson interval, accurate to a few per cent even for 0).
func CountInterval(n float64) (low, high float64) {
	if n > 0 {
		t := 1 - 1/(9*n) - Z95/(3*math.Sqrt(n))
		low = n * math.Max(0, t*t*t)
	}
	m := n + 1
	t := 1 - 1/(9*m) + Z95/(3*math.Sqrt(m))
	return low, m * t * t * t
}

// ShareInterval returns 95 % bounds for the true share if n out of all were observed
// (Wilson 1927).
func ShareInterval(n, all float64) (low, high float64) {
	if all <= 0 {
		return 0, 1
	}
	p, z2 := n/all, Z95*Z95
	mid := p + z2/(2*all)
	half := Z95 * math.Sqrt(p*(1-p)/all+z2/(4*all*all))
	return math.Max(0, (mid-half)/(1+z2/all)), math.Min(1, (mid+half)/(1+z2/all))
}

// Difference combines the intervals of two independent quantities into one for b-a
// (Newcombe 1998; Zou and Donner 2008).
func Difference(a, lowA, highA, b, lowB, highB float64) (low, high float64) {
	d := b - a
	return d - math.Hypot(b-lowB, highA-a), d + math.Hypot(highB-b, a-lowA)
}

// Discoveries converts the p-values of a table to q-values: the expected share of false
// alarms among all rows at least as significant (Benjamini and Hochberg 1995). NaN marks
// a row without a test; it stays NaN and does not count.
func Discoveries(p []float64) []float64 {
	order := make([]int, 0, len(p))
	q := make([]float64, len(p))
	for i, v := range p {
		if math.IsNaN(v) {
			q[i] = v
			continue
		}
		order = append(order, i)
	}
	sortBy(order, func(i, j int) bool { return p[i] < p[j] })
	best := 1.0
	for k := len(order) - 1; k >= 0; k-- {
		i := order[k]
		best = math.Min(best, p[i]*float64(len(order))/float64(k+1))
		q[i] = best
	}
	return q
}
