package calltree

import (
	"image"

	"gioui.org/io/key"

	"ashlar/app/core/session"
	"ashlar/app/core/tables"
	"ashlar/app/core/verdict"
	"ashlar/app/window/comparison"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// OfTwo lists the calls of two compared recordings with their costs in A and in B.
type OfTwo struct{ table }

// both is the call tree of a comparison.
type both struct {
	*compare.Shape
	a      *session.CompareAnswer
	rows   []int32 // see comparison.RowsOf
	counts [2][]int64
}

func newBoth(a *session.CompareAnswer) both {
	b := both{Shape: a.Shape, a: a, rows: comparison.RowsOf(a)}
	for side := range b.counts {
		basis := a.Compared.Runs[side*a.Compared.Sides].Weights.Basis
		b.counts[side] = rolled(len(b.Nodes), basis, func(i int) (int64, int32) { return b.amounts(int32(i))[side].Count, b.Nodes[i].Parent })
	}
	return b
}

func (b both) function(n int32) recording.FuncName { return b.Tree.Funcs[b.Nodes[n].Func].FuncName }
func (b both) parent(n int32) int32                { return b.Nodes[n].Parent }
func (b both) depth(n int32) int32                 { return b.Nodes[n].Depth }
func (b both) heavy(n int32) int64                 { return max(b.Nodes[n].A.Total, b.Nodes[n].B.Total) }

func (b both) amounts(n int32) [2]*compare.Amount {
	return [2]*compare.Amount{&b.Nodes[n].A, &b.Nodes[n].B}
}

func (b both) cells(n int32) (cs []cell) {
	m, x, root := b.a.Compared.Metric, b.amounts(n), b.amounts(0)
	noise := comparison.IsNoise(comparison.NodeConfidence(b.a, b.rows, int(n)))
	value := func(side int, v int64) cell {
		if !x[side].Here {
			return cell{text: "–"}
		}
		return cell{text: units.Value(m.Readable(v))}
	}
	for _, of := range []func(*compare.Amount) int64{func(a *compare.Amount) int64 { return a.Total }, func(a *compare.Amount) int64 { return a.Self }} {
		va, vb := of(x[0]), of(x[1])
		cs = append(cs, value(0, va), value(1, vb), cell{text: verdict.Signed(m, vb-va), sign: vb - va, change: true, noise: noise})
	}
	for side := range x {
		cs = append(cs, cell{text: units.Percent(x[side].Total, root[side].Total)})
	}
	for side := range x {
		cs = append(cs, cell{text: units.Count(b.counts[side][n])})
	}
	return cs
}

// Layout draws the visible rows.
func (t *OfTwo) Layout(h *panel.Host, c *comparison.Comparison, u *ui.UI, r image.Rectangle) {
	a := c.Answer()
	if a == nil {
		return
	}
	t.refresh(key2{a.Shape, a.Functions}, func() forest { return newBoth(a) })
	t.layout(h, u, r, []string{"Call", "A total", "B total", "Δ total", "A self", "B self", "Δ self", "A share", "B share", "A count", "B count"}, c.Node,
		func(n int32) { t.pick(c, n) }, func(n int32, at image.Point) {
			fn := c.Function(a, a.Shape.Nodes[n].Func)
			items := append([]widget.Item{{Title: "Copy name", Do: func() { h.CopyLater(fn.Name) }}}, c.FunctionItems(fn)...)
			h.Menu = widget.NewMenu(at, append(items, c.Sides[c.Focus].Actions.TableItems()...))
		})
}

// key2 holds everything that the comparison's tree depends on. The confidences come from
// the table of functions.
type key2 struct {
	shape *compare.Shape
	sure  *compare.Table
}

func (t *OfTwo) pick(c *comparison.Comparison, n int32) {
	b := t.of.(both)
	c.Choose(b.a, b.Nodes[n].Func)
	c.Node = n
}

// Key moves among the rows; Right unfolds a row, Left folds it or goes to its caller.
func (t *OfTwo) Key(c *comparison.Comparison, k key.Event, _ int) bool {
	b, ok := t.of.(both)
	if a := c.Answer(); !ok || a == nil || b.Shape != a.Shape {
		return false
	}
	to, ok := t.key(k, c.Node)
	if to >= 0 && ok {
		t.pick(c, t.rows[to].node)
	}
	return ok
}

// Scroll returns the scroll position of the rows.
func (t *OfTwo) Scroll(*comparison.Comparison) *int { return &t.Down }

// Table returns the tree with all nodes expanded; the column depth gives a row's level.
func (t *OfTwo) Table(c *comparison.Comparison) func() *tables.Grid {
	a := c.Answer()
	if a == nil {
		return nil
	}
	return func() *tables.Grid { return gridOfTwo(a) }
}

// gridOfTwo returns all calls of a comparison in exact values, each below its caller, the
// heaviest first. Shares are of the side's total.
func gridOfTwo(a *session.CompareAnswer) *tables.Grid {
	b, m := newBoth(a), &a.Compared.Metric.Common
	root := b.amounts(0)
	share := func(n int32, side int) float64 {
		if root[side].Total == 0 {
			return 0
		}
		return float64(b.amounts(n)[side].Total) / float64(root[side].Total)
	}
	value := func(name string, of func(*listed) int64) tables.Column[listed] { return tables.Value(name, m, of) }
	cs := three(nil, "self", func(n int32, side int) int64 { return b.amounts(n)[side].Self }, value)
	cs = three(cs, "total", func(n int32, side int) int64 { return b.amounts(n)[side].Total }, value)
	cs = three(cs, "share", share, tables.Fraction[listed])
	cs = three(cs, "count", func(n int32, side int) int64 { return b.counts[side][n] }, tables.Count[listed])
	return gridOf("call tree of both", b, cs)
}

// three adds columns for A, for B and for the difference B - A.
func three[N int64 | float64](to []tables.Column[listed], name string, of func(node int32, side int) N, column func(string, func(*listed) N) tables.Column[listed]) []tables.Column[listed] {
	return append(to, column("A "+name, func(r *listed) N { return of(r.node, 0) }), column("B "+name, func(r *listed) N { return of(r.node, 1) }),
		column("difference of "+name, func(r *listed) N { return of(r.node, 1) - of(r.node, 0) }))
}
