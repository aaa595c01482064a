package compare

import (
	"context"
	"runtime"
	"sync"

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
	case s.nodes():
		return sums{slotOf: sync.OnceValue(func() []int32 { return s.c.Tree.calls(s.c.recs[r], s.c.Matching.IDs[r]) }), slots: n, most: s.most}
	case s.g.flat() || ofNodes(s.g.by):
		return sums{slotOf: sync.OnceValue(func() []int32 { return s.slotOfCalls(r) }), slots: 2 * n, most: s.most}
	}
	rows := s.rowOfFunctions(r)
	return sums{rows: rows, slotOf: sync.OnceValue(func() []int32 { return slotsOf(s.c.recs[r], rows, n) }), slots: 2 * n, most: s.most}
}

// slotOfCalls returns for each call of a recording twice its row plus one; -1 without a
// row.
func (s *spanTable) slotOfCalls(r int) []int32 {
	rec := s.c.recs[r]
	if !s.g.flat() {
		at := s.c.Tree.calls(rec, s.c.Matching.IDs[r])
		for i, k := range at {
			if k >= 0 {
				at[i] = k<<1 | 1
			}
		}
		return at
	}
	at := column.Fresh[int32](rec.Calls.Len())
	for i := range at {
		at[i] = -1 // a span's row does not follow from its call
	}
	return at
}

// rowOfFunctions returns the row of each function of a recording; -1 for none.
func (s *spanTable) rowOfFunctions(r int) []int32 {
	c := s.c
	row := make([]int32, c.recs[r].Functions.Len())
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
	return row
}

// slotsOf returns for each call of a recording twice the row of its function, plus one if
// no call around it has the same row; -1 without a row.
func slotsOf(rec *recording.Recording, row []int32, rows int) []int32 {
	at := column.Fresh[int32](rec.Calls.Len())
	at[0] = -1
	for i := 1; i < len(at); i++ {
		at[i] = row[rec.Func(recording.CallID(i))]
	}
	outer := analyze.Outermost(len(at), func(i int32) int32 { return int32(rec.Calls.Parent(recording.CallID(i))) }, at, rows)
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
	nodes := t.index()
	at := make([]int32, rec.Calls.Len())
	for i := 1; i < len(at); i++ {
		call := recording.CallID(i)
		at[i] = -1
		if p := at[rec.Calls.Parent(call)]; p >= 0 {
			if k, _ := nodes.Get(uint32(p), uint32(ids[rec.Func(call)])); k != 0 {
				at[i] = int32(k)
			}
		}
	}
	return at
}
