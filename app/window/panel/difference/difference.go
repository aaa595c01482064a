// Package difference implements the differential flamegraph: where B costs more or less
// than A, by stack.
package difference

import (
	"image"
	"strings"

	"gioui.org/io/event"
	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/core/session"
	"ashlar/app/window/comparison"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare"
	"ashlar/ingest/query/search"
	"ashlar/render/flame"
	"ashlar/render/raster"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// Panel is the differential flamegraph.
type Panel struct {
	widget.Drag
	under  int32 // the node under the pointer, -1 for none
	absent []int32

	of       *session.CompareAnswer
	picture  widget.Standout
	key      differenceKey
	mark     int32 // -1 for none
	pic      flame.Difference
	legend   *ui.Picture
	legendOf legendKey
	box      image.Rectangle // area of the panel in the last frame
}

// New returns a panel with no node under the pointer.
func New() *Panel { return &Panel{under: -1} }

// Scroll returns the scroll position.
func (f *Panel) Scroll(c *comparison.Comparison) *int { return &c.Down }

// Areas returns the areas that focus the panel when clicked.
func (f *Panel) Areas() []event.Tag { return []event.Tag{&f.Drag} }

type differenceKey struct {
	shape  *compare.Shape
	sure   *compare.Table // the table with the confidences of nodes
	zoom   int
	size   image.Point
	scroll int
	theme  *theme.Theme
	search *search.Pattern
	scale  float32
	root   string
	up     bool
}

// Events handles the pointer events since the last frame.
func (f *Panel) Events(s *panel.Host, c *comparison.Comparison, u *ui.UI) {
	for {
		g, e, ok := f.Next(u, f.box.Min)
		if !ok {
			break
		}
		f.Scrolls(u, g, e, &c.Down)
		switch g {
		case widget.Clicked, widget.DoubleClicked:
			f.look(u)
			f.click(c, g == widget.DoubleClicked)
		case widget.MenuAsked:
			f.look(u)
			f.menu(s, c)
		}
	}
	f.look(u)
	if f.under > 0 && f.pic.Shape != nil {
		c.Hover = f.pic.Shape.Nodes[f.under].Func
	}
}

// look finds the bar under the pointer.
func (f *Panel) look(u *ui.UI) {
	f.under, f.absent = -1, nil
	if !f.Inside || f.pic.Shape == nil {
		return
	}
	x, y := int(f.At.X)-u.Px(panel.FlamePad), int(f.At.Y)-u.Px(panel.FlamePad)
	if i, nodes := f.pic.Absentees(x, y); i >= 0 {
		f.absent = nodes
		return
	}
	if i := f.pic.At(x, y); i >= 0 {
		f.under = f.pic.Bars[i].Node
	}
}

func (f *Panel) click(c *comparison.Comparison, double bool) {
	if f.pic.Shape == nil {
		return
	}
	n := f.under
	if len(f.absent) > 0 {
		n = f.absent[0]
	}
	switch {
	case n < 0:
		c.Choose(nil, -1)
		c.Node = -1
	case n == 0:
		c.Zoom, c.Node = nil, -1
		c.Choose(nil, -1)
	default:
		c.Choose(f.of, f.pic.Shape.Nodes[n].Func)
		c.Node = n
		if double {
			f.zoomTo(c, int(n))
		}
	}
}

func (f *Panel) zoomTo(c *comparison.Comparison, node int) {
	c.Zoom, c.Down = comparison.NamesOf(f.pic.Shape.Tree, node), 0
}

const LegendHeight = 24 // dp

// Layout draws the flamegraph and its legend into r.
func (f *Panel) Layout(s *panel.Host, c *comparison.Comparison, u *ui.UI, r image.Rectangle) {
	f.box = r
	a := c.Answer()
	if a == nil {
		f.pic.Shape = nil
		f.Area(u, r, pointer.CursorDefault)
		return
	}
	f.of = a
	if a.Shape.Widths[0] == 0 && len(a.Shape.Nodes) == 1 {
		f.pic.Shape = nil
		u.Text(r, "No data on either side", ui.Style{Size: 13, Color: u.Theme.Dim, Align: ui.Middle})
		f.Area(u, r, pointer.CursorDefault)
		return
	}
	legend := image.Rect(r.Min.X, r.Max.Y-u.Px(LegendHeight), r.Max.X, r.Max.Y)
	in := r.Inset(u.Px(panel.FlamePad))
	in.Max.Y = legend.Min.Y
	zoom := comparison.Find(a.Shape, c.Zoom)
	c.Down = max(0, min(c.Down, flame.HeightOf(a.Shape.Depth, u.Metric.PxPerDp)-in.Dy()/2))
	k := differenceKey{a.Shape, a.Functions, zoom, in.Size(), c.Down, u.Theme, c.Sides[c.Focus].Search.Pattern, u.Metric.PxPerDp, f.root(c, a), c.Sides[c.Focus].Up}
	mark := int32(-1)
	if k.search == nil {
		mark = c.Mark(a)
	}
	if fresh := !f.picture.Shown.Serves(u) || f.key != k; fresh || f.mark != mark {
		if fresh {
			f.prepare(s, c, u, a, k)
		}
		f.mark = mark
		f.draw(c, u, a, fresh)
	}
	s.Bars += f.pic.Drawn
	u.Draw(f.picture.Shown, in.Min)
	f.outlines(c, u, in)
	f.drawLegend(s, c, u, legend)
	cursor := pointer.CursorDefault
	if f.under >= 0 || f.absent != nil {
		cursor = pointer.CursorPointer
	}
	f.Area(u, image.Rect(r.Min.X, r.Min.Y, r.Max.X, legend.Min.Y), cursor)
}

// prepare lays the picture out.
func (f *Panel) prepare(s *panel.Host, c *comparison.Comparison, u *ui.UI, a *session.CompareAnswer, k differenceKey) {
	bars, last := f.pic.Bars, f.pic
	if f.key.shape != k.shape || f.key.zoom != k.zoom || f.key.size != k.size {
		bars, last = flame.LayoutShape(a.Shape, k.zoom, k.size.X), flame.Difference{}
	}
	px := u.Metric.PxPerDp
	f.pic = last
	f.pic.Shape, f.pic.Bars, f.pic.Zoom, f.pic.Theme, f.pic.Root, f.pic.Up = a.Shape, bars, k.zoom, u.Theme, k.root, k.up
	f.pic.Font, f.pic.Bold, f.pic.Scale, f.pic.Base = s.Fonts.Regular(12*px), s.Fonts.Medium(11.5*px), px, panel.FlameBase(u, k.size.Y, c.Down, k.up)
	f.pic.Noise, f.pic.Drawn, f.pic.Whole = noiseOf(a), 0, wholeOf(a)
	f.key = k
}

// wholeOf returns the change that the colours show shares of: the change per call between
// two sets of calls of the same functions. It is 0 for other comparisons.
func wholeOf(a *session.CompareAnswer) int64 {
	if a.Compared.Normalize != compare.Calls || a.Compared.PerCall() {
		return 0
	}
	n := &a.Shape.Nodes[0]
	return recording.Saturated(n.B.Total, -n.A.Total)
}

// draw draws the flamegraph with its highlights.
func (f *Panel) draw(c *comparison.Comparison, u *ui.UI, a *session.CompareAnswer, fresh bool) {
	plain := func(on raster.Surface) {
		f.pic.Mark, f.pic.DimOthers = c.Found(a), true
		f.pic.Paint(on)
		f.pic.Mark, f.pic.DimOthers = nil, false
	}
	var over func(on raster.Surface)
	if f.mark >= 0 {
		over = func(on raster.Surface) { f.pic.PaintMarked(on, f.mark) }
	}
	f.picture.Draw(u, f.key.size, fresh, plain, over)
}

// noiseOf returns a function that reports whether a node's difference is within noise;
// nil if that is unknown.
func noiseOf(a *session.CompareAnswer) func(int) bool {
	if a.Method == compare.NoMethod {
		return nil
	}
	rows := comparison.RowsOf(a)
	return func(n int) bool { return comparison.IsNoise(comparison.NodeConfidence(a, rows, n)) }
}

// root returns the label of the outermost bar: both totals and their change.
func (f *Panel) root(c *comparison.Comparison, a *session.CompareAnswer) string {
	m := a.Compared.Metric
	n := &a.Shape.Nodes[0]
	return "all   A " + units.Full(m.Readable(n.A.Total)) + "   B " + units.Full(m.Readable(n.B.Total)) + "   " + units.Change(n.A.Total, n.B.Total)
}

func (f *Panel) outlines(c *comparison.Comparison, u *ui.UI, in image.Rectangle) {
	frame := func(n int32, col ui.Colour, w int) {
		for i := range f.pic.Bars {
			b := &f.pic.Bars[i]
			if b.Node != n {
				continue
			}
			y := f.pic.RowTop(b.Row)
			u.At(in, func(u *ui.UI) {
				r := image.Rect(int(b.X0), y, max(int(b.X0)+1, int(b.X1)), y+u.Px(flame.BarHeight)-1)
				if r.Dx() < 3*w {
					u.Fill(r, col)
				} else {
					u.Border(r, 0, w, col)
				}
			})
		}
	}
	if c.Node > 0 && int(c.Node) < len(f.pic.Shape.Nodes) {
		frame(c.Node, u.Theme.Accent, 2)
	}
	if f.under >= 0 {
		frame(f.under, theme.WithAlpha(u.Theme.Text, .75), 1)
	}
}

// menu opens the context menu of a bar.
func (f *Panel) menu(s *panel.Host, c *comparison.Comparison) {
	if f.under < 0 || f.of == nil {
		return
	}
	var items []widget.Item
	at := widget.Point(f.box.Min, f.At)
	if n := f.under; n > 0 {
		f.click(c, false)
		fn := c.Function(f.of, f.pic.Shape.Nodes[n].Func)
		tip := f.lines(c, int(n))
		items = append(items,
			widget.Item{Title: "Zoom in", Do: func() { f.zoomTo(c, int(n)) }},
			widget.Item{Title: "Copy name", Do: func() { s.CopyLater(fn.Name) }},
			widget.Item{Title: "Copy details", Detail: "Ctrl-C", Do: func() { s.CopyLater(fn.Name + "\n" + strings.Join(tip, "\n") + "\n") }})
		items = append(items, c.FunctionItems(fn)...)
	}
	if len(c.Zoom) > 0 {
		items = append(items, widget.Item{Title: "Zoom out fully", Detail: "0", Do: func() { c.Zoom = nil }})
	}
	if len(items) > 0 {
		s.Menu = widget.NewMenu(at, items)
	}
}

// Tooltip describes the change of the bar under the pointer.
func (f *Panel) Tooltip(s *panel.Host, c *comparison.Comparison, u *ui.UI) {
	if !f.Inside || f.Pressed || s.Menu != nil || s.Help || f.of == nil || f.pic.Shape == nil {
		return
	}
	at := widget.Point(f.box.Min, f.At)
	if f.absent != nil {
		title := units.Plural(int64(len(f.absent)), "function") + " missing in " + map[bool]string{true: "A", false: "B"}[f.pic.Shape.Nodes[f.absent[0]].B.Here]
		var lines []string
		m := f.of.Compared.Metric
		for i, n := range f.absent {
			if i == 10 {
				lines = append(lines, "…")
				break
			}
			nd := &f.pic.Shape.Nodes[n]
			lines = append(lines, f.pic.Shape.Name(int(n))+"   "+units.Value(m.Readable(max(nd.A.Total, nd.B.Total))))
		}
		widget.Tip(u, at, title, lines)
		return
	}
	if f.under < 0 || int(f.under) >= len(f.pic.Shape.Nodes) {
		return
	}
	title := "all"
	if f.under > 0 {
		title = f.pic.Shape.Name(int(f.under))
	}
	widget.FlameTip(u, at, f.pic.Up, title, f.lines(c, int(f.under)))
}

// lines describes a node: A, B, difference, ratio, share of the whole change, and
// confidence.
func (f *Panel) lines(c *comparison.Comparison, node int) []string {
	a := f.of
	m := a.Compared.Metric
	n := &f.pic.Shape.Nodes[node]
	value := func(v int64) string { return units.Value(m.Readable(v)) }
	root := &f.pic.Shape.Nodes[0]
	lines := []string{
		"A " + value(n.A.Total) + "   " + units.Percent(n.A.Total, root.A.Total) + "      self " + value(n.A.Self),
		"B " + value(n.B.Total) + "   " + units.Percent(n.B.Total, root.B.Total) + "      self " + value(n.B.Self),
		comparison.DifferenceLine(m, n.A.Total, n.B.Total),
	}
	if whole := root.B.Total - root.A.Total; whole != 0 && node > 0 {
		lines = append(lines, units.Percent(n.B.Total-n.A.Total, whole)+" of the change")
	}
	switch n.Status() {
	case compare.New:
		lines = append(lines, "new (only in B)")
	case compare.Gone:
		lines = append(lines, "gone (only in A)")
	}
	lines = append(lines, comparison.ConfidenceText(a, comparison.NodeConfidence(a, comparison.RowsOf(a), node)))
	if node > 0 {
		fn := c.Function(a, n.Func)
		if fn.Module != "" {
			lines = append(lines, panel.ShortModule(fn.Module))
		}
	}
	return lines
}

// Key moves through the flamegraph: up and down the stack, sideways to
// neighbours; Return zooms.
func (f *Panel) Key(c *comparison.Comparison, k key.Event, _ int) bool {
	if k.Modifiers != 0 || f.pic.Shape == nil {
		return false
	}
	switch k.Name {
	case key.NameReturn:
		if c.Node > 0 {
			f.zoomTo(c, int(c.Node))
		}
	case key.NameHome:
		c.Zoom, c.Down = nil, 0
	case key.NameUpArrow, key.NameDownArrow, key.NameLeftArrow, key.NameRightArrow:
		var bs []widget.Bar
		for i := range f.pic.Bars {
			b := &f.pic.Bars[i]
			bs = append(bs, widget.Bar{X0: b.X0, X1: b.X1, Y: f.pic.RowTop(b.Row), Node: b.Node})
		}
		var from *widget.Bar
		for i := range bs {
			if bs[i].Node == max(0, c.Node) {
				from = &bs[i]
			}
		}
		if to := widget.Beside(bs, from, k.Name); to != nil {
			f.under = to.Node
			f.click(c, false)
		}
	default:
		return false
	}
	return true
}
