package stats

import (
	"math"
	"slices"
)

// Runs are the values of one unit, such as a function, in several runs per side.
type Runs struct {
	Sides [2]Sample
	// Counted are the variances of a run's value on each side by the number of its samples
	// alone.
	Counted [2]float64
}

// Prior predicts the variances of units from those of all units together. Few runs tell
// little about how much one function varies from run to run, but many functions tell how
// much a function usually does (Smyth 2004, "Linear models and empirical Bayes methods for
// assessing differential expression in microarray experiments"). The zero Prior predicts
// nothing.
type Prior struct {
	// Relative is the standard deviation between runs, relative to the mean, beyond what
	// the number of samples explains.
	Relative float64
	// Freedom is how much the prediction is worth, in degrees of freedom.
	Freedom float64
}

const (
	// leastPrior is the number of units that a Prior needs.
	leastPrior = 12
	// mostFreedom bounds what a prediction is worth: beyond it, nothing changes.
	mostFreedom = 60
)

// NewPrior estimates a Prior. All units have the same numbers of runs.
func NewPrior(units []Runs) (p Prior) {
	if len(units) < leastPrior {
		return p
	}
	freedom := float64(units[0].Sides[0].N + units[0].Sides[1].N - 2)
	ratios := make([]float64, len(units))
	middle := func(relative float64) float64 {
		for i := range units {
			ratios[i], _ = units[i].ratio(relative)
		}
		slices.Sort(ratios)
		return ratios[len(ratios)/2]
	}
	// The median of a chi-square distribution, relative to its degrees of freedom (Wilson
	// and Hilferty).
	usual := math.Pow(1-2/(9*freedom), 3)
	low, high := 0.0, 4.0
	for range 40 {
		if mid := (low + high) / 2; middle(mid) > usual {
			low = mid
		} else {
			high = mid
		}
	}
	p.Relative = high
	middle(p.Relative)
	logs := make([]float64, len(ratios))
	for i, r := range ratios {
		logs[i] = math.Log(max(r, .01))
	}
	p.Freedom = mostFreedom
	if v := NewSample(logs).Variance - trigamma(freedom/2); v > trigamma(mostFreedom/2.0) {
		p.Freedom = 2 * inverseTrigamma(v)
	}
	return p
}

// predicted returns the variances of a run's value on each side.
func (u *Runs) predicted(relative float64) (v [2]float64) {
	for side := range v {
		m := relative * u.Sides[side].Mean
		v[side] = u.Counted[side] + m*m
	}
	return v
}

// ratio returns how the variances are relative to the predicted ones, on both sides together,
// and the degrees of freedom of that.
func (u *Runs) ratio(relative float64) (ratio, freedom float64) {
	for side, v := range u.predicted(relative) {
		if v > 0 {
			n := float64(u.Sides[side].N - 1)
			ratio += n * u.Sides[side].Variance / v
			freedom += n
		}
	}
	return ratio / max(freedom, 1), freedom
}

// P returns the p-value of the difference of the means of a unit.
func (p Prior) P(u *Runs) float64 {
	ratio, freedom := u.ratio(p.Relative)
	v := u.predicted(p.Relative)
	scale := (p.Freedom + freedom*ratio) / (p.Freedom + freedom)
	e := math.Sqrt(scale * (v[0]/float64(u.Sides[0].N) + v[1]/float64(u.Sides[1].N)))
	return StudentTails((u.Sides[1].Mean-u.Sides[0].Mean)/e, p.Freedom+freedom)
}

// trigamma returns the second derivative of the logarithm of the gamma function.
func trigamma(x float64) (y float64) {
	for ; x < 8; x++ {
		y += 1 / (x * x)
	}
	q := 1 / (x * x)
	return y + 1/x + q/2 + q/x*(1./6-q*(1./30-q*(1./42-q/30)))
}

// inverseTrigamma returns the x whose trigamma is y.
func inverseTrigamma(y float64) float64 {
	low, high := 1e-3, 1e6
	for range 100 {
		if mid := math.Sqrt(low * high); trigamma(mid) > y {
			low = mid
		} else {
			high = mid
		}
	}
	return high
}
