package compare

import (
	"math"

	"ashlar/ingest/query/compare/stats"
)

const (
	// leastSamples is the number of samples, of both sides, from which a row counts as a
	// test: with fewer, no difference is certain.
	leastSamples = 8
	// ownShare is the ratio of a function's self to its total from which it does work of
	// its own. Below, it only calls others.
	ownShare = .1
	// strayShare is the largest share of a function's cost without its only caller.
	strayShare = .05
)

// interrupted are functions that no code calls: a runtime puts them on the stack of a
// thread that it interrupts. Their samples belong to the interrupted function, and their
// number depends on the load of the machine.
var interrupted = map[string]bool{"runtime.asyncPreempt": true}

// Interrupted reports whether a row's function was put on the stack by an interruption.
func (r *Row) Interrupted() bool { return interrupted[r.Name] }

// noise estimates how much single runs differ, from the counts of samples of all
// functions.
type noise struct {
	grain float64 // weight of a sample of A relative to one of B
	model *stats.Between
	// unit is the index of each function's unit in the model, -1 for none. Functions of a
	// unit exchange cost.
	unit []int
	// owner is, for each function that only one function calls, this function; -1 for the
	// others. See [Comparison.Owner].
	owner []int32
	// shares reports for each function whether it has an owner or is one.
	shares []bool
	// sums are by unit of the model, of by function.
	sums, of [][2]weighed
	refs     []*stats.Reference // by unit
}

// noiseOf computes the noise of a comparison whose method is FromCounts.
func (c *Comparison) noiseOf() *noise {
	g := c.groupStacks(ByFunction)
	n := &noise{grain: c.grain(c.wholes()), unit: make([]int, len(c.Tree.Funcs))}
	n.owner = c.owners(g, false)
	top := c.exchanges(g, n.owner)
	index := map[int32]int{}
	var sums [][2]weighed
	n.shares, n.of = make([]bool, len(top)), make([][2]weighed, len(top))
	for f := range top {
		n.unit[f], n.of[f] = -1, c.weighed(g, f+1, false)
		if p := n.owner[f]; p >= 0 {
			n.shares[f], n.shares[p] = true, true
		}
		if interrupted[c.Tree.Funcs[f].Name] {
			continue
		}
		k, ok := index[top[f]]
		if !ok {
			k = len(sums)
			index[top[f]], sums = k, append(sums, [2]weighed{})
		}
		n.unit[f] = k
		for side, w := range n.of[f] {
			sums[k][side].add(w)
		}
	}
	kept := make([]int, len(sums))
	var ratios []stats.Ratio
	for k, s := range sums {
		kept[k] = -1
		if r, ok := n.ratio(s[0], s[1]); ok {
			kept[k] = len(ratios)
			ratios, n.sums = append(ratios, r), append(n.sums, s)
		}
	}
	for f, k := range n.unit {
		if k >= 0 {
			n.unit[f] = kept[k]
		}
	}
	n.model = stats.NewBetween(ratios, stats.TypicalOfSamples)
	for i := range ratios {
		n.refs = append(n.refs, n.model.Reference(&ratios[i]))
	}
	return n
}

func (w *weighed) add(o weighed) {
	w.weight += o.weight
	w.spread += o.spread
	w.samples += o.samples
}

// weighed returns the weights of a row on both sides.
func (c *Comparison) weighed(g *groups, i int, total bool) (w [2]weighed) {
	values, samples, spread := g.self, g.count, g.spread
	if total {
		values, samples, spread = g.total, g.countTotal, g.spreadTotal
	}
	for r := range c.Runs {
		side, _ := c.sideOf(r)
		w[side].weight += float64(values[r][i])
		w[side].samples += samples[r][i]
	}
	for side := range w {
		w[side].spread = spread[side][i]
	}
	return w
}

// ratio returns the ratio of two weights, if there are enough samples. Half a sample is
// added to each side, so that none is 0.
func (n *noise) ratio(a, b weighed) (r stats.Ratio, ok bool) {
	ea, eb := eachSample(a, b, n.grain)
	if a.samples+b.samples < leastSamples || a.weight < 0 || b.weight < 0 || !(ea > 0) {
		return r, false
	}
	na, nb := a.weight/ea+.5, b.weight/eb+.5
	return stats.Ratio{Log: math.Log(nb * eb / (na * ea)), Variance: 1/na + 1/nb}, true
}

// owners returns for each function the only function that calls it, if that does work of
// its own; otherwise -1. Functions on one side only have none unless oneSided is set. Calls
// with a small part of the cost do not count: a sample between a call and the instructions
// that set the frame pointer lacks the caller.
func (c *Comparison) owners(g *groups, oneSided bool) []int32 {
	const none = -1
	owner := make([]int32, len(c.Tree.Funcs))
	for f := range owner {
		owner[f] = none
	}
	nodes := c.Tree.Nodes
	if c.Tree.Inverted {
		return owner
	}
	calls := func(one func(f, caller int32, cost float64)) {
		for i := 1; i < len(nodes); i++ {
			if f, p := nodes[i].Func, nodes[nodes[i].Parent].Func; f != p {
				one(f, p, math.Abs(float64(nodes[i].A.Total))+math.Abs(float64(nodes[i].B.Total)))
			}
		}
	}
	// A caller with more than half of the cost remains if those with less are set off
	// against each other (Boyer and Moore).
	lead := make([]float64, len(owner))
	calls(func(f, p int32, cost float64) {
		switch {
		case owner[f] == p:
			lead[f] += cost
		case cost > lead[f]:
			owner[f], lead[f] = p, cost-lead[f]
		default:
			lead[f] -= cost
		}
	})
	stray, all := make([]float64, len(owner)), make([]float64, len(owner))
	calls(func(f, p int32, cost float64) {
		if all[f] += cost; p != owner[f] {
			stray[f] += cost
		}
	})
	for f, p := range owner {
		if p < 0 {
			continue
		}
		if stray[f] > strayShare*all[f] {
			owner[f] = none
			continue
		}
		r, of := &g.rows[f+1], &g.rows[p+1]
		own, all := float64(of.ASelf)+float64(of.BSelf), float64(of.ATotal)+float64(of.BTotal)
		if r.OneSided() && !oneSided || interrupted[r.Name] || own < ownShare*all {
			owner[f] = none
		}
	}
	return owner
}

// exchanges returns for each function the first function of its unit. Cost moves easily
// between a function and functions that only it calls, and between one-sided functions
// below the same two-sided function.
func (c *Comparison) exchanges(g *groups, owner []int32) []int32 {
	up := make([]int32, len(owner))
	for f := range up {
		up[f] = int32(f)
	}
	find := func(f int32) int32 {
		for up[f] != f {
			up[f] = up[up[f]]
			f = up[f]
		}
		return f
	}
	join := func(f, g int32) {
		f, g = find(f), find(g)
		up[max(f, g)] = min(f, g)
	}
	for f, p := range owner {
		if p >= 0 {
			join(int32(f), p)
		}
	}
	oneSided := func(f int32) bool { return g.rows[f+1].OneSided() }
	nodes := c.Tree.Nodes
	first := map[int32]int32{} // by node on both sides, the first function below on one side
	anchors := make([]int32, len(nodes))
	for i := 1; i < len(nodes); i++ {
		f := nodes[i].Func
		if !oneSided(f) {
			anchors[i] = int32(i)
			continue
		}
		at := anchors[nodes[i].Parent]
		anchors[i] = at
		if other, ok := first[at]; ok {
			join(f, other)
		} else {
			first[at] = f
		}
	}
	for f := range up {
		up[f] = find(int32(f))
	}
	return up
}

// Owner returns the function that a function belongs to: the only one that calls it, if
// samples were counted or there are several runs per side. Both are indices of the
// matching's functions; -1 for none. Compilers and clocks shift cost between such functions
// from run to run.
func (c *Comparison) Owner(f int32) int32 {
	var owner []int32
	if n := c.runNoise(); n != nil {
		owner = n.owner
	} else if p := c.runPace(); p != nil {
		owner = p.owner
	}
	if f >= 0 && int(f) < len(owner) {
		return owner[f]
	}
	return -1
}

// runNoise returns the noise of single runs, nil if the confidences are not from counts.
func (c *Comparison) runNoise() *noise {
	if c.Method() != FromCounts {
		return nil
	}
	return c.noise()
}

// unitOf returns the unit of a row's function, -1 if the row is not of one function.
func (c *Comparison) unitOf(g *groups, n *noise, i int) int32 {
	switch {
	case g.by == ByFunction:
		return g.rows[i].Key
	case ofNodes(g.by):
		return c.Tree.Nodes[i].Func
	}
	return -1
}

// reference returns the distribution that a unit is compared with; for unit -1, the
// distribution of all.
func (n *noise) reference(unit int) *stats.Reference {
	if unit < 0 {
		return n.model.Reference(nil)
	}
	return n.refs[unit]
}

// ofRow returns the confidence of a row's difference. f is the row's function, -1 if it has none.
// If the change of a function is offset by functions with which it exchanges cost, the confidence
// is at most that of their sum.
func (n *noise) ofRow(w [2]weighed, f int32, total bool) *Confidence {
	unit := -1
	if f >= 0 && int(f) < len(n.unit) {
		unit = n.unit[f]
	}
	ref := n.reference(unit)
	conf := counts(w[0], w[1], n.grain, ref)
	if conf == nil || total || unit < 0 || !n.shares[f] {
		return conf
	}
	const offset = .75
	common := math.Exp(n.model.Common)
	beyond := func(w [2]weighed) float64 { return math.Abs(w[1].weight - common*w[0].weight) }
	if sum := n.sums[unit]; beyond(sum) < offset*beyond(w) {
		if all := counts(sum[0], sum[1], n.grain, ref); all != nil {
			conf.P = math.Max(conf.P, all.P)
		}
	}
	return conf
}

// Together judges the sum of the differences in self of functions, if samples were counted
// or there are several runs per side; otherwise it returns nil. Its Q is for a table of all
// functions.
func (c *Comparison) Together(t *Table, functions []int32) *Confidence {
	if c.Method() == FromRuns && len(functions) > 0 && t.By == ByFunction {
		conf := c.sumByRuns(t, functions)
		conf.Q = t.Q(conf.P)
		return conf
	}
	n := c.runNoise()
	if n == nil || len(functions) == 0 {
		return nil
	}
	var w [2]weighed
	for _, f := range functions {
		w[0].add(n.of[f][0])
		w[1].add(n.of[f][1])
	}
	conf := counts(w[0], w[1], n.grain, n.reference(n.unit[functions[0]]))
	if conf == nil {
		return nil
	}
	if conf.Q = 1; conf.A+conf.B >= leastSamples {
		conf.Q = t.Q(conf.P)
	}
	return conf
}
