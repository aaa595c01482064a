package compare

import (
	"math"
	"slices"

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
	prior   stats.Prior
	owner   []int32 // see [Comparison.Owner]
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
	all := c.units(g, c.exchanges(g, p.owner))
	for _, u := range all {
		if logs, ok := c.logarithms(u.costs); ok {
			units = append(units, logs)
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
	p.prior = c.priorOf(g, p)
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

// priorOf estimates how much functions vary from run to run, from those with some samples.
func (c *Comparison) priorOf(g *groups, p *pace) stats.Prior {
	const least = 2 // samples per run
	var units []stats.Runs
	if slices.ContainsFunc(g.count, func(run []int64) bool { return run == nil }) {
		return stats.Prior{}
	}
	for i := 1; i < len(g.rows); i++ {
		var samples int64
		for _, run := range g.count {
			samples += run[i]
		}
		if samples < least*int64(len(c.Runs)) || g.rows[i].OneSided() || interrupted[g.rows[i].Name] {
			continue
		}
		costs := make([]float64, len(c.Runs))
		for r := range costs {
			_, n := c.sideOf(r)
			costs[r] = float64(g.self[r][i]) * float64(n)
		}
		units = append(units, p.even(c.bySide(costs), [2]float64{g.spread[0][i], g.spread[1][i]}))
	}
	return stats.NewPrior(units)
}

// costUnit is a function, or several that exchange cost.
type costUnit struct {
	costs   []float64 // by run
	samples int64
}

// units returns the units in the order of their first functions. Functions f with
// the same top[f], the unit's first function, are a unit. Rare functions are left out.
func (c *Comparison) units(g *groups, top []int32) (units []costUnit) {
	index := map[int32]int{}
	for f, t := range top {
		if interrupted[c.Tree.Funcs[f].Name] {
			continue
		}
		k, ok := index[t]
		if !ok {
			k = len(units)
			index[t] = k
			units = append(units, costUnit{costs: make([]float64, len(c.Runs))})
		}
		u := &units[k]
		for r := range c.Runs {
			_, n := c.sideOf(r)
			u.costs[r] += float64(g.self[r][f+1]) * float64(n)
			if g.count[r] != nil {
				u.samples += g.count[r][f+1]
			} else {
				u.samples = leastSamples * int64(len(c.Runs))
			}
		}
	}
	return slices.DeleteFunc(units, func(u costUnit) bool { return u.samples < leastSamples*int64(len(c.Runs)) })
}

// bySide returns the values of the runs by side.
func (c *Comparison) bySide(values []float64) (sides [2][]float64) {
	for r, v := range values {
		side, _ := c.sideOf(r)
		sides[side] = append(sides[side], v)
	}
	return sides
}

// logarithms returns the logarithms of costs by side, if all are positive.
func (c *Comparison) logarithms(costs []float64) (sides [2][]float64, ok bool) {
	logs := make([]float64, len(costs))
	for r, v := range costs {
		if v <= 0 {
			return sides, false
		}
		logs[r] = math.Log(v)
	}
	return c.bySide(logs), true
}

// beyond returns the p-value of the difference between the sides' values without the factor
// that B has in common. least are the smallest variances of the sides' means.
func (p *pace) beyond(sides [2][]float64, least [2]float64) float64 {
	x := p.even(sides, least)
	w := means(x.Sides[0], x.Sides[1], x.Counted[0]/float64(x.Sides[0].N)+x.Counted[1]/float64(x.Sides[1].N))
	if w.P < 1 && p.prior.Freedom > 0 && least[0]+least[1] > 0 {
		return p.prior.P(&x)
	}
	return w.P
}

// even takes the factor that B has in common out of the values. The factors of the runs are
// taken out too if the values vary less without them: not everything gets slower on a busy
// machine.
func (p *pace) even(sides [2][]float64, least [2]float64) stats.Runs {
	var plain, even stats.Runs
	r := 0
	for side, values := range sides {
		common := 1.0
		if side == 1 {
			common = p.common
		}
		var x, y []float64
		for _, v := range values {
			x, y = append(x, v/common), append(y, v/common/p.factors[r])
			r++
		}
		plain.Sides[side], even.Sides[side] = stats.NewSample(x), stats.NewSample(y)
		plain.Counted[side] = least[side] * float64(len(values)) / (common * common)
	}
	if even.Sides[0].Variance+even.Sides[1].Variance < plain.Sides[0].Variance+plain.Sides[1].Variance {
		plain.Sides = even.Sides
	}
	return plain
}

// runPace returns the pace of several runs per side, nil if the confidences have another
// source.
func (c *Comparison) runPace() *pace {
	if c.Method() != FromRuns {
		return nil
	}
	return c.pace()
}
