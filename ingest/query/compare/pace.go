package compare

import (
	"math"

	"ashlar/ingest/query/compare/stats"
)

const (
	// leastUnits is the number of functions from which their median shows what all have in
	// common.
	leastUnits = 4
	// leastCommon is the logarithm of the smallest factor that is taken out of a side. A
	// smaller one is no more than small changes of some functions.
	leastCommon = .01
)

// pace estimates, for several runs per side, the factor by which the costs of all functions
// differ from run to run: a busy machine slows all of them down alike, and so does a run
// that lasts longer.
type pace struct {
	factors []float64 // by run, relative to the mean of its side; 1 if unknown
	common  float64   // B's relative to A's; 0 if unknown
	owner   []int32   // see [Comparison.Owner]
}

// paceOf estimates the pace of the runs of a comparison whose method is FromRuns. Within a
// side, the factor of a run is the median, over the functions, of their cost in it relative
// to their mean cost. Functions that exchange cost count as one. The sides differ by the
// factor on which most functions agree, see [stats.Common].
func (c *Comparison) paceOf() *pace {
	g := c.groupStacks(ByFunction)
	p := &pace{factors: make([]float64, len(c.Runs)), owner: c.owners(g, true)}
	for r := range p.factors {
		p.factors[r] = 1
	}
	var units [][2][]float64 // logarithms of costs, by side and run
	for _, costs := range c.unitCosts(g, c.exchanges(g, p.owner)) {
		if u, ok := c.logarithms(costs); ok {
			units = append(units, u)
		}
	}
	if len(units) < leastUnits {
		return p
	}
	var paces [2][]float64
	apart := 0.0
	for side := range paces {
		paces[side] = even(units, side)
		s := stats.NewSample(paces[side])
		apart += s.Variance / float64(s.N)
	}
	var ratios []stats.Ratio
	for _, u := range units {
		a, b := stats.NewSample(u[0]), stats.NewSample(u[1])
		ratios = append(ratios, stats.Ratio{Log: b.Mean - a.Mean, Variance: a.Variance/float64(a.N) + b.Variance/float64(b.N)})
	}
	if p.common = math.Exp(stats.Common(ratios, apart)); math.Abs(math.Log(p.common)) < leastCommon {
		p.common = 1
	}
	for r, v := range append(paces[0], paces[1]...) {
		p.factors[r] = math.Exp(v)
	}
	return p
}

// even takes the factors that all units have in common out of the runs of a side, and returns
// their logarithms, whose mean is 0.
func even(units [][2][]float64, side int) (paces []float64) {
	apart := make([][]float64, len(units)) // from each unit's mean
	variances := make([]float64, len(units))
	for k, u := range units {
		s := stats.NewSample(u[side])
		variances[k] = s.Variance
		for _, v := range u[side] {
			apart[k] = append(apart[k], v-s.Mean)
		}
	}
	for r := range units[0][side] {
		ratios := make([]stats.Ratio, len(units))
		for k := range units {
			ratios[k] = stats.Ratio{Log: apart[k][r], Variance: variances[k]}
		}
		paces = append(paces, stats.Middle(ratios))
	}
	mean := stats.NewSample(paces).Mean
	for r := range paces {
		paces[r] -= mean
		for k := range units {
			units[k][side][r] -= paces[r]
		}
	}
	return paces
}

// unitCosts returns the costs of the units by run, in the order of their first functions.
// The unit of function f is top[f]. Rare functions are left out.
func (c *Comparison) unitCosts(g *groups, top []int32) (units [][]float64) {
	index, samples := map[int32]int{}, []int64(nil)
	for f, t := range top {
		if interrupted[c.Tree.Funcs[f].Name] {
			continue
		}
		k, ok := index[t]
		if !ok {
			k = len(units)
			index[t] = k
			units, samples = append(units, make([]float64, len(c.Runs))), append(samples, 0)
		}
		for r := range c.Runs {
			_, n := c.sideOf(r)
			units[k][r] += float64(g.self[r][f+1]) * float64(n)
			if g.count[r] != nil {
				samples[k] += g.count[r][f+1]
			} else {
				samples[k] = leastSamples * int64(len(c.Runs))
			}
		}
	}
	kept := units[:0]
	for k, values := range units {
		if samples[k] >= leastSamples*int64(len(c.Runs)) {
			kept = append(kept, values)
		}
	}
	return kept
}

// logarithms returns the logarithms of costs by side, if all are positive.
func (c *Comparison) logarithms(costs []float64) (sides [2][]float64, ok bool) {
	for r, v := range costs {
		if v <= 0 {
			return sides, false
		}
		side, _ := c.sideOf(r)
		sides[side] = append(sides[side], math.Log(v))
	}
	return sides, true
}

// beyond returns the p-value of the difference between the sides' values without the factor
// that B has in common. The factors of the runs are taken out too if the values vary less
// without them: not everything gets slower on a busy machine.
func (p *pace) beyond(sides [2][]float64, least [2]float64) float64 {
	var plain, even [2]stats.Sample
	r := 0
	for side, values := range sides {
		var x, y []float64
		for _, v := range values {
			if side == 1 {
				v /= p.common
			}
			x, y = append(x, v), append(y, v/p.factors[r])
			r++
		}
		plain[side], even[side] = stats.NewSample(x), stats.NewSample(y)
	}
	if even[0].Variance+even[1].Variance < plain[0].Variance+plain[1].Variance {
		plain = even
	}
	return means(plain[0], plain[1], least[0]+least[1]/(p.common*p.common)).P
}

// runPace returns the pace of several runs per side, nil if the confidences have another
// source.
func (c *Comparison) runPace() *pace {
	if c.Method() != FromRuns {
		return nil
	}
	return c.pace()
}
