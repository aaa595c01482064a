package compare

import (
	"math"

	"ashlar/ingest/query/compare/stats"
)

// spanTable holds the durations of spans by row.
type spanTable struct {
	c *Comparison
	g *groups
	// self and total are by side and row; self is nil for nodes. whole holds all
	// outermost spans.
	self, total [2][]drawn
	whole       [2]drawn
	most        int // spans kept per row
	*spanScales
	// shifts requests that confidences include how durations differ.
	shifts bool
	// common is the factor by which the durations of all rows changed, 1 if too few rows tell, and
	// refs holds, by row, the distribution with which the ratio of the row's durations is
	// compared. Both are unset if the sides are parts of one recording.
	common float64
	refs   []*stats.Reference
	// functions is the table of functions whose references nodes take, so that a node and the
	// row of its function agree; nil if there is none.
	functions *spanTable
}

// spanScales holds the factors for durations and numbers of spans.
type spanScales struct {
	// unit is the common metric's unit in picoseconds. long holds, by recording, the factors for
	// the durations of spans, often those for the numbers of spans.
	unit        float64
	long, often []float64
	perCall     bool // costs are per call, so the numbers of spans do not count
}

func (c *Comparison) newSpanTable(g *groups, scales *spanScales) *spanTable {
	s := &spanTable{c: c, g: g, spanScales: scales}
	n := len(g.rows)
	if s.nodes() {
		s.most = max(leastNodeSpans, min(mostNodeSpans, keptSpans/max(1, n)))
	} else {
		// Stored recordings keep at most this many spans of each function.
		rows := n
		for _, rec := range c.recs {
			rows = max(rows, rec.Functions.Len())
		}
		s.most = mostOf(rows)
	}
	for side := range s.total {
		s.total[side] = make([]drawn, n)
		if !s.nodes() {
			s.self[side] = make([]drawn, n)
		}
	}
	return s
}

// nodes reports whether rows are nodes of the tree, which have only totals.
func (s *spanTable) nodes() bool { return s.g.by == byNode }

// spanScales computes the factors for durations and numbers of spans; see the package
// documentation.
func (c *Comparison) spanScales() *spanScales {
	s := new(spanScales)
	u, ok := units[c.Metric.Common.Unit]
	if !ok {
		u.base = 1
	}
	s.unit = float64(u.base)
	for range c.Metric.Common.Decimals {
		s.unit /= 10
	}
	s.long, s.often = make([]float64, len(c.Runs)), make([]float64, len(c.Runs))
	meanSpans := float64(c.A().Samples) / float64(c.Sides)
	for r := range c.Runs {
		run := &c.Runs[r]
		_, n := c.sideOf(r)
		all := run.factor.float() * float64(n) // factor for a sum of durations, in common units
		all *= s.unit / float64(units[run.Rec.Events[run.query.Event].Metrics[run.query.Metric].Unit].base) * math.Pow10(run.Rec.Events[run.query.Event].Metrics[run.query.Metric].Decimals)
		s.long[r], s.often[r] = 1, all
		switch {
		case c.Normalize == Raw:
			s.often[r] = 1
		case c.PerCall(): // compare uses a.n and b.n instead
			s.often[r] = 1
			s.perCall = true
		case c.Normalize == Total:
			s.often[r] = 1
			if run.Samples > 0 {
				s.often[r] = meanSpans / float64(run.Samples)
			}
			s.long[r] = all / s.often[r]
		}
	}
	return s
}

// learn estimates, from the mean durations of all rows, how much the two runs differ beyond
// what the durations of their spans explain.
func (s *spanTable) learn() {
	if s.c.Runs[0].Rec == s.c.Runs[s.c.Sides].Rec {
		return
	}
	if s.functions != nil && s.functions.refs != nil {
		s.adopt()
		return
	}
	of := s.self
	if s.nodes() {
		of = s.total
	}
	var ratios []stats.Ratio
	index := make([]int, len(s.g.rows))
	for i := range index {
		index[i] = -1
		if x, ok := ratioOf(&of[0][i], &of[1][i]); ok {
			index[i] = len(ratios)
			ratios = append(ratios, x)
		}
	}
	const several = 3 // fewer functions do not tell what is common to all
	model := stats.NewBetween(ratios, stats.TypicalOfSpans)
	if s.common = 1; len(ratios) >= several {
		s.common = math.Exp(model.Common)
	}
	s.refs = make([]*stats.Reference, len(index))
	for i, k := range index {
		if k < 0 {
			s.refs[i] = model.Reference(nil)
		} else {
			s.refs[i] = model.Reference(&ratios[k])
		}
	}
}

// adopt gives each node of the tree the reference of its function.
func (s *spanTable) adopt() {
	of := map[int32]*stats.Reference{}
	for i := range s.functions.g.rows {
		r := &s.functions.g.rows[i]
		of[r.Key] = s.functions.refs[r.group]
	}
	s.common, s.refs = s.functions.common, make([]*stats.Reference, len(s.g.rows))
	for i := range s.refs {
		s.refs[i] = of[s.c.Tree.Nodes[i].Func]
	}
}

// ratioOf returns the ratio of two mean durations, if both sides have spans that show how
// much they vary.
func ratioOf(a, b *drawn) (stats.Ratio, bool) {
	if a.n < 2 || b.n < 2 || !(a.sum > 0) || !(b.sum > 0) {
		return stats.Ratio{}, false
	}
	ma, mb := a.sum/float64(a.n), b.sum/float64(b.n)
	v := a.variance()/(float64(a.n)*ma*ma) + b.variance()/(float64(b.n)*mb*mb) + stats.Clock
	return stats.Ratio{Log: math.Log(mb / ma), Variance: v}, !math.IsNaN(v)
}

// longer returns the p-value of a difference in the durations of spans, both of the typical
// duration and of the mean. ref, unless nil, is the distribution with which the ratio of the means
// is compared.
func longer(a, b *drawn, ref *stats.Reference) float64 {
	rank := stats.Ranks(a.kept, b.kept)
	x, ok := ratioOf(a, b)
	if !ok {
		return rank
	}
	mean := stats.Means(a.sample(), b.sample(), 0).P
	if ref != nil {
		mean = math.Max(mean, ref.Ratio(x))
		if la, lb := a.kept[len(a.kept)/2].ps(), b.kept[len(b.kept)/2].ps(); la > 0 && lb > 0 {
			rank = math.Max(rank, ref.Shift(math.Log(lb/la), rank))
		}
	}
	return math.Min(1, 2*math.Min(rank, mean))
}

func (d *drawn) sample() stats.Sample {
	return stats.Sample{N: int(d.n), Mean: d.sum / float64(d.n), Variance: d.variance()}
}

// judge returns the confidence of a row's difference.
func (s *spanTable) judge(i int, total bool) *Confidence {
	of := s.self
	if total {
		if self := s.g.rows[i].Self; self != nil && s.allSelf(i) { // judged already
			same := *self
			return &same
		}
		of = s.total
	}
	var ref *stats.Reference
	if s.refs != nil {
		ref = s.refs[i]
	}
	return s.compare(&of[0][i], &of[1][i], ref)
}

// allSelf reports whether a row's spans have no children, so that self and total are the
// same.
func (s *spanTable) allSelf(i int) bool {
	for side := range s.total {
		if s.self[side] == nil {
			return false
		}
		a, b := s.self[side][i].kept, s.total[side][i].kept
		if len(a) != len(b) || len(a) > 0 && &a[0] != &b[0] {
			return false
		}
	}
	return true
}

// judgeWhole returns the confidence of the difference of the totals.
func (s *spanTable) judgeWhole() *Confidence {
	if s.c.Normalize == Total {
		return nil
	}
	conf := s.compare(&s.whole[0], &s.whole[1], nil)
	if conf == nil || math.IsNaN(conf.Low) || conf.High <= conf.Low {
		return conf
	}
	// Different spans do not imply different sums, so take the confidence from the
	// interval.
	e := (conf.High - conf.Low) / (2 * stats.Z95)
	if s.perCall { // functions are scaled by their own calls
		d := float64(s.c.B().Total) - float64(s.c.A().Total)
		conf.Low, conf.High = d-stats.Z95*e, d+stats.Z95*e
	}
	conf.P = stats.NormalTails((conf.High + conf.Low) / 2 / e)
	return conf
}

func (s *spanTable) compare(a, b *drawn, ref *stats.Reference) *Confidence {
	if a.n <= 1 && b.n <= 1 { // a single call does not show how much calls vary
		return nil
	}
	conf := &Confidence{Method: FromDurations, A: a.n, B: b.n, P: longer(a, b, ref), Low: math.NaN(), High: math.NaN(), Detectable: math.NaN()}
	// Exposure for the number of spans: the number of recordings, with their scale.
	var exposure [2]float64
	for r := range s.c.Runs {
		side, _ := s.c.sideOf(r)
		exposure[side] += 1 / s.often[r]
	}
	if s.perCall {
		if exposure = [2]float64{1, s.c.work.Ratio}; a.n > 0 && b.n > 0 {
			exposure[1] = float64(b.n) / float64(a.n)
		}
	}
	if each := s.perCall && a.n > 0 && b.n > 0; !each && float64(a.n)*exposure[1] != float64(b.n)*exposure[0] {
		p := stats.Counts(float64(a.n), float64(b.n), exposure[0]/(exposure[0]+exposure[1]))
		if a.n == 0 || b.n == 0 {
			conf.P = p
		} else {
			conf.P = math.Min(1, 2*math.Min(p, conf.P))
		}
	}
	if s.shifts && a.n > 0 && b.n > 0 {
		conf.lengths = [2][]length{a.kept, b.kept}
	}
	// The variance of the sum of n spans is n times the variance of one.
	va, vb := a.variance()*float64(a.n), b.variance()*float64(b.n)
	if a.n == 0 {
		va = 0
	}
	if b.n == 0 {
		vb = 0
	}
	wa, wb := 1/exposure[0], 1/exposure[1]
	if v := va*wa*wa + vb*wb*wb; !math.IsNaN(v) {
		d, e := b.sum*wb-a.sum*wa, math.Sqrt(v)
		conf.Low, conf.High = (d-stats.Z95*e)/s.unit, (d+stats.Z95*e)/s.unit
		if a.n > 0 && b.n > 0 {
			conf.Detectable = (stats.Z95 + stats.Z80) * e / s.unit
		}
	}
	return conf
}
