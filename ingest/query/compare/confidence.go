package compare

import (
	"context"
	"math"
	"runtime"
	"sync/atomic"

	input "ashlar/ingest/input/source"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/compare/stats"
)

// Confidence tells how certain a difference is. Differences are B minus A in the common
// metric's units, as floating-point numbers: nothing here is exact.
type Confidence struct {
	Method Method
	// P is the probability that chance alone makes a difference at least this large. Q is
	// the share of false alarms among all rows of the table that are at least this
	// certain.
	P, Q float64
	// Low and High bound the difference with 95 % confidence; both are NaN if unknown.
	Low, High float64
	// Detectable is the smallest difference that would be found (p < 0.05) four times in
	// five; NaN if unknown.
	Detectable float64
	// A and B are the numbers of samples, spans or recordings behind the row.
	A, B int64
	// Spread is the standard deviation of the values of A's and of B's recordings, for
	// FromRuns.
	Spread [2]float64

	lengths [2][]length // lengths of the spans on each side, sorted; see Shift
}

// Level returns 1-Q, the confidence that there is a difference.
func (c *Confidence) Level() float64 { return 1 - c.Q }

// Shift returns how the durations of a row's spans differ, for FromDurations in the rows
// of Sure; otherwise nil.
func (c *Confidence) Shift() *Shift { return shift(c.lengths[0], c.lengths[1]) }

// A Shift describes how the durations of spans differ, in picoseconds.
type Shift struct {
	MedianA, MedianB float64
	// By is how much longer a typical span is in B (Hodges and Lehmann); Low and High
	// bound it with 95 % confidence.
	By, Low, High float64
}

// judge finds the confidences of all rows. s has the durations of their spans,
// nil if they are not wanted.
func (c *Comparison) judge(ctx context.Context, g *groups, t *Table, s *spanTable) error {
	one := c.judgement(g, t, s)
	if t.Judged = one != nil; !t.Judged {
		return nil
	}
	for _, total := range []bool{false, true} {
		ps, all, err := g.each(ctx, one, total)
		if err != nil {
			return err
		}
		for i, conf := range all {
			if conf != nil && total {
				g.rows[i].Total = conf
			} else if conf != nil {
				g.rows[i].Self = conf
			}
		}
		// Self and total are two chances for a false alarm, so each gets half of the
		// level.
		if discover(all, ps, 2); !total {
			t.tests = ps
		}
	}
	if t.Whole != nil {
		t.Whole.Q = t.Whole.P
	}
	return nil
}

// discover converts the p-values of rows to q-values and multiplies them by times, which
// is the number of tests per row.
func discover(all []*Confidence, ps []float64, times float64) {
	qs := stats.Discoveries(ps)
	k := 0
	for _, conf := range all {
		if conf != nil {
			if conf.Q = math.Min(1, times*qs[k]); math.IsNaN(qs[k]) {
				conf.Q = 1
			}
			k++
		}
	}
}

// each computes the confidence, for self or for total, of every row with a weight. Rows
// are independent of each other.
func (g *groups) each(ctx context.Context, one func(i int, total bool) *Confidence, total bool) (ps []float64, all []*Confidence, err error) {
	all = make([]*Confidence, len(g.rows))
	const some = 64
	var next atomic.Int64
	var wg input.Group
	for range min(runtime.GOMAXPROCS(0), 1+len(g.rows)/some) {
		wg.Go(func() {
			for ctx.Err() == nil {
				from := int(next.Add(some)) - some
				if from >= len(g.rows) {
					return
				}
				for i := from; i < min(from+some, len(g.rows)); i++ {
					row := &g.rows[i]
					a, b := row.ASelf, row.BSelf
					if total {
						a, b = row.ATotal, row.BTotal
					}
					if row.Status != "" && (a != 0 || b != 0) {
						all[i] = one(i, total)
					}
				}
			}
		})
	}
	wg.Wait()
	for _, conf := range all {
		switch {
		case conf == nil:
		case conf.Method == FromCounts && conf.A+conf.B < leastSamples:
			ps = append(ps, math.NaN())
		default:
			ps = append(ps, conf.P)
		}
	}
	return ps, all, ctx.Err()
}

// judgement returns the function that finds the confidence of a row; nil if nothing is
// known, or if it needs durations that were not collected.
func (c *Comparison) judgement(g *groups, t *Table, s *spanTable) (one func(i int, total bool) *Confidence) {
	switch c.Method() {
	case FromRuns:
		t.Common = c.pace().common
		one = func(i int, total bool) *Confidence { return c.byRuns(g, i, total) }
		t.Whole = c.wholeByRuns()
	case FromCounts:
		n := c.noise()
		if len(n.sums) > 0 {
			t.Common = math.Exp(n.model.Common)
		}
		one = func(i int, total bool) *Confidence { return n.ofRow(c.weighed(g, i, total), c.unitOf(g, n, i), total) }
		if c.Normalize == Raw || c.Normalize == Duration {
			w := c.wholes()
			t.Whole = counts(w[0], w[1], n.grain, nil)
		}
	case FromDurations:
		if s == nil {
			return nil
		}
		s.learn()
		one = s.judge
		t.Whole = s.judgeWhole()
		t.Common = s.common
	}
	return one
}

// weighed is the weight of a side, with its variance and its number of samples.
type weighed struct {
	weight, spread float64
	samples        int64
}

// wholes returns the sides' totals.
func (c *Comparison) wholes() (w [2]weighed) {
	for side := range w {
		for _, v := range c.Tree.spread(side == 1) {
			w[side].spread += v
		}
		s := c.A()
		if side == 1 {
			s = c.B()
		}
		w[side].weight, w[side].samples = float64(s.Total), s.Samples
	}
	return w
}

// grain returns the weight of a sample of A relative to a sample of B: the ratio of the
// sampling periods and scales or, if no period is known, of the mean weights of samples.
func (c *Comparison) grain(whole [2]weighed) float64 {
	var each [2]float64
	known := true
	for r := range c.Runs {
		run := &c.Runs[r]
		ev := &run.Rec.Events[run.query.Event]
		period := float64(ev.Period)
		if countsSamples(&ev.Metrics[run.query.Metric]) || run.Weights.Basis == analyze.Spans {
			period = 1
		}
		// The periods are in the unit of the values, or in the unit of a related metric.
		v := period * run.factor.float()
		side, _ := c.sideOf(r)
		known = known && v > 0 && (each[side] == 0 || math.Abs(each[side]-v) < 1e-6*v)
		each[side] = v
	}
	if !known {
		for side, w := range whole {
			if each[side] = 1; w.weight > 0 && w.spread > 0 {
				each[side] = w.spread / w.weight
			}
		}
	}
	return each[0] / each[1]
}

// counts compares two weights by their numbers of samples. Without a reference, only
// sampling varies, and both rates are expected to be the same.
func counts(a, b weighed, grain float64, ref *stats.Reference) *Confidence {
	conf := &Confidence{Method: FromCounts, A: a.samples, B: b.samples}
	d := b.weight - a.weight
	ea, eb := eachSample(a, b, grain)
	if a.weight < 0 || b.weight < 0 || !(ea > 0) {
		// Signed values: only the normal distribution applies.
		e := math.Sqrt(a.spread + b.spread)
		if e == 0 {
			return nil
		}
		conf.P = stats.NormalTails(d / e)
		conf.Low, conf.High = d-stats.Z95*e, d+stats.Z95*e
		conf.Detectable = (stats.Z95 + stats.Z80) * e
		return conf
	}
	na, nb, worth := a.weight/ea, b.weight/eb, 1.0
	if ref == nil || a.samples+b.samples < leastSamples {
		conf.P = stats.Counts(na, nb, 1/(1+grain))
	} else {
		conf.P, worth = ref.Counts(na, nb, grain)
	}
	if d == 0 {
		conf.P = 1
	}
	// The weights vary like weights of only worth times as many samples would by sampling alone.
	// So compute the interval and the smallest detectable change for that number.
	la, ha := stats.CountInterval(na * worth)
	lb, hb := stats.CountInterval(nb * worth)
	ea, eb = ea/worth, eb/worth
	conf.Low, conf.High = stats.Difference(a.weight, la*ea, ha*ea, b.weight, lb*eb, hb*eb)
	// The variance of the difference under the assumption that there is none, with at
	// least one sample per side.
	spread := math.Max(a.spread/worth, ea*ea) + math.Max(b.spread/worth, eb*eb)
	conf.Detectable = (stats.Z95 + stats.Z80) * math.Sqrt(spread)
	return conf
}

// eachSample returns the weight of one sample on each side, computed from both because
// they are assumed to be the same.
func eachSample(a, b weighed, grain float64) (ea, eb float64) {
	ea = (a.spread + grain*grain*b.spread) / (a.weight + grain*b.weight)
	return ea, ea / grain
}

// byRuns compares the values of several recordings per side. They differ by chance if they
// differ like all functions do.
func (c *Comparison) byRuns(g *groups, i int, total bool) *Confidence {
	values, spread := g.self, g.spread
	if total {
		values, spread = g.total, g.spreadTotal
	}
	var least [2]float64
	if spread[0] != nil && spread[1] != nil {
		least = [2]float64{spread[0][i], spread[1][i]}
	}
	return c.welch(func(r int) float64 { return float64(values[r][i]) }, c.pace(), least)
}

// sumByRuns compares the sums of the self values of functions of a table by functions.
func (c *Comparison) sumByRuns(t *Table, functions []int32) *Confidence {
	wanted := map[int32]bool{}
	for _, f := range functions {
		wanted[f] = true
	}
	sums, least := make([]float64, len(c.Runs)), [2]float64{}
	for i := range t.Rows {
		row := &t.Rows[i]
		if !wanted[row.Key] {
			continue
		}
		for r := range sums {
			sums[r] += float64(t.self[r][row.group])
		}
		if t.spread[0] != nil && t.spread[1] != nil {
			least[0] += t.spread[0][row.group]
			least[1] += t.spread[1][row.group]
		}
	}
	return c.welch(func(r int) float64 { return sums[r] }, c.pace(), least)
}

func (c *Comparison) wholeByRuns() *Confidence {
	if c.Normalize == Total {
		return nil
	}
	var least [2]float64
	if w := c.wholes(); c.Runs[0].Counted && c.Runs[c.Sides].Counted && c.Normalize != Samples {
		least = [2]float64{w[0].spread, w[1].spread}
	}
	return c.welch(func(r int) float64 { return float64(c.Runs[r].Scaled) }, nil, least)
}

// welch compares the values of the recordings. value returns a recording's part of its
// side's mean, least the smallest variances of the means. With a pace, P tests the values
// beyond what all functions have in common.
func (c *Comparison) welch(value func(r int) float64, pace *pace, least [2]float64) *Confidence {
	var sides [2][]float64
	for r := range c.Runs {
		side, n := c.sideOf(r)
		sides[side] = append(sides[side], value(r)*float64(n))
	}
	a, b := stats.NewSample(sides[0]), stats.NewSample(sides[1])
	w := means(a, b, least[0]+least[1])
	if pace != nil && pace.common != 0 && w.P < 1 {
		w.P = pace.beyond(sides, least)
	}
	conf := &Confidence{Method: FromRuns, P: w.P, A: int64(a.N), B: int64(b.N)}
	conf.Low, conf.High = w.Interval()
	conf.Detectable = (stats.StudentQuantile(w.Freedom) + stats.Z80) * w.Error
	conf.Spread = [2]float64{math.Sqrt(a.Variance), math.Sqrt(b.Variance)}
	return conf
}

// means compares the means of values of recordings. A recording's part of a mean is rounded,
// so means of equal values may differ by as many of the last decimal as there are
// recordings.
func means(a, b stats.Sample, least float64) stats.Welch {
	w := stats.Means(a, b, least)
	if math.Abs(b.Mean-a.Mean) <= float64(max(a.N, b.N)) {
		w.P = 1
	}
	return w
}

// RunsNeeded estimates the number of additional recordings per side, at least two, with
// which a difference between single runs would be certain four times out of five. It
// returns -1 if that is unknown.
func (c *Confidence) RunsNeeded() int {
	d, e := (c.Low+c.High)/2, (c.High-c.Low)/(2*stats.Z95)
	if c.Method != FromCounts || !(d != 0) {
		return -1
	}
	return 2 + int(math.Min(1e6, math.Pow((stats.Z95+stats.Z80)*e/d, 2)))
}

// MoreRuns returns the number of additional recordings on each side with which a difference
// as large as this one, between runs that vary as these do, would be found (p < 0.05) four
// times in five. It is 0 if the difference is found already, and -1 if that is unknown or
// no reasonable number would do.
func (c *Confidence) MoreRuns() int {
	const most = 10_000
	d := (c.Low + c.High) / 2
	switch {
	case c.Method != FromRuns || !(d != 0):
		return -1
	case c.P < .05:
		return 0
	}
	z := stats.Z95 + stats.Z80
	n := math.Ceil(z * z * (c.Spread[0]*c.Spread[0] + c.Spread[1]*c.Spread[1]) / (d * d))
	if n > most {
		return -1
	}
	return max(1, int(n)-int(min(c.A, c.B)))
}
