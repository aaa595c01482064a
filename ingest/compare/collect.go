package compare

import (
	"cmp"
	"context"
	"sync"

	"ashlar/ingest/recording"
)

// spans collects the durations of all spans by row, for all groups in one pass.
func (c *Comparison) spans(ctx context.Context, gs ...*groups) ([]*spanTable, error) {
	scales := c.spanScales()
	var whole [2]*draws
	for side := range whole {
		whole[side] = newDraws(1, mostSpans, func(int) string { return "" }, 2)
	}
	tables := make([]*spanTable, len(gs))
	for i, g := range gs {
		tables[i] = c.newSpanTable(g, whole, scales)
	}
	// The sides are apart from each other, and each draws in the order of its file.
	var wg sync.WaitGroup
	var failed [2]error
	for side := range whole {
		wg.Add(1)
		go func() {
			defer wg.Done()
			failed[side] = c.collectSide(ctx, side, tables)
		}()
	}
	wg.Wait()
	return tables, cmp.Or(failed[0], failed[1])
}

// collectSide collects the spans of a side's recordings, first counting them so
// that it is known which to keep.
func (c *Comparison) collectSide(ctx context.Context, side int, tables []*spanTable) error {
	var parts []*collector
	for r := range c.Runs {
		if of, _ := c.sideOf(r); of == side {
			parts = append(parts, c.newCollector(r, side, tables))
		}
	}
	for _, p := range parts {
		p.expect()
	}
	draws := []*draws{tables[0].whole[side]}
	for _, s := range tables {
		draws = append(draws, s.total[side])
		if s.self[side] != nil {
			draws = append(draws, s.self[side])
		}
	}
	for _, d := range draws {
		d.begin()
	}
	for _, p := range parts {
		if err := p.collect(ctx); err != nil {
			return err
		}
	}
	for _, d := range draws {
		d.end()
	}
	return nil
}

// collector collects the spans of one recording.
type collector struct {
	run    *Run
	walk   *spanWalk
	chosen func(track int) bool
	long   float64
	whole  *draws
	rows   []rowDraws
	calls  []callSums
}

// callSums add up the durations of a call's spans, in picoseconds as they were
// recorded.
type callSums struct {
	n                          int64
	total, total2, self, self2 float64
}

// rowDraws are the draws of one table.
type rowDraws struct {
	self, total *draws
	// at has the row of each call, times two, with one more where no span around
	// it is in the same row; -1 for none. It is nil for threads, which go by
	// track.
	at    []int32
	track []int32
}

func (c *Comparison) newCollector(r, side int, tables []*spanTable) *collector {
	run := &c.Runs[r]
	p := &collector{run: run, chosen: run.query.Scope.TrackTest(), long: tables[0].long[r], whole: tables[0].whole[side], calls: make([]callSums, run.Rec.Calls.Len())}
	self := false
	for _, s := range tables {
		d := rowDraws{self: s.self[side], total: s.total[side]}
		if s.g.by == ByThread {
			d.track = s.g.track[r]
		} else {
			d.at = s.rowsOf(r)
		}
		self = self || d.self != nil
		p.rows = append(p.rows, d)
	}
	p.walk = newSpanWalk(run, self)
	return p
}

// expect says how many spans there will be of each row.
func (p *collector) expect() {
	counts := make([]int64, p.run.Rec.Calls.Len())
	into := counts
	if p.everything() {
		copy(counts, p.run.Rec.SpanCount)
		into = nil
	}
	for ti := range p.run.Rec.Tracks {
		if !p.chosen(ti) {
			continue
		}
		all, outermost := p.walk.count(ti, into)
		p.whole.expect(0, outermost)
		for _, d := range p.rows {
			if d.at == nil {
				d.self.expect(d.track[ti], all)
				d.total.expect(d.track[ti], outermost)
			}
		}
	}
	for _, d := range p.rows {
		for c, k := range d.at {
			if k >= 0 && d.self != nil {
				d.self.expect(k>>1, counts[c])
			}
			if k >= 0 && k&1 != 0 {
				d.total.expect(k>>1, counts[c])
			}
		}
	}
}

// everything reports whether all spans of the recording are collected.
func (p *collector) everything() bool {
	if p.walk.in.Ranged || p.walk.in.Calls != nil {
		return false
	}
	for ti := range p.run.Rec.Tracks {
		if !p.chosen(ti) {
			return false
		}
	}
	return true
}

// collect adds the spans to the rows.
func (p *collector) collect(ctx context.Context) error {
	for ti := range p.run.Rec.Tracks {
		if !p.chosen(ti) {
			continue
		}
		err := p.walk.each(ctx, ti, func(r *spanRun) {
			p.sum(r)
			for i := range p.rows {
				if d := &p.rows[i]; d.at == nil {
					d.byTrack(d.track[ti], r, p.long)
				} else {
					d.byCall(r, p.long)
				}
			}
		})
		if err != nil {
			return err
		}
	}
	for _, d := range p.rows {
		for c, k := range d.at {
			s := &p.calls[c]
			if k < 0 || s.n == 0 {
				continue
			}
			if d.self != nil {
				d.self.add(k>>1, s.n, s.self*p.long, s.self2*p.long*p.long)
			}
			if k&1 != 0 {
				d.total.add(k>>1, s.n, s.total*p.long, s.total2*p.long*p.long)
			}
		}
	}
	return nil
}

// sum adds a run up by call, and to the whole.
func (p *collector) sum(r *spanRun) {
	for j, c := range r.calls {
		s := &p.calls[c]
		v := float64(r.ends[j] - r.starts[j])
		s.n++
		s.total += v
		s.total2 += v * v
	}
	for j, self := range r.selfs {
		s := &p.calls[r.calls[j]]
		v := float64(self)
		s.self += v
		s.self2 += v * v
	}
	if r.outer {
		p.whole.addRun(0, r.starts, r.ends, p.long)
	}
}

// addRun adds whole spans to a row.
func (ds *draws) addRun(row int32, starts, ends []int64, long float64) {
	for j := range starts {
		v := float64(ends[j]-starts[j]) * long
		ds.add(row, 1, v, v*v)
		ds.pass(row, v)
	}
}

// byTrack adds a run to the row of its track.
func (d *rowDraws) byTrack(row int32, r *spanRun, long float64) {
	for _, self := range r.selfs {
		v := float64(self) * long
		d.self.add(row, 1, v, v*v)
		d.self.pass(row, v)
	}
	if r.outer {
		d.total.addRun(row, r.starts, r.ends, long)
	}
}

// byCall lets a run go by: what it adds up to is known by call.
func (d *rowDraws) byCall(r *spanRun, long float64) {
	at, left := d.at, d.total.left
	var lefts []int32
	if d.self != nil {
		lefts = d.self.left
	}
	for j, c := range r.calls {
		k := at[c]
		if k < 0 {
			continue
		}
		if lefts != nil {
			if lefts[k>>1]--; lefts[k>>1] == 0 {
				d.self.keep(k>>1, float64(r.selfs[j])*long)
			}
		}
		if k&1 != 0 {
			if left[k>>1]--; left[k>>1] == 0 {
				d.total.keep(k>>1, float64(r.ends[j]-r.starts[j])*long)
			}
		}
	}
}

// rowsOf finds the rows of a recording's calls, as rowDraws has them.
func (s *spanTable) rowsOf(r int) []int32 {
	c := s.c
	rec := c.recs[r]
	at := make([]int32, rec.Calls.Len())
	if s.g.flat() { // spans alone do not tell
		for i := range at {
			at[i] = -1
		}
		return at
	}
	if ofNodes(s.g.by) {
		for i, k := range c.Tree.calls(rec, c.Matching.IDs[r]) {
			if at[i] = -1; k >= 0 {
				at[i] = k<<1 | 1
			}
		}
		return at
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
	for i := 1; i < len(at); i++ {
		at[i] = row[rec.Func(recording.CallID(i))]
	}
	outer := make([]bool, len(at))
	outermostCalls(&rec.Calls, at, outer, len(s.g.rows))
	for i, k := range at {
		if k >= 0 {
			if at[i] = k << 1; outer[i] {
				at[i]++
			}
		}
	}
	return at
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

// outermostCalls reports for each call whether no call above it has its row.
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
