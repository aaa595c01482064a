package stats

import (
	"cmp"
	"math"
	"slices"

	"ashlar/ingest/model/order"
)

// Constants of [Between]. Those of the priors were measured on 315 pairs of runs of three
// unchanged programs (15 runs each of one in Go, C++ and JavaScript) on a busy machine:
// between runs, the cost of a function varied by 3 to 15 % more than its number of samples
// explains, and the totals by 12 to 23 %.
const (
	// alike is the half-width of the prior of the common factor.
	alike = .2
	// changed is the share of functions that are expected to differ for a reason, and
	// reason the standard deviation of their logarithm.
	changed, reason = .2, 1
	// steady limits the weight of a ratio in the median of all.
	steady = .1
	// mostRatios is the number of ratios, those with the smallest variances, from which
	// the rest is learned.
	mostRatios = 200
)

// stretches are factors for the variance between runs, equally probable, because some
// functions vary more than others: seven quantiles of 6/χ² with 6 degrees of freedom.
var stretches = [...]float64{3.1554, 1.8859, 1.4116, 1.1218, .906, .7195, .5171}

// Clock is the smallest variance of the logarithm of a ratio of measured times: no ratio is
// known better than to a thousandth.
const Clock = 1e-6

// A Ratio is the logarithm of a function's cost in one run, relative to its cost in
// another, and the variance of the logarithm that follows from the number of samples.
type Ratio struct{ Log, Variance float64 }

// Between estimates, from the ratios of all functions, how much two runs of one program
// differ by more than chance in sampling. It assumes that all functions change by one
// common factor, that each varies around it with an unknown standard deviation, and that
// a fifth also changed for a reason. Factor and deviation have a posterior distribution,
// so that few functions give no more certainty than they can.
type Between struct {
	Common float64 // logarithm of the common factor: the median, weighted
	grid   []cell
	rest   *Reference // without no ratio
	most   float64    // largest variance of a ratio from which it was learned
}

// cell is a common factor, its logarithm, and a standard deviation between runs.
type cell struct {
	common, deviation float64
	after             float64 // logarithm of the posterior
}

// Typical standard deviations between runs, for [NewBetween]. Spans are measured, not
// attributed to functions by samples: in two pairs of traces of unchanged programs, most
// functions varied by 0.3 % around the common factor, and those of loaded threads by 6 %.
const (
	TypicalOfSamples = .03
	TypicalOfSpans   = .01
)

// NewBetween computes the posterior from the ratios of the functions. typical is the
// half-width of the prior of the standard deviation between runs. Like that of the common
// factor, it has the form of Cauchy's distribution.
func NewBetween(ratios []Ratio, typical float64) *Between {
	ratios = slices.Clone(ratios)
	order.By(ratios, func(x, y Ratio) int { return cmp.Or(cmp.Compare(x.Variance, y.Variance), cmp.Compare(x.Log, y.Log)) })
	ratios = ratios[:min(len(ratios), mostRatios)]
	b := &Between{Common: Middle(ratios)}
	b.spread(ratios, typical)
	for i := range b.grid {
		for _, r := range ratios {
			b.grid[i].after += r.likely(&b.grid[i])
		}
	}
	if n := len(ratios); n > 0 {
		b.most = ratios[n-1].Variance
	}
	b.rest = b.reference(nil)
	return b
}

// Middle returns the logarithm of the weighted median of ratios, 0 for fewer than two, because
// one ratio does not show what all functions have in common.
func Middle(ratios []Ratio) float64 {
	if len(ratios) < 2 {
		return 0
	}
	// Add a ratio that stands for no change: if half of the functions changed, it decides in
	// favour of the other half.
	all := append([]Ratio{{Log: 0, Variance: 1}}, ratios...)
	order.By(all, func(x, y Ratio) int { return cmp.Compare(x.Log, y.Log) })
	weight := func(r Ratio) float64 { return 1 / math.Sqrt(r.Variance+steady*steady) }
	sum := 0.0
	for _, r := range all {
		sum += weight(r)
	}
	for _, r := range all {
		if sum -= 2 * weight(r); sum <= 0 {
			return r.Log
		}
	}
	return 0
}

// spread makes the grid with its priors: deviations from 0 to 1, and common factors that
// are dense around the median and reach to a twentieth and to twenty times of it.
func (b *Between) spread(ratios []Ratio, typical float64) {
	const steps, deviations, far = 8, 10, 3.0
	known := 1 / (alike * alike)
	for _, r := range ratios {
		known += 1 / (r.Variance + .01*.01)
	}
	fine := 1 / math.Sqrt(known)
	bend := math.Asinh(far/fine) / steps
	cauchy := func(x, width float64) float64 { return 1 / (1 + x*x/(width*width)) }
	for k := -steps; k <= steps; k++ {
		common := b.Common + fine*math.Sinh(bend*float64(k))
		prior := cauchy(common, alike) * math.Cosh(bend*float64(k))
		for i := range deviations {
			d, wide := 0.0, .004
			if i > 0 {
				d = .006 * math.Pow(1.8, float64(i-1))
				wide = d
			}
			b.grid = append(b.grid, cell{common, d, math.Log(prior * wide * cauchy(d, typical))})
		}
	}
}

// likely returns the logarithm of the likelihood of a cell.
func (r Ratio) likely(c *cell) float64 {
	x := (r.Log - c.common) * (r.Log - c.common) / 2
	density := func(v float64) float64 { return math.Exp(-x/v) / math.Sqrt(v) }
	same := 0.0
	for _, s := range stretches {
		same += density(r.Variance+s*c.deviation*c.deviation) / float64(len(stretches))
	}
	return math.Log((1-changed)*same + changed*density(r.Variance+reason) + 1e-300)
}

// Common returns the logarithm of the factor that most ratios have in common. apart is the
// variance of that logarithm if nothing changed. Unlike a median, the factor is not drawn
// towards functions that changed, as long as others agree with each other or with 0.
func Common(ratios []Ratio, apart float64) float64 {
	const rounds = 5
	apart += Clock
	score := func(common float64) float64 {
		prior := math.Exp(-common*common/(2*apart)) / math.Sqrt(2*math.Pi*apart)
		prior += 1 / (math.Pi * alike * (1 + common*common/(alike*alike)))
		sum := math.Log(prior)
		for _, r := range ratios {
			sum += r.likely(&cell{common: common, deviation: TypicalOfSamples})
		}
		return sum
	}
	best, most := 0.0, score(0)
	for _, r := range ratios {
		if s := score(r.Log); s > most {
			best, most = r.Log, s
		}
	}
	// The mean of the ratios that agree with the best.
	for range rounds {
		sum, weights := 0.0, 0.0
		for _, r := range ratios {
			v := r.Variance + TypicalOfSamples*TypicalOfSamples
			x := (r.Log - best) * (r.Log - best) / 2
			same := (1 - changed) * math.Exp(-x/v) / math.Sqrt(v)
			other := changed * math.Exp(-x/(v+reason)) / math.Sqrt(v+reason)
			w := same / (same + other) / v
			sum, weights = sum+w*r.Log, weights+w
		}
		if weights > 0 {
			best = sum / weights
		}
	}
	return best
}

// A Reference is the distribution that the ratio of one function is compared with.
type Reference struct {
	common float64
	cells  []cell    // the probable ones
	shares []float64 // their probabilities
	more   float64   // variance beyond sampling
}

// Reference returns the distribution without one ratio, since a function must not be
// compared with itself; if that is nil, it returns the distribution of all.
func (b *Between) Reference(without *Ratio) *Reference {
	if without == nil || without.Variance > b.most {
		return b.rest
	}
	return b.reference(without)
}

func (b *Between) reference(without *Ratio) *Reference {
	after := make([]float64, len(b.grid))
	for i := range b.grid {
		if after[i] = b.grid[i].after; without != nil {
			after[i] -= without.likely(&b.grid[i])
		}
	}
	const rare = 1e-3 // of the most probable cell
	top := slices.Max(after)
	r := &Reference{}
	sum := 0.0
	for i, l := range after {
		if p := math.Exp(l - top); p > rare {
			r.cells, r.shares = append(r.cells, b.grid[i]), append(r.shares, p)
			sum += p
		}
	}
	for i := range r.shares {
		r.shares[i] /= sum
		r.common += r.shares[i] * r.cells[i].common
	}
	for i, c := range r.cells {
		r.more += r.shares[i] * (c.deviation*c.deviation + (c.common-r.common)*(c.common-r.common))
	}
	return r
}

// Counts tests whether two counts differ by more than runs of one program do. grain is the
// number of samples on the second side for one on the first if the costs are equal. worth
// is the part of the samples that would vary as much by sampling alone.
func (r *Reference) Counts(a, b, grain float64) (p, worth float64) {
	odds := grain * math.Exp(r.common)
	chance := (1 + odds) * (1 + odds) / (odds * math.Max(1, a+b)) // variance of the logarithm by sampling
	worth = chance / (chance + r.more)
	const exact = 1e-12
	alone, log := Counts(a, b, 1/(1+odds)), math.Log((b+.5)/(a+.5)/odds)
	z := distance(math.Max(alone, exact))
	if alone < exact {
		z = math.Max(z, math.Abs(log)/math.Sqrt(chance))
	}
	z = math.Copysign(z*math.Sqrt(chance), log)
	for i, c := range r.cells {
		for _, s := range stretches {
			p += r.shares[i] * NormalTails((z-(c.common-r.common))/math.Sqrt(chance+s*c.deviation*c.deviation))
		}
	}
	return math.Min(1, p/float64(len(stretches))), worth
}

// Ratio tests whether the ratio of two costs differs by more than runs of one program do.
func (r *Reference) Ratio(x Ratio) (p float64) {
	for i, c := range r.cells {
		for _, s := range stretches {
			p += r.shares[i] * NormalTails((x.Log-c.common)/math.Sqrt(x.Variance+s*c.deviation*c.deviation))
		}
	}
	return math.Min(1, p/float64(len(stretches)))
}

// Shift is like [Reference.Ratio] for the ratio with the logarithm log, whose variance follows
// from a test of its own. That test's p-value is alone.
func (r *Reference) Shift(log, alone float64) float64 {
	z := distance(alone)
	if z == 0 {
		return 1
	}
	return r.Ratio(Ratio{log, log*log/(z*z) + Clock})
}

// distance returns how many standard deviations a normal variable is away from 0 if its
// p-value is p; at most 38.
func distance(p float64) float64 {
	lo, hi := 0.0, 38.0
	for range 40 {
		mid := (lo + hi) / 2
		if NormalTails(mid) > p {
			lo = mid
		} else {
			hi = mid
		}
	}
	return hi
}
