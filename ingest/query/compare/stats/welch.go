package stats

import "math"

// A Sample summarizes values: their number, their mean, and the variance of one value
// (with n-1).
type Sample struct {
	N              int
	Mean, Variance float64
}

// NewSample summarizes values.
func NewSample(values []float64) Sample {
	s := Sample{N: len(values)}
	for _, v := range values {
		s.Mean += v
	}
	if s.N > 0 {
		s.Mean /= float64(s.N)
	}
	for _, v := range values {
		s.Variance += (v - s.Mean) * (v - s.Mean)
	}
	if s.N > 1 {
		s.Variance /= float64(s.N - 1)
	}
	return s
}

// Welch is the outcome of a comparison of two means.
type Welch struct {
	// P is the p-value. Difference is the second mean minus the first, Error its standard
	// error, Freedom its degrees of freedom.
	P, Difference, Error, Freedom float64
}

// Interval bounds the difference of the means with 95 % confidence.
func (w *Welch) Interval() (low, high float64) {
	half := w.Error * StudentQuantile(w.Freedom)
	return w.Difference - half, w.Difference + half
}

// Means compares the means of two samples of at least two values each; their variances
// may differ (Welch 1947). least is a lower bound for the variance of the difference,
// known from elsewhere; 0 for none. If nothing varies at all, P is the smallest p-value
// that a permutation of the values over the sides could give.
func Means(a, b Sample, least float64) Welch {
	va, vb := a.Variance/float64(a.N), b.Variance/float64(b.N)
	d := b.Mean - a.Mean
	w := Welch{Difference: d, Freedom: float64(a.N + b.N - 2)}
	if v := va + vb; v > 0 {
		w.Freedom = v * v / (va*va/float64(a.N-1) + vb*vb/float64(b.N-1))
	}
	w.Error = math.Sqrt(math.Max(va+vb, least))
	switch {
	case d == 0:
		w.P = 1
	case w.Error == 0:
		w.P = math.Min(1, 2*math.Exp(-logChoose(float64(a.N+b.N), float64(a.N))))
	default:
		w.P = StudentTails(d/w.Error, w.Freedom)
	}
	return w
}

// StudentTails returns the probability that Student's t with the given degrees of freedom
// is at least as far from 0 as t.
func StudentTails(t, freedom float64) float64 {
	return incompleteBeta(freedom/(freedom+t*t), freedom/2, .5)
}

// StudentQuantile returns the t that the absolute value of Student's t exceeds with a
// probability of 5 %.
func StudentQuantile(freedom float64) float64 {
	lo, hi := 0.0, 1e4
	for range 80 {
		mid := (lo + hi) / 2
		if StudentTails(mid, freedom) > .05 {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}

// incompleteBeta returns the regularised incomplete beta function, from its continued
// fraction (Lentz's method).
func incompleteBeta(x, a, b float64) float64 {
	switch {
	case x <= 0:
		return 0
	case x >= 1:
		return 1
	case x > (a+1)/(a+b+2):
		return 1 - incompleteBeta(1-x, b, a)
	}
	la, _ := math.Lgamma(a)
	lb, _ := math.Lgamma(b)
	lab, _ := math.Lgamma(a + b)
	front := math.Exp(lab-la-lb+a*math.Log(x)+b*math.Log1p(-x)) / a
	const tiny = 1e-300
	c, d := 1.0, 0.0
	f := 1.0
	for i := range 2000 {
		m := float64(i / 2)
		num := 1.0
		switch {
		case i == 0:
		case i%2 == 0:
			num = m * (b - m) * x / ((a + 2*m - 1) * (a + 2*m))
		default:
			num = -(a + m) * (a + b + m) * x / ((a + 2*m) * (a + 2*m + 1))
		}
		if d = 1 + num*d; math.Abs(d) < tiny {
			d = tiny
		}
		d = 1 / d
		if c = 1 + num/c; math.Abs(c) < tiny {
			c = tiny
		}
		f *= c * d
		if i > 0 && math.Abs(1-c*d) < 1e-14 {
			break
		}
	}
	return front * (f - 1)
}
