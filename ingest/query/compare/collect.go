package compare

import (
	"context"
	"runtime"

	"ashlar/ingest/model/column"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/scan"
)

// spans collects the durations of all spans by row, for several groupings in one pass.
func (c *Comparison) spans(ctx context.Context, gs ...*groups) ([]*spanTable, error) {
	scales := c.spanScales()
	tables := make([]*spanTable, len(gs))
	for i, g := range gs {
		tables[i] = c.newSpanTable(g, scales)
	}
	for side := range 2 {
		if err := c.collectSide(ctx, side, tables); err != nil {
			return nil, err
		}
	}
	return tables, nil
}

// collectSide collects the spans of a side's recordings.
func (c *Comparison) collectSide(ctx context.Context, side int, tables []*spanTable) error {
	var passes []*pass
	var long []float64
	for r := range c.Runs {
		if of, _ := c.sideOf(r); of != side {
			continue
		}
		p := &pass{run: &c.Runs[r]}
		for _, s := range tables {
			p.self = p.self || !s.nodes()
			p.sums = append(p.sums, s.sums(r))
		}
		p.sums = append(p.sums, sums{whole: true, slots: 1, most: mostSpans})
		if err := p.find(ctx); err != nil {
			return err
		}
		passes, long = append(passes, p), append(long, tables[0].long[r])
	}
	// sources returns the parts of a range of a table's slots, in all recordings.
	sources := func(table, first, last int) (of []source) {
		for r, p := range passes {
			of = append(of, source{p.sums[table].of(first, last), long[r]})
		}
		return of
	}
	whole := draw(sources(len(tables), 0, 1), mostSpans, false, new(drawRoom))
	for i, s := range tables {
		s.whole[side] = whole
		const some = 64 // rows per task
		rows := len(s.g.rows)
		rooms := make([]drawRoom, runtime.GOMAXPROCS(0))
		err := scan.Spread(ctx, (rows+some-1)/some, func(worker, block int) {
			room := &rooms[worker]
			for row := block * some; row < min(rows, (block+1)*some); row++ {
				if s.nodes() {
					s.total[side][row] = draw(sources(i, row, row+1), s.most, false, room)
					continue
				}
				all, outermost := sources(i, 2*row, 2*row+2), sources(i, 2*row+1, 2*row+2)
				total := draw(outermost, s.most, false, room)
				if s.total[side][row] = total; childless(all) && spansOf(all) == total.n {
					s.self[side][row] = total // spans without children, all outermost: self is the same as total
					continue
				}
				s.self[side][row] = draw(all, s.most, true, room)
			}
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// spansOf counts the spans in sources.
func spansOf(sources []source) (n int64) {
	for _, s := range sources {
		for i := range s.parts {
			n += s.parts[i].n
		}
	}
	return n
}

// sums returns the empty sums that a table needs for a recording. Nodes have one slot
// each. All other rows have two: spans inside others of the same row, then outermost
// spans.
func (s *spanTable) sums(r int) sums {
	n := len(s.g.rows)
	switch {
	case s.g.by == ByThread:
		return sums{track: s.g.track[r], slots: 2 * n, most: s.most}
	case !s.nodes():
		return sums{at: s.rowsOf(r), slots: 2 * n, most: s.most}
	}
	at := s.rowsOf(r)
	for c := range at {
		at[c] >>= 1
	}
	return sums{at: at, slots: n, most: s.most}
}

// rowsOf returns for each call of a recording twice its row, plus one if no span around
// it is in the same row; -1 without a row.
func (s *spanTable) rowsOf(r int) []int32 {
	c := s.c
	rec := c.recs[r]
	at := column.Run[int32](nil, rec.Calls.Len())
	if s.g.flat() { // a span's row does not follow from its call
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
	outer := outermostCalls(&rec.Calls, at, len(s.g.rows))
	for i, k := range at {
		if k >= 0 {
			if at[i] = k << 1; outer[i] {
				at[i]++
			}
		}
	}
	return at
}

// calls returns the node of each call, -1 if there is none.
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
func outermostCalls(calls *recording.Calls, of []int32, rows int) []bool {
	return analyze.Outermost(calls.Len(), func(i int32) int32 { return int32(calls.Parent(recording.CallID(i))) }, of, rows)
}
