// Package calltree shows the tree of calls as a table that unfolds.
package calltree

import (
	"cmp"
	"image"
	"slices"
	"strconv"
	"strings"

	"gioui.org/io/event"
	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/panel"
	"ashlar/app/session"
	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// Panel is a table whose rows are nodes of the tree, each below its caller, the
// heaviest first. A row is folded until it is opened.
type Panel struct {
	widget.Drag
	scroll int
	// open has the paths, by what functions are called, whose callees are listed: they
	// hold for the next answer too.
	open map[string]bool
	rows []row
	of   *analyze.Tree
	// counts are how many calls or samples each node has; see counted.
	counts []int64
	stale  bool // open has changed since rows were made
	sheet  ui.Sheet
}

// row is a node that is listed.
type row struct {
	node int32
	path string
	kids bool
}

// Layout draws the rows that are seen.
func (t *Panel) Layout(h *panel.Host, p *panel.Side, u *ui.UI, r image.Rectangle) {
	a := p.Doc.Answer()
	if a == nil {
		return
	}
	t.refresh(a)
	line := u.Px(widget.RowHeight)
	body := image.Rect(r.Min.X, r.Min.Y+line+u.Px(4), r.Max.X-u.Px(12), r.Max.Y)
	t.events(h, p, u, a, body)
	t.refresh(a)
	t.scroll = max(0, min(t.scroll, len(t.rows)*line-body.Dy()+line))
	t.cells(h, u, image.Rect(body.Min.X, r.Min.Y, body.Max.X, r.Min.Y+line), 0, []string{"Call", "Self", "Total", "Share", "Count"},
		ui.Style{Size: 11.5, Weight: ui.Medium, Color: u.Theme.Dim}, u.Text)
	u.HLine(r.Min.X, r.Max.X, body.Min.Y-u.Px(2), u.Theme.Rule)
	text := func(r image.Rectangle, s string, st ui.Style) image.Point {
		t.sheet.Text(r, s, st)
		return image.Point{}
	}
	for i := t.scroll / line; i < len(t.rows) && i*line-t.scroll < body.Dy(); i++ {
		t.row(h, p, u, a, &t.rows[i], ui.Rect(0, i*line-t.scroll, body.Dx(), line), text)
	}
	t.sheet.Show(u, body, u.Theme.Background)
	if len(t.rows) == 0 && p.Rec.Done {
		p.SayNothing(u, body)
	}
	t.Area(u, body, pointer.CursorDefault)
}

func (t *Panel) row(h *panel.Host, p *panel.Side, u *ui.UI, a *session.Answer, w *row, line image.Rectangle, text func(image.Rectangle, string, ui.Style) image.Point) {
	th, nd, m := u.Theme, &a.Tree.Nodes[w.node], a.Metric()
	switch {
	case p.PickedTree() == a.Tree && p.Pick.Node == w.node:
		t.sheet.Fill(line, 0, theme.WithAlpha(th.Accent, .16))
	case t.Inside && int(t.At.Y) >= line.Min.Y && int(t.At.Y) < line.Max.Y:
		t.sheet.Fill(line, 0, theme.WithAlpha(th.Text, .05))
	}
	x := t.indent(u, nd)
	if w.kids {
		mark := "▸"
		if t.open[w.path] {
			mark = "▾"
		}
		t.sheet.Text(ui.Rect(x-u.Px(16), line.Min.Y, u.Px(14), line.Dy()), mark, ui.Style{Size: 12, Color: th.Dim})
	}
	t.cells(h, u, line, x-u.Px(24), []string{a.Tree.Function(a.Rec, int(w.node)).Name, units.Value(nd.Self, m), units.Value(nd.Total, m),
		units.Percent(nd.Total, a.Tree.Nodes[0].Total), units.Count(t.counts[w.node])}, ui.Style{Size: 12, Color: th.Text}, text)
}

// indent is where a node's name begins.
func (t *Panel) indent(u *ui.UI, nd *analyze.Node) int {
	return u.Px(24) + int(min(nd.Depth-1, 40))*u.Px(14)
}

// cells writes the texts of a row: a name that is moved right by indent, and numbers.
func (t *Panel) cells(h *panel.Host, u *ui.UI, line image.Rectangle, indent int, texts []string, st ui.Style, text func(image.Rectangle, string, ui.Style) image.Point) {
	w := u.Px(92)
	x := line.Max.X - 4*w - u.Px(8)
	name := image.Rect(line.Min.X+u.Px(24)+indent, line.Min.Y, max(line.Min.X+u.Px(80)+indent, x), line.Max.Y)
	text(name, h.Fonts.Regular(st.Size*u.Metric.PxPerDp).Fit(texts[0], float32(name.Dx())), st)
	st.Align = ui.End
	for _, s := range texts[1:] {
		text(image.Rect(x, line.Min.Y, x+w, line.Max.Y), s, st)
		x += w
	}
}

// refresh brings the rows in step with an answer and with what is open.
func (t *Panel) refresh(a *session.Answer) {
	if t.of != a.Tree || t.stale {
		if t.of != a.Tree {
			t.counts = counted(a.Tree)
		}
		t.of, t.stale = a.Tree, false
		t.rows = list(t.rows[:0], a, 0, "", func(path string) bool { return t.open[path] })
	}
}

// counted is how often each node was called, for spans; else how many samples or
// records fell into it and what it called: none falls on a call that only calls
// others, so that a count of its own would say nothing.
func counted(t *analyze.Tree) []int64 {
	counts := make([]int64, len(t.Nodes))
	for i := len(t.Nodes) - 1; i >= 0; i-- { // callers stand before what they call
		counts[i] += t.Nodes[i].Count
		if i > 0 && t.Weights.Basis != analyze.Spans {
			counts[t.Nodes[i].Parent] += counts[i]
		}
	}
	return counts
}

// list lists what is below a node, as far as it is open: the heaviest first.
func list(rows []row, a *session.Answer, node int, path string, open func(string) bool) []row {
	kids := slices.Clone(a.Tree.Children(node))
	slices.SortStableFunc(kids, func(x, y int32) int { return cmp.Compare(a.Tree.Nodes[y].Total, a.Tree.Nodes[x].Total) })
	for _, k := range kids {
		below := path + "\x00" + a.Tree.Function(a.Rec, int(k)).FuncName().String()
		rows = append(rows, row{k, below, len(a.Tree.Children(int(k))) > 0})
		if open(below) {
			rows = list(rows, a, int(k), below, open)
		}
	}
	return rows
}

func (t *Panel) events(h *panel.Host, p *panel.Side, u *ui.UI, a *session.Answer, body image.Rectangle) {
	line := u.Px(widget.RowHeight)
	for {
		g, e, ok := t.Next(u, body.Min)
		if !ok {
			return
		}
		i := (int(t.At.Y) + t.scroll) / line
		switch g {
		case widget.Wheeled:
			_, y := widget.Notches(e)
			t.scroll += int(y * float32(u.Px(widget.RowsPerNotch)))
		case widget.Clicked, widget.DoubleClicked, widget.MenuAsked:
			if i < 0 || i >= len(t.rows) {
				continue
			}
			w := &t.rows[i]
			t.pick(p, a, w)
			switch {
			case g == widget.MenuAsked:
				fn := a.Tree.Function(a.Rec, int(w.node))
				items := append([]widget.Item{{Title: "Copy name", Do: func() { h.CopyLater(fn.Name) }}}, p.Acts.FunctionItems(fn)...)
				h.Menu = widget.NewMenu(widget.Point(body.Min, t.At), append(items, p.Acts.TableItems()...))
			case g == widget.DoubleClicked || int(t.At.X) < t.indent(u, &a.Tree.Nodes[w.node]):
				t.fold(w, !t.open[w.path])
			}
		}
	}
}

func (t *Panel) pick(p *panel.Side, a *session.Answer, w *row) {
	p.Pick = panel.Picked{Is: panel.PickNode, Node: w.node, Tree: a.Tree, Fn: a.Tree.Nodes[w.node].Func}
}

// fold opens a row or closes it.
func (t *Panel) fold(w *row, open bool) {
	if t.open == nil {
		t.open = map[string]bool{}
	}
	t.open[w.path], t.stale = open && w.kids, true
}

// Key moves among the rows; Right unfolds one and Left folds it, or goes to its
// caller.
func (t *Panel) Key(p *panel.Side, k key.Event, line int) bool {
	a := p.Doc.Answer()
	if a == nil || t.of != a.Tree || k.Modifiers != 0 {
		return false
	}
	at := slices.IndexFunc(t.rows, func(w row) bool { return p.PickedTree() == a.Tree && p.Pick.Node == w.node })
	to := at
	switch {
	case k.Name == key.NameRightArrow && at >= 0 && !t.open[t.rows[at].path]:
		t.fold(&t.rows[at], true)
	case k.Name == key.NameLeftArrow && at >= 0 && t.open[t.rows[at].path]:
		t.fold(&t.rows[at], false)
	case k.Name == key.NameLeftArrow && at >= 0:
		to = slices.IndexFunc(t.rows, func(w row) bool { return w.node == a.Tree.Nodes[t.rows[at].node].Parent })
	default:
		var ok bool
		if to, ok = widget.RowKey(at, k, len(t.rows), p.Bounds.Lower.Dy()/line-2); !ok {
			return k.Name == key.NameRightArrow
		}
	}
	if to >= 0 {
		t.pick(p, a, &t.rows[to])
		widget.ScrollInto(&t.scroll, to, line, p.Bounds.Lower.Dy()-2*line)
	}
	return true
}

// Scroll is how far rows are scrolled.
func (t *Panel) Scroll(*panel.Side) *int { return &t.scroll }

// Areas are where a press gives it the keyboard.
func (t *Panel) Areas() []event.Tag { return []event.Tag{&t.Drag} }

// Table is the whole tree, unfolded: depth says how far a row is below the first.
func (t *Panel) Table(p *panel.Side) func() *panel.Grid {
	a := p.Doc.Answer()
	if a == nil {
		return nil
	}
	return func() *panel.Grid { return Grid(a) }
}

// Grid lists all calls of an answer, each below its caller, the heaviest first, in
// exact values.
func Grid(a *session.Answer) *panel.Grid {
	m := a.Metric()
	g := &panel.Grid{Name: "call tree", Head: []string{"depth", "function", "module", "self (" + m.Unit + ")", "total (" + m.Unit + ")", "count"},
		Number: []bool{true, false, false, true, true, true}}
	value := func(v int64) string { return recording.Decimal{Mantissa: v, Scale: m.Decimals}.String() }
	counts := counted(a.Tree)
	for _, w := range list(nil, a, 0, "", func(string) bool { return true }) {
		nd, fn := &a.Tree.Nodes[w.node], a.Tree.Function(a.Rec, int(w.node))
		g.Rows = append(g.Rows, []string{strconv.Itoa(strings.Count(w.path, "\x00")), fn.Name, fn.Module, value(nd.Self), value(nd.Total), strconv.FormatInt(counts[w.node], 10)})
	}
	return g
}

// Listed are the nodes of the rows, as far as the tree is unfolded.
func (t *Panel) Listed() (nodes []int32) {
	for i := range t.rows {
		nodes = append(nodes, t.rows[i].node)
	}
	return nodes
}
