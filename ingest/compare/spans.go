package compare

import (
	"cmp"
	"context"
	"hash/fnv"
	"math"
	"slices"
	"sync"

	"ashlar/ingest/compare/stats"
	"ashlar/ingest/recording"
)

// mostSpans is how many spans of a row are kept a side: enough to show a shift
// of a tenth of their spread. Where there are very many rows it is fewer, down to
// leastSpans, so that all take no more than some ten megabytes.
const (
	mostSpans  = 2048
	leastSpans = 512
	keptSpans  = 2 << 20
)

// drawn are durations of spans in picoseconds: their number, sums, and up to
// mostSpans of them.
type drawn struct {
	n         int64
	sum, sum2 float64
	kept      []float64
	most      int // how many are kept
	dice      uint64
}

// add keeps every duration until there are too many; then each has the same
// chance to be among those kept (Vitter's algorithm R). The dice begin with the
// row's name, so that both sides, and each time, draw alike.
func (d *drawn) add(v float64) {
	d.n++
	d.sum += v
	d.sum2 += v * v
	if len(d.kept) < d.most {
		d.kept = append(d.kept, v)
		return
	}
	d.dice ^= d.dice << 13
	d.dice ^= d.dice >> 7
	d.dice ^= d.dice << 17
	if k := d.dice % uint64(d.n); k < uint64(d.most) {
		d.kept[k] = v
	}
}

func (d *drawn) variance() float64 {
	if d.n < 2 {
		return math.NaN()
	}
	n := float64(d.n)
	return math.Max(0, (d.sum2-d.sum*d.sum/n)/(n-1))
}

// spanTable has the durations of spans by row.
type spanTable struct {
	c *Comparison
	g *groups
	// self and total by side and row; all are the outermost spans.
	self, total [2][]drawn
	all         [2]drawn
	count       [2]int64 // of all spans
	// unit is how many picoseconds one of the common metric has; long what
	// durations of a recording are multiplied with, often what numbers of spans
	// are.
	unit        float64
	long, often []float64
}

// spanLengths is a table of durations that was made before.
type spanLengths struct {
	by    By
	table *spanTable
}

// spans collects the durations of all spans by row.
func (c *Comparison) spans(ctx context.Context, g *groups) (*spanTable, error) {
	if c.lengths != nil && c.lengths.by == g.by {
		s := *c.lengths.table
		s.g = g
		return &s, nil
	}
	s := &spanTable{c: c, g: g}
	most := max(leastSpans, min(mostSpans, keptSpans/max(1, len(g.rows))))
	for side := range s.self {
		s.self[side], s.total[side] = make([]drawn, len(g.rows)), make([]drawn, len(g.rows))
		for i := range g.rows {
			h := fnv.New64a()
			h.Write([]byte(g.rows[i].Name))
			seed := h.Sum64() | 1
			s.self[side][i] = drawn{most: most, dice: seed}
			s.total[side][i] = drawn{most: most, dice: seed*0x9E3779B97F4A7C15 | 1}
			if g.by == byNode { // there are many
				s.self[side][i].most, s.total[side][i].most = 0, mostNodeSpans
			}
		}
		s.all[side] = drawn{most: mostSpans, dice: 1}
	}
	s.factors()
	// The sides are apart from each other, and each draws in the order of its file.
	var wg sync.WaitGroup
	var failed [2]error
	for side := range s.self {
		wg.Add(1)
		go func() {
			defer wg.Done()
			failed[side] = s.collectSide(ctx, side)
		}()
	}
	wg.Wait()
	if err := cmp.Or(failed[0], failed[1]); err != nil {
		return nil, err
	}
	c.lengths = &spanLengths{g.by, s}
	return s, nil
}

// collectSide adds the spans of a side's recordings, and sorts what was drawn.
func (s *spanTable) collectSide(ctx context.Context, side int) error {
	for r := range s.c.Runs {
		if of, _ := s.c.sideOf(r); of != side {
			continue
		}
		if err := s.collect(ctx, r); err != nil {
			return err
		}
	}
	for i := range s.self[side] {
		slices.Sort(s.self[side][i].kept)
		slices.Sort(s.total[side][i].kept)
	}
	slices.Sort(s.all[side].kept)
	return nil
}

// factors finds what durations and numbers of spans are scaled by; see the
// package documentation.
func (s *spanTable) factors() {
	c := s.c
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
		all := run.factor.float() * float64(n) // of a sum of durations, in common units
		all *= s.unit / float64(units[run.Rec.Events[run.query.Event].Metrics[run.query.Metric].Unit].base) * math.Pow10(run.Rec.Events[run.query.Event].Metrics[run.query.Metric].Decimals)
		s.long[r], s.often[r] = 1, all
		switch c.Normalize {
		case Raw:
			s.often[r] = 1
		case Total:
			s.often[r] = 1
			if run.Samples > 0 {
				s.often[r] = meanSpans / float64(run.Samples)
			}
			s.long[r] = all / s.often[r]
		}
	}
}

// collect adds the spans of a recording to the rows.
func (s *spanTable) collect(ctx context.Context, r int) error {
	run := &s.c.Runs[r]
	rows := s.rowsOf(r)
	side, _ := s.c.sideOf(r)
	chosen := chosenTracks(run.query.Tracks)
	for ti, track := range run.Rec.Tracks {
		if !chosen(ti) {
			continue
		}
		err := eachSpan(ctx, run.Rec, track, s.g.by != byNode, func(sp *span) {
			if run.query.Ranged && (sp.start < run.query.From || sp.end > run.query.To) {
				return // cut by the range
			}
			s.count[side]++
			length := float64(sp.end-sp.start) * s.long[r]
			if sp.depth == 1 {
				s.all[side].add(length)
			}
			row, outer := rows(ti, sp)
			if row < 0 {
				return
			}
			if s.g.by != byNode {
				s.self[side][row].add(float64(sp.self) * s.long[r])
			}
			if outer {
				s.total[side][row].add(length)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

func chosenTracks(tracks []int) func(int) bool {
	if tracks == nil {
		return func(int) bool { return true }
	}
	return func(t int) bool { return slices.Contains(tracks, t) }
}

// rowsOf finds the row of a span, and whether no span around it is in the same
// row.
func (s *spanTable) rowsOf(r int) func(track int, sp *span) (row int32, outer bool) {
	if s.g.by == ByThread {
		return func(track int, sp *span) (int32, bool) { return s.g.track[r][track], sp.depth == 1 }
	}
	c := s.c
	rec := c.recs[r]
	// Calls lead to the rows of their functions; stacks to nodes.
	of := make([]int32, rec.Calls.Len())
	outer := make([]bool, rec.Calls.Len())
	if s.g.by.stacks() {
		at := c.Tree.calls(rec, c.Matching.IDs[r])
		return func(_ int, sp *span) (int32, bool) { return at[sp.call], true }
	}
	row := make([]int32, rec.Functions.Len())
	for i := range row {
		row[i] = -1
	}
	for i := range c.Tree.Nodes {
		if f := c.Tree.Nodes[i].Func; f >= 0 && int(f) < len(c.Matching.Funcs) {
			if id := c.Tree.Funcs[f].In[r]; id >= 0 {
				row[id] = s.g.of[r][i]
			}
		}
	}
	for i := 1; i < len(of); i++ {
		of[i] = row[rec.Func(recording.CallID(i))]
	}
	outermostCalls(&rec.Calls, of, outer, len(s.g.rows))
	return func(_ int, sp *span) (int32, bool) { return of[sp.call], outer[sp.call] }
}

// calls finds the node of each call; -1 where there is none.
func (t *Tree) calls(rec *recording.Recording, ids []int32) []int32 {
	type step struct{ parent, f int32 }
	nodes := make(map[step]int32, len(t.Nodes))
	for i := 1; i < len(t.Nodes); i++ {
		nodes[step{t.Nodes[i].Parent, t.Nodes[i].Func}] = int32(i)
	}
	at := make([]int32, rec.Calls.Len())
	for i := 1; i < len(at); i++ {
		call := recording.CallID(i)
		at[i] = -1
		if p := at[rec.Calls.Parent(call)]; p >= 0 {
			if k, ok := nodes[step{p, ids[rec.Func(call)]}]; ok {
				at[i] = k
			}
		}
	}
	return at
}

// outermostCalls tells for each call whether no call above it has its row.
func outermostCalls(calls *recording.Calls, of []int32, outer []bool, rows int) {
	n := calls.Len()
	first, next := make([]int32, n), make([]int32, n)
	for i := n - 1; i > 0; i-- {
		p := calls.Parent(recording.CallID(i))
		next[i], first[p] = first[p], int32(i)
	}
	on := make([]int32, rows)
	for i := first[0]; i != 0; {
		if g := of[i]; g >= 0 {
			outer[i] = on[g] == 0
			on[g]++
		}
		if first[i] != 0 {
			i = first[i]
			continue
		}
		for { // up to where there is a next one
			if g := of[i]; g >= 0 {
				on[g]--
			}
			if next[i] != 0 {
				i = next[i]
				break
			}
			if i = int32(calls.Parent(recording.CallID(i))); i == 0 {
				break
			}
		}
	}
}

// judge is the confidence of a row's difference.
func (s *spanTable) judge(i int, total bool) *Confidence {
	if total {
		return s.compare(&s.total[0][i], &s.total[1][i])
	}
	return s.compare(&s.self[0][i], &s.self[1][i])
}

// whole is the confidence of the difference of the totals.
func (s *spanTable) whole() *Confidence {
	if s.c.Normalize == Total {
		return nil
	}
	return s.compare(&s.all[0], &s.all[1])
}

func (s *spanTable) compare(a, b *drawn) *Confidence {
	if a.n == 0 && b.n == 0 {
		return nil
	}
	conf := &Confidence{Method: FromDurations, A: a.n, B: b.n, P: stats.Ranks(a.kept, b.kept), Low: math.NaN(), High: math.NaN(), Detectable: math.NaN()}
	// How often spans ran: by the number of recordings and what scales it.
	var exposure [2]float64
	for r := range s.c.Runs {
		side, _ := s.c.sideOf(r)
		exposure[side] += 1 / s.often[r]
	}
	if float64(a.n)*exposure[1] != float64(b.n)*exposure[0] {
		p := stats.Counts(float64(a.n), float64(b.n), exposure[0]/(exposure[0]+exposure[1]))
		if a.n == 0 || b.n == 0 {
			conf.P = p
		} else {
			conf.P = math.Min(1, 2*math.Min(p, conf.P))
		}
	}
	if a.n > 0 && b.n > 0 {
		sh := &Shift{MedianA: stats.Quantile(a.kept, .5), MedianB: stats.Quantile(b.kept, .5)}
		sh.By, sh.Low, sh.High = stats.Shift(a.kept, b.kept)
		conf.Spans = sh
	}
	// Sums of n spans vary by n times the variance of one.
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
