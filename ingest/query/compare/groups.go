package compare

import (
	"context"
	"strings"

	"ashlar/ingest/model/column"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/compare/match"
)

// groups maps nodes to rows and holds the sums of the rows.
type groups struct {
	by   By
	rows []Row
	// of is the row of each node's function, by recording; nil if rows are not part of
	// stacks (see flat). outer reports whether no node above belongs to the same row.
	of    [][]int32
	outer [][]bool
	// self and total are by recording and row, scaled; count and countTotal are numbers
	// of samples, nil if unknown.
	self, total, count, countTotal [][]int64
	// spread and spreadTotal are variances by side and row.
	spread, spreadTotal [2][]float64
	// track is the row of each track, by recording; the last element is the row for no
	// track.
	track [][]int32
}

// flat reports whether rows are listed per recording instead of taken from stacks.
func (g *groups) flat() bool { return g.of == nil }

func (c *Comparison) group(ctx context.Context, by By) (*groups, error) {
	g := &groups{by: by}
	switch listed, err := c.listed(by); {
	case err != nil:
		return nil, err
	case by == ByThread:
		return g, c.groupThreads(ctx, g)
	case listed:
		return g, c.groupListed(ctx, g)
	}
	return c.groupStacks(by), nil
}

// groupStacks makes the rows of groupings of the functions in stacks.
func (c *Comparison) groupStacks(by By) *groups {
	g := &groups{by: by}
	keys := c.groupKeys(g)
	n := len(c.Runs)
	g.self, g.total, g.count, g.countTotal = make([][]int64, n), make([][]int64, n), make([][]int64, n), make([][]int64, n)
	g.of, g.outer = make([][]int32, n), make([][]bool, n)
	for r := range c.Runs {
		if r > 0 && (by == ByFunction || ofNodes(by)) { // same for all recordings
			g.of[r] = g.of[0]
		} else {
			g.of[r] = keys(r)
		}
	}
	for r := range c.Runs {
		if r > 0 && (by == ByFunction || ofNodes(by)) {
			g.outer[r] = g.outer[0]
		} else {
			g.outer[r] = analyze.Outermost(len(c.Tree.Nodes), func(i int32) int32 { return c.Tree.Nodes[i].Parent }, g.of[r], len(g.rows))
		}
		g.self[r], g.total[r] = roll(c.Tree, c.Tree.runs[r], g.of[r], g.outer[r], len(g.rows))
		if c.Tree.count[r] != nil {
			g.count[r], g.countTotal[r] = roll(c.Tree, c.Tree.count[r], g.of[r], g.outer[r], len(g.rows))
		}
	}
	for side, at := range []int{0, c.Sides} {
		if s := c.Tree.spread(side == 1); s != nil {
			g.spread[side], g.spreadTotal[side] = roll(c.Tree, s, g.of[at], g.outer[at], len(g.rows))
		}
	}
	here := [2][]bool{make([]bool, len(g.rows)), make([]bool, len(g.rows))}
	for i := range c.Tree.Nodes {
		nd := &c.Tree.Nodes[i]
		if nd.A.Here {
			here[0][g.of[nd.A.Run][i]] = true
		}
		if nd.B.Here {
			here[1][g.of[nd.B.Run][i]] = true
		}
	}
	g.finish(c, here)
	return g
}

// groupKeys makes the rows. It returns a function that, for a recording, returns the row
// of each node. Row 0 is the root's.
func (c *Comparison) groupKeys(g *groups) func(r int) []int32 {
	t := c.Tree
	g.rows = []Row{{Name: "[no stack]", Key: -1}}
	if ofNodes(g.by) {
		for i := 1; i < len(t.Nodes); i++ {
			g.rows = append(g.rows, Row{Key: int32(i)})
		}
		return func(int) []int32 {
			of := make([]int32, len(t.Nodes))
			for i := range of {
				of[i] = int32(i)
			}
			return of
		}
	}
	if g.by == ByFunction {
		for f := range t.Funcs {
			g.rows = append(g.rows, c.funcRow(&t.Funcs[f], int32(f)))
		}
		return func(int) []int32 {
			return t.rowOf(func(f int32) int32 { return f + 1 })
		}
	}
	return c.groupPlaces(g)
}

// groupPlaces is groupKeys for rows that combine several functions, such as those of a
// module or a file.
func (c *Comparison) groupPlaces(g *groups) func(r int) []int32 {
	t := c.Tree
	places, index, none := c.placesOf(g.by)
	m, at := places(c.recs, c.match)
	for f := range m.Funcs {
		row := c.funcRow(&m.Funcs[f], int32(f))
		row.Name = orNone(row.Name, none)
		g.rows = append(g.rows, row)
	}
	for r := c.Sides; r < len(at); r++ {
		for p, k := range at[r] {
			if row := &g.rows[k+1]; row.Name != orNone(p, none) && row.Rule != match.Unmatched && (row.NameB == "" || p < row.NameB) {
				row.NameB = p
			}
		}
	}
	made := map[string]int32{}
	return func(r int) []int32 {
		return t.rowOf(func(f int32) int32 {
			fn := &t.Funcs[f]
			if has := c.whoHas(fn, r); has >= 0 {
				of := c.recs[has].Functions.At(int(fn.In[has]))
				return at[has][index(&of)] + 1
			}
			// A transform made this node from several functions.
			p := index(&recording.Function{Name: fn.Name, Module: fn.Module, File: fn.File})
			k, ok := made[p]
			if !ok {
				if k, ok = at[0][p]; ok {
					k++
				} else {
					k = int32(len(g.rows))
					g.rows = append(g.rows, Row{Name: orNone(p, none), Key: -1})
				}
				made[p] = k
			}
			return k
		})
	}
}

// whoHas returns the recording that knows a function: r, else another recording of r's
// side, else any; -1 for functions that transforms made.
func (c *Comparison) whoHas(f *match.Func, r int) int {
	if f.In[r] >= 0 {
		return r
	}
	side, _ := c.sideOf(r)
	found := -1
	for other, i := range f.In {
		if i < 0 {
			continue
		}
		if s, _ := c.sideOf(other); s == side {
			return other
		}
		if found < 0 {
			found = other
		}
	}
	return found
}

// rowOf returns the row of each node, given the row of each function.
func (t *Tree) rowOf(row func(f int32) int32) []int32 {
	known := make([]int32, len(t.Funcs))
	of := column.Fresh[int32](len(t.Nodes))
	for i := 1; i < len(t.Nodes); i++ {
		f := t.Nodes[i].Func
		if known[f] == 0 {
			known[f] = row(f)
		}
		of[i] = known[f]
	}
	return of
}

func orNone(s, none string) string {
	if s == "" {
		return none
	}
	return s
}

// funcRow returns a row for a matched function or place.
func (c *Comparison) funcRow(f *match.Func, key int32) Row {
	return Row{Name: f.Name, Module: f.Module, Key: key, Rule: f.Rule()}
}

// roll sums up the values of nodes by row: self, and total. Total counts nodes inside
// other nodes of the same row only once.
func roll[T int64 | float64](t *Tree, values []T, of []int32, outer []bool, rows int) (self, total []T) {
	self, total = make([]T, rows), make([]T, rows)
	sums := append(column.Fresh[T](len(values))[:0], values...)
	for i := len(sums) - 1; i > 0; i-- {
		add(&sums[t.Nodes[i].Parent], sums[i])
	}
	for i := range values {
		g := of[i]
		switch {
		case !t.Inverted || i == 0:
			add(&self[g], values[i])
		case t.Nodes[i].Depth == 1: // in an inverted tree: all that ends in the function, whoever called it
			add(&self[g], sums[i])
		}
		if outer[i] && i > 0 {
			add(&total[g], sums[i])
		}
	}
	total[0] = self[0] // the root is only the row for records without a stack
	return self, total
}

// finish fills in the rows. Empty rows have no status.
func (g *groups) finish(c *Comparison, here [2][]bool) {
	for i := range g.rows {
		row := &g.rows[i]
		for r := range g.self {
			if side, _ := c.sideOf(r); side == 0 {
				recording.Add(&row.ASelf, g.self[r][i])
				recording.Add(&row.ATotal, g.total[r][i])
			} else {
				recording.Add(&row.BSelf, g.self[r][i])
				recording.Add(&row.BTotal, g.total[r][i])
			}
		}
		switch a, b := here[0][i], here[1][i]; {
		case i == 0 && !g.flat() && row.ASelf == 0 && row.BSelf == 0, !a && !b,
			g.by == ByStack && !g.ends(c, i):
			row.Status = "" // no row
		case !b:
			row.Status = Gone
		case !a:
			row.Status = New
		case row.ASelf == row.BSelf && row.ATotal == row.BTotal:
			row.Status = Same
		default:
			row.Status = Changed
		}
		if row.Status != "" {
			g.name(c, i)
		}
	}
}

// ends reports whether a stack ends at a node instead of only passing through it.
func (g *groups) ends(c *Comparison, i int) bool {
	for r := range g.self {
		if g.self[r][i] != 0 || g.count[r] != nil && g.count[r][i] != 0 {
			return true
		}
	}
	return false
}

// name sets the names of a row on both sides.
func (g *groups) name(c *Comparison, i int) {
	row := &g.rows[i]
	if i == 0 && !g.flat() || row.Key < 0 {
		return
	}
	switch g.by {
	case ByStack:
		path := c.Tree.Path(int(row.Key))
		names := make([]string, len(path))
		for k, n := range path {
			names[k] = c.Tree.Name(n)
		}
		row.Name = strings.Join(names, ";")
		f := &c.Tree.Funcs[c.Tree.Nodes[row.Key].Func]
		row.Module, row.Rule = f.Module, f.Rule()
	case ByFunction:
		f := &c.Tree.Funcs[row.Key]
		c.nameSides(row, f)
	}
}

// nameSides sets the names of a function in B if they differ from its names in A.
func (c *Comparison) nameSides(row *Row, f *match.Func) {
	var in [2]*recording.Function
	for r, i := range f.In {
		if side, _ := c.sideOf(r); i >= 0 && in[side] == nil {
			fn := c.recs[r].Functions.At(int(i))
			in[side] = &fn
		}
	}
	if in[0] != nil && in[1] != nil {
		if in[0].Name != in[1].Name {
			row.NameB = in[1].Name
		}
		if in[0].Module != in[1].Module {
			row.ModuleB = in[1].Module
		}
	}
}

// add adds to a sum; an integer sum saturates.
func add[T int64 | float64](sum *T, v T) {
	if whole, ok := any(sum).(*int64); ok {
		recording.Add(whole, int64(v))
		return
	}
	*sum += v
}
