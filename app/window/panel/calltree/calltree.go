// Package calltree implements the call tree panel, an expandable table for one recording
// or for two.
package calltree

import (
	"image"

	"gioui.org/io/key"

	"ashlar/app/core/session"
	"ashlar/app/core/tables"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// Panel lists the calls of one recording.
type Panel struct{ table }

// one is the call tree of an answer.
type one struct {
	*analyze.Tree
	a *session.Answer
	// counts are the numbers of calls or samples of the nodes; see counted.
	counts []int64
}

func (o one) function(n int32) recording.FuncName { return o.Function(o.a.Rec, int(n)).FuncName() }
func (o one) heavy(n int32) int64                 { return o.Nodes[n].Total }
func (o one) parent(n int32) int32                { return o.Nodes[n].Parent }
func (o one) depth(n int32) int32                 { return o.Nodes[n].Depth }

func (o one) cells(n int32) []cell {
	nd, m := &o.Nodes[n], o.a.Metric()
	return []cell{{text: units.Value(nd.Self, m)}, {text: units.Value(nd.Total, m)}, {text: units.Percent(nd.Total, o.Nodes[0].Total)}, {text: units.Count(o.counts[n])}}
}

// counted returns the number of calls of each node, for spans. Otherwise it returns the
// number of samples or records in the node and its callees: a call that only calls others
// has none of its own.
func counted(t *analyze.Tree) []int64 {
	return rolled(len(t.Nodes), t.Weights.Basis, func(i int) (count int64, parent int32) { return t.Nodes[i].Count, t.Nodes[i].Parent })
}

// rolled adds the counts of nodes to their callers, except for spans.
func rolled(n int, basis analyze.Basis, of func(node int) (count int64, parent int32)) []int64 {
	counts := make([]int64, n)
	for i := n - 1; i >= 0; i-- { // callers precede their callees
		own, parent := of(i)
		if counts[i] += own; i > 0 && basis != analyze.Spans {
			counts[parent] += counts[i]
		}
	}
	return counts
}

// Layout draws the rows that are seen.
func (t *Panel) Layout(h *panel.Host, p *panel.Side, u *ui.UI, r image.Rectangle) {
	a := p.Doc.Answer()
	if a == nil {
		return
	}
	t.refresh(a.Tree, func() forest { return one{a.Tree, a, counted(a.Tree)} })
	t.layout(h, u, r, []string{"Call", "Self", "Total", "Share", "Count"}, t.chosen(p), func(n int32) { t.pick(p, n) }, func(n int32, at image.Point) {
		fn := a.Tree.Function(a.Rec, int(n))
		items := append([]widget.Item{{Title: "Copy name", Do: func() { h.CopyLater(fn.Name) }}}, p.Actions.FunctionItems(fn)...)
		h.Menu = widget.NewMenu(at, append(items, p.Actions.TableItems()...))
	})
	if len(t.rows) == 0 && p.Rec.Done {
		p.DrawEmpty(u, image.Rect(r.Min.X, r.Min.Y+u.Px(widget.RowHeight+4), r.Max.X-u.Px(12), r.Max.Y))
	}
}

// chosen returns the selected node, -1 for none.
func (t *Panel) chosen(p *panel.Side) int32 {
	if o, ok := t.of.(one); ok && p.PickedTree() == o.Tree {
		return p.Pick.Node
	}
	return -1
}

func (t *Panel) pick(p *panel.Side, n int32) {
	o := t.of.(one)
	p.Pick = panel.Picked{Kind: panel.PickNode, Node: n, Tree: o.Tree, Fn: o.Nodes[n].Func}
}

// Key moves among the rows; Right unfolds a row, Left folds it or goes to its caller.
func (t *Panel) Key(p *panel.Side, k key.Event, _ int) bool {
	if a := p.Doc.Answer(); a == nil || t.id != any(a.Tree) {
		return false
	}
	to, ok := t.key(k, t.chosen(p))
	if to >= 0 && ok {
		t.pick(p, t.rows[to].node)
	}
	return ok
}

// Scroll returns the scroll position of the rows.
func (t *Panel) Scroll(*panel.Side) *int { return &t.Down }

// Table returns the tree with all nodes expanded; the column depth gives a row's level.
func (t *Panel) Table(p *panel.Side) func() *tables.Grid {
	a := p.Doc.Answer()
	if a == nil {
		return nil
	}
	return func() *tables.Grid { return Grid(a) }
}

// Grid returns all calls of an answer in exact values, each below its caller, the
// heaviest first.
func Grid(a *session.Answer) *tables.Grid {
	of := one{a.Tree, a, counted(a.Tree)}
	return gridOf("call tree", of, tables.Amounts(a.Metric(), func(r *listed) (self, total, count int64) {
		return of.Nodes[r.node].Self, of.Nodes[r.node].Total, of.counts[r.node]
	}))
}
