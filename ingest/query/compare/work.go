package compare

import (
	"cmp"
	"math"
	"math/big"
	"slices"

	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/compare/stats"
)

// Auto compares per call if the sides are sets of calls, or traces whose amounts of work
// differ; see [Work.Differs]. Otherwise nothing is scaled.
const Auto Normalize = "auto"

// Work compares the amounts of work of the sides, in calls.
type Work struct {
	// Ratio is the number of calls in B per call in A: the median over the functions that
	// are on both sides, weighted by cost. It is 0 if calls are unknown.
	Ratio float64
	// Calls is the number of calls of these functions on each side, the mean of its
	// recordings. Threads is the number of threads with calls or, for samples, of threads
	// with at least a tenth of the samples of the busiest; 0 if unknown.
	Calls, Threads [2]int64
}

// Differs reports whether numbers of calls differ by more than a tenth.
func (w Work) Differs() bool { return w.Ratio != 0 && apart(w.Ratio) }

func apart(ratio float64) bool { return ratio > 1.1 || ratio < 1/1.1 }

// Work returns the amounts of work of the sides.
func (c *Comparison) Work() Work { return c.work }

// LengthsDiffer reports whether the durations of the sides differ by more than a tenth and,
// if both sides have several recordings, by more than these vary.
func (c *Comparison) LengthsDiffer() bool {
	a, b := c.A().Length, c.B().Length
	if a <= 0 || b <= 0 || !apart(float64(b)/float64(a)) {
		return false
	}
	if c.Method() != FromRuns {
		return true
	}
	var lengths [2][]float64
	for r := range c.Runs {
		side, _ := c.sideOf(r)
		lengths[side] = append(lengths[side], float64(c.Runs[r].Length))
	}
	return stats.Means(stats.NewSample(lengths[0]), stats.NewSample(lengths[1]), 0).P <= .05
}

// PerCall reports whether each function's cost in B is scaled to its number of calls in
// A.
func (c *Comparison) PerCall() bool { return c.Normalize == Calls && c.calls != nil && !c.ofSets() }

// ofSets reports whether the scopes of all recordings are sets of calls.
func (c *Comparison) ofSets() bool {
	for r := range c.Runs {
		if c.Runs[r].Scope.Calls == nil {
			return false
		}
	}
	return true
}

// Chosen reports whether the scopes are sets of calls, all of whose cost is in a row's
// function: it is the function whose calls are compared.
func (c *Comparison) Chosen(r *Row) bool {
	root := &c.Tree.Nodes[0]
	return c.ofSets() && r.ATotal == root.A.Total && r.BTotal == root.B.Total
}

// CallsOf returns each side's number of calls of a function of the matching, averaged
// over its recordings; 0 if unknown.
func (c *Comparison) CallsOf(f int32) (a, b float64) {
	if c.calls == nil || f < 0 || int(f) >= len(c.Matching.Funcs) {
		return 0, 0
	}
	for r := range c.Runs {
		side, n := c.sideOf(r)
		if i := c.Matching.Funcs[f].In[r]; i < 0 {
			continue
		} else if v := float64(c.calls[r][i]) / float64(n); side == 0 {
			a += v
		} else {
			b += v
		}
	}
	return a, b
}

// count counts the calls of functions by recording and compares the sides. Calls are
// known only if costs are times of spans.
func (c *Comparison) count() {
	c.calls, c.work = nil, Work{}
	for r := range c.Runs {
		run := &c.Runs[r]
		if run.Weights.Basis != analyze.Spans || run.query.OfProcessors(run.Rec) {
			c.work.Threads = [2]int64{c.busy(0), c.busy(c.Sides)}
			return
		}
	}
	c.calls = make([][]int64, len(c.Runs))
	selfs := make([][]float64, len(c.Runs))
	for r := range c.Runs {
		run := &c.Runs[r]
		n := run.Rec.Functions.Len()
		c.calls[r], selfs[r] = make([]int64, n), make([]float64, n)
		for call := 1; call < len(run.Weights.Count); call++ {
			f := run.Rec.Func(recording.CallID(call))
			c.calls[r][f] += run.Weights.Count[call]
			selfs[r][f] += math.Abs(float64(run.Weights.Self[call]))
		}
	}
	type weighed struct{ ratio, cost float64 }
	var all []weighed
	sum := 0.0
	var calls [2]float64
	for f := range c.Matching.Funcs {
		a, b := c.CallsOf(int32(f))
		if a == 0 || b == 0 {
			continue
		}
		calls[0], calls[1] = calls[0]+a, calls[1]+b
		cost := 0.0
		for r, i := range c.Matching.Funcs[f].In {
			if i >= 0 {
				cost += selfs[r][i] / math.Max(1, float64(c.Runs[r].Weights.Sum))
			}
		}
		all = append(all, weighed{b / a, cost + 1e-9})
		sum += cost + 1e-9
	}
	order.By(all, func(x, y weighed) int { return cmp.Compare(x.ratio, y.ratio) })
	before := 0.0
	for _, x := range all {
		if before += x.cost; before >= sum/2 {
			c.work.Ratio = x.ratio
			break
		}
	}
	c.work.Calls = [2]int64{int64(math.Round(calls[0])), int64(math.Round(calls[1]))}
	c.work.Threads = [2]int64{c.threads(0), c.threads(c.Sides)}
}

// busy counts the threads of a recording that have at least a tenth of the samples of the
// busiest; 0 if only a range is compared.
func (c *Comparison) busy(r int) (n int64) {
	run := &c.Runs[r]
	if run.Scope.Ranged || run.Scope.Calls != nil {
		return 0
	}
	chosen := run.query.Scope.TrackTest()
	var each []int
	for i, t := range run.Rec.Tracks {
		if s := t.SamplesOf(run.query.Event); s != nil && chosen(i) {
			each = append(each, s.Len())
		}
	}
	for _, k := range each {
		if k > 0 && 10*k >= slices.Max(each) {
			n++
		}
	}
	return n
}

// threads counts the threads of a recording that have calls in its scope.
func (c *Comparison) threads(r int) (n int64) {
	run := &c.Runs[r]
	chosen := run.query.Scope.TrackTest()
	from, to := run.query.Scope.Bounds(run.Rec)
	for i, t := range run.Rec.Tracks {
		if t.Kind == recording.AsyncTrack || !chosen(i) {
			continue
		}
		for k := range t.Lanes {
			if l := &t.Lanes[k]; l.Len() > 0 {
				if at := l.Search(to); at > 0 && l.End(at-1) >= from {
					n++
					break
				}
			}
		}
	}
	return n
}

// settle resolves [Auto].
func (c *Comparison) settle() {
	if c.Normalize != Auto {
		return
	}
	c.Normalize = Raw
	for r := range c.Runs {
		if m := &c.Runs[r].query; c.calls != nil && m.Metric == recording.SpanCount {
			return
		}
	}
	if c.ofSets() || c.calls != nil && c.Metric.Common.Kind == recording.Sum && c.work.Differs() {
		c.Normalize = Calls
	}
}

// perCall scales a recording's values by node as if each function had as many calls as in
// A (averaged over A's recordings). A function without calls in A or B is scaled like its
// caller.
func (c *Comparison) perCall(t *Tree, r int) ([]int64, error) {
	run := &c.Runs[r]
	whole := new(big.Rat).SetInt64(1)
	if r >= c.Sides && c.work.Ratio > 0 {
		whole.SetFloat64(1 / c.work.Ratio)
	}
	factors := make([]factor, len(c.Matching.Funcs)+1) // the last is the root's factor
	factors[len(c.Matching.Funcs)] = newFactor(whole.Mul(whole, run.factor.rat))
	key := make([]int32, len(t.Nodes))
	key[0] = int32(len(c.Matching.Funcs))
	for i := 1; i < len(t.Nodes); i++ {
		f := t.Nodes[i].Func
		if key[i] = key[t.Nodes[i].Parent]; int(f) >= len(c.Matching.Funcs) {
			continue
		}
		if factors[f].rat == nil {
			in := c.Matching.Funcs[f].In[r]
			a, as := int64(0), int64(c.Sides)
			for k := range c.Sides {
				if i := c.Matching.Funcs[f].In[k]; i >= 0 {
					a += c.calls[k][i]
				}
			}
			if in < 0 || a == 0 || c.calls[r][in] == 0 {
				continue
			}
			own := big.NewRat(a, as)
			own.Quo(own, new(big.Rat).SetInt64(c.calls[r][in]))
			factors[f] = newFactor(own.Mul(own, run.factor.rat))
		}
		key[i] = f
	}
	out := make([]int64, len(t.Nodes))
	sums, befores := make([]int64, len(factors)), make([]int64, len(factors))
	for _, i := range t.depthFirst() {
		v, k := t.runs[r][i], key[i]
		if v == 0 {
			continue
		}
		recording.Add(&sums[k], v)
		after, err := factors[k].round(sums[k])
		if err != nil {
			return nil, err
		}
		out[i], befores[k] = after-befores[k], after
	}
	return out, nil
}

// total sets a recording's total to the sum of its values, which were scaled by node.
// Cost that transforms removed is scaled in the same ratio.
func (c *Comparison) total(t *Tree, r int, raw []int64) (err error) {
	var before, after int64
	for i := range raw {
		recording.Add(&before, raw[i])
		recording.Add(&after, t.runs[r][i])
	}
	run := &c.Runs[r]
	if before <= 0 || after <= 0 {
		return nil
	}
	if run.Scaled = after; before == run.Weights.Sum {
		run.factor = newFactor(big.NewRat(after, before))
		return nil
	}
	run.factor = newFactor(big.NewRat(after, before))
	run.Scaled, err = run.factor.round(run.Weights.Sum)
	return err
}
