package shell

import (
	"image"
	"strings"

	"gioui.org/io/pointer"

	"ashlar/app/panel"
	"ashlar/app/session"
	"ashlar/ingest/compare"
	"ashlar/ingest/recording"
	"ashlar/ingest/search"
	"ashlar/render/flame"
	"ashlar/render/raster"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// differencePart is the differential flamegraph.
type differencePart struct {
	widget.Drag
	scroll int
	under  int32 // the node under the pointer, -1 for none
	absent []int32

	of       *session.CompareAnswer
	picture  widget.Standout
	key      differenceKey
	mark     int32 // -1 for none
	pic      flame.Difference
	legend   *ui.Picture
	legendOf legendKey
	node     int32 // the one that was clicked, of the answer's tree; -1 for none
}

type differenceKey struct {
	shape  *compare.Shape
	sure   *compare.Table // and with it what is known of nodes
	zoom   int
	size   image.Point
	scroll int
	theme  *theme.Theme
	search *search.Pattern
	scale  float32
	root   string
	up     bool
}

// sureEnough is from where on a difference counts as one: at most one in twenty
// of those that do is a false alarm.
const sureEnough = .95

// noise tells whether a difference is within noise.
func noise(conf *compare.Confidence) bool { return conf != nil && conf.Level() < sureEnough }

// nodeSure is how sure the difference of a node is: what is known of itself, else
// of its function. nil where nothing tells.
func nodeSure(a *session.CompareAnswer, rows []int32, node int) *compare.Confidence {
	if node < len(a.Nodes) && a.Nodes[node] != nil {
		return a.Nodes[node]
	}
	if f := a.Shape.Nodes[node].Func; f >= 0 && int(f) < len(rows) && rows[f] >= 0 {
		return a.Functions.Rows[rows[f]].Total
	}
	return nil
}

// rowsOf finds the rows of the functions in the table by functions.
func rowsOf(a *session.CompareAnswer) []int32 {
	rows := make([]int32, len(a.Compared.Tree.Funcs))
	for i := range rows {
		rows[i] = -1
	}
	for i := range a.Functions.Rows {
		if k := a.Functions.Rows[i].Key; k >= 0 && int(k) < len(rows) {
			rows[k] = int32(i)
		}
	}
	return rows
}

func (f *differencePart) events(s *Shell, c *comparison, u *ui.UI) {
	for {
		g, e, ok := f.Next(u, c.bounds.lower.Min)
		if !ok {
			break
		}
		switch g {
		case widget.Wheeled:
			_, y := widget.Notches(e)
			f.scroll += int(y * float32(u.Px(widget.RowsPerNotch)))
		case widget.Dragged:
			f.scroll += int(f.Start.Y - f.At.Y)
			f.Start = f.At
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
		c.hover = f.pic.Shape.Nodes[f.under].Func
	}
}

// look finds the bar under the pointer.
func (f *differencePart) look(u *ui.UI) {
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

func (f *differencePart) click(c *comparison, double bool) {
	if f.pic.Shape == nil {
		return
	}
	n := f.under
	if len(f.absent) > 0 {
		n = f.absent[0]
	}
	switch {
	case n < 0:
		c.choose(nil, -1)
		f.node = -1
	case n == 0:
		c.zoom, f.node = nil, -1
		c.choose(nil, -1)
	default:
		c.choose(f.of, f.pic.Shape.Nodes[n].Func)
		f.node = n
		if double {
			f.zoomTo(c, int(n))
		}
	}
}

func (f *differencePart) zoomTo(c *comparison, node int) {
	c.zoom, f.scroll = namesOf(f.pic.Shape.Tree, node), 0
}

// namesOf is the path to a node by what its functions are called.
func namesOf(t *compare.Tree, node int) []recording.FuncName {
	var names []recording.FuncName
	for _, n := range t.Path(node) {
		names = append(names, t.Funcs[t.Nodes[n].Func].FuncName)
	}
	return names
}

// find is the node at the end of a path; as much of it as there is.
func find(s *compare.Shape, path []recording.FuncName) int {
	at := 0
	for _, name := range path {
		next := -1
		for _, k := range s.Children(at) {
			if s.Funcs[s.Nodes[k].Func].FuncName == name {
				next = int(k)
			}
		}
		if next < 0 {
			break
		}
		at = next
	}
	return at
}

const legendHeight = 24 // dp

// layout draws the flamegraph and its legend into r.
func (f *differencePart) layout(s *Shell, c *comparison, u *ui.UI, r image.Rectangle) {
	a := c.answer()
	if a == nil {
		f.pic.Shape = nil
		f.Area(u, r, pointer.CursorDefault)
		return
	}
	f.of = a
	if a.Shape.Widths[0] == 0 && len(a.Shape.Nodes) == 1 {
		f.pic.Shape = nil
		u.Text(r, "Nothing here, on neither side", ui.Style{Size: 13, Color: u.Theme.Dim, Align: ui.Middle})
		f.Area(u, r, pointer.CursorDefault)
		return
	}
	legend := image.Rect(r.Min.X, r.Max.Y-u.Px(legendHeight), r.Max.X, r.Max.Y)
	in := r.Inset(u.Px(panel.FlamePad))
	in.Max.Y = legend.Min.Y
	zoom := find(a.Shape, c.zoom)
	f.scroll = max(0, min(f.scroll, flame.HeightOf(a.Shape.Depth, u.Metric.PxPerDp)-in.Dy()/2))
	k := differenceKey{a.Shape, a.Functions, zoom, in.Size(), f.scroll, u.Theme, c.panes[c.focus].Search.Pattern, u.Metric.PxPerDp, f.root(c, a), c.panes[c.focus].Up}
	mark := int32(-1)
	if k.search == nil {
		mark = c.mark(a)
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
	f.outlines(u, in)
	f.drawLegend(s, c, u, legend)
	cursor := pointer.CursorDefault
	if f.under >= 0 || f.absent != nil {
		cursor = pointer.CursorPointer
	}
	f.Area(u, image.Rect(r.Min.X, r.Min.Y, r.Max.X, legend.Min.Y), cursor)
}

// prepare lays the picture out.
func (f *differencePart) prepare(s *Shell, c *comparison, u *ui.UI, a *session.CompareAnswer, k differenceKey) {
	bars, last := f.pic.Bars, f.pic
	if f.key.shape != k.shape || f.key.zoom != k.zoom || f.key.size != k.size {
		bars, last = flame.LayoutShape(a.Shape, k.zoom, k.size.X), flame.Difference{}
	}
	px := u.Metric.PxPerDp
	f.pic = last
	f.pic.Shape, f.pic.Bars, f.pic.Zoom, f.pic.Theme, f.pic.Root, f.pic.Up = a.Shape, bars, k.zoom, u.Theme, k.root, k.up
	f.pic.Font, f.pic.Bold, f.pic.Scale, f.pic.Base = s.Fonts.Regular(12*px), s.Fonts.Medium(11.5*px), px, panel.FlameBase(u, k.size.Y, f.scroll, k.up)
	f.pic.Noise, f.pic.Drawn = noiseOf(a), 0
	f.key = k
}

// draw draws the picture with what stands out in it.
func (f *differencePart) draw(c *comparison, u *ui.UI, a *session.CompareAnswer, fresh bool) {
	plain := func(on raster.Surface) {
		f.pic.Mark, f.pic.DimOthers = c.found(a), true
		f.pic.Paint(on)
		f.pic.Mark, f.pic.DimOthers = nil, false
	}
	var over func(on raster.Surface)
	if f.mark >= 0 {
		over = func(on raster.Surface) { f.pic.PaintMarked(on, f.mark) }
	}
	f.picture.Draw(u, f.key.size, fresh, plain, over)
}

// noiseOf tells for each node whether its difference is within noise; nil where
// nothing tells.
func noiseOf(a *session.CompareAnswer) func(int) bool {
	if a.Method == compare.NoMethod {
		return nil
	}
	rows := rowsOf(a)
	return func(n int) bool { return noise(nodeSure(a, rows, n)) }
}

// mark is the function that stands out.
func (c *comparison) mark(a *session.CompareAnswer) int32 {
	if c.hover >= 0 {
		return c.hover
	}
	return c.chosenKey(a)
}

// found tells which functions the search finds; nil where nothing is searched
// for.
func (c *comparison) found(a *session.CompareAnswer) func(int32) bool {
	p := c.panes[c.focus].Search.Pattern
	if p == nil {
		return nil
	}
	known := map[int32]bool{}
	return func(f int32) bool {
		is, ok := known[f]
		if !ok {
			for i := range c.panes {
				if g, has := in(a, i, f); has {
					fn := a.Recs[i].Functions.At(int(g))
					is = is || p.MatchFunction(&fn)
				}
			}
			known[f] = is
		}
		return is
	}
}

// root is the label of the outermost bar: both totals.
func (f *differencePart) root(c *comparison, a *session.CompareAnswer) string {
	m := a.Compared.Metric
	n := &a.Shape.Nodes[0]
	return "all   A " + units.Full(m.Readable(n.A.Total)) + "   B " + units.Full(m.Readable(n.B.Total)) + "   " + units.Change(n.A.Total, n.B.Total)
}

func (f *differencePart) outlines(u *ui.UI, in image.Rectangle) {
	frame := func(n int32, c ui.Colour, w int) {
		for i := range f.pic.Bars {
			b := &f.pic.Bars[i]
			if b.Node != n {
				continue
			}
			y := f.pic.RowTop(b.Row)
			u.At(in, func(u *ui.UI) {
				r := image.Rect(int(b.X0), y, max(int(b.X0)+1, int(b.X1)), y+u.Px(flame.BarHeight)-1)
				if r.Dx() < 3*w {
					u.Fill(r, c)
				} else {
					u.Border(r, 0, w, c)
				}
			})
		}
	}
	if f.node > 0 && int(f.node) < len(f.pic.Shape.Nodes) {
		frame(f.node, u.Theme.Accent, 2)
	}
	if f.under >= 0 {
		frame(f.under, theme.WithAlpha(u.Theme.Text, .75), 1)
	}
}

// menu offers what can be done with a bar.
func (f *differencePart) menu(s *Shell, c *comparison) {
	if f.under < 0 || f.of == nil {
		return
	}
	var items []widget.Item
	at := widget.Point(c.bounds.lower.Min, f.At)
	if n := f.under; n > 0 {
		f.click(c, false)
		fn := c.fn(f.of, f.pic.Shape.Nodes[n].Func)
		tip := f.lines(c, int(n))
		items = append(items,
			widget.Item{Title: "Zoom to it", Do: func() { f.zoomTo(c, int(n)) }},
			widget.Item{Title: "Copy name", Do: func() { s.CopyLater(fn.Name) }},
			widget.Item{Title: "Copy details", Detail: "Ctrl-C", Do: func() { s.CopyLater(fn.Name + "\n" + strings.Join(tip, "\n") + "\n") }})
		items = append(items, c.functionItems(s, fn)...)
	}
	if len(c.zoom) > 0 {
		items = append(items, widget.Item{Title: "Show everything", Detail: "0", Do: func() { c.zoom = nil }})
	}
	if len(items) > 0 {
		s.Menu = widget.NewMenu(at, items)
	}
}

// functionItems are what can be done with a function of the comparison.
func (c *comparison) functionItems(s *Shell, fn recording.Function) []widget.Item {
	items := []widget.Item{{Title: "Distribution of its calls", Do: func() { c.tab = compareDistribution }}}
	return append(items, c.panes[c.focus].functionItems(s, fn)...)
}

// tooltip says what became of what is under the pointer.
func (f *differencePart) tooltip(s *Shell, c *comparison, u *ui.UI) {
	if !f.Inside || f.Pressed || s.Menu != nil || s.Help || c.tab != compareFlame || f.of == nil || f.pic.Shape == nil {
		return
	}
	at := widget.Point(c.bounds.lower.Min, f.At)
	if f.absent != nil {
		title := units.Plural(int64(len(f.absent)), "function") + " that are not in " + map[bool]string{true: "A", false: "B"}[f.pic.Shape.Nodes[f.absent[0]].B.Here]
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
	widget.Tip(u, at, title, f.lines(c, int(f.under)))
}

// lines say A, B, difference, ratio, share of the whole change, and how sure that
// is.
func (f *differencePart) lines(c *comparison, node int) []string {
	a := f.of
	m := a.Compared.Metric
	n := &f.pic.Shape.Nodes[node]
	value := func(v int64) string { return units.Value(m.Readable(v)) }
	root := &f.pic.Shape.Nodes[0]
	lines := []string{
		"A " + value(n.A.Total) + "   " + units.Percent(n.A.Total, root.A.Total) + "      self " + value(n.A.Self),
		"B " + value(n.B.Total) + "   " + units.Percent(n.B.Total, root.B.Total) + "      self " + value(n.B.Self),
		differenceLine(m, n.A.Total, n.B.Total),
	}
	if whole := root.B.Total - root.A.Total; whole != 0 && node > 0 {
		lines = append(lines, units.Percent(n.B.Total-n.A.Total, whole)+" of the whole change")
	}
	switch n.Status() {
	case compare.New:
		lines = append(lines, "new: only in B")
	case compare.Gone:
		lines = append(lines, "gone: only in A")
	}
	lines = append(lines, sureText(a, nodeSure(a, rowsOf(a), node)))
	if node > 0 {
		fn := c.fn(a, n.Func)
		if fn.Module != "" {
			lines = append(lines, panel.ShortModule(fn.Module))
		}
	}
	return lines
}

// differenceLine is +1.2 ms, +12.7 %, ×1.127.
func differenceLine(m *compare.Metric, a, b int64) string {
	if a == b {
		return "no difference"
	}
	line := "difference " + signed(m, b-a)
	if a > 0 && b > 0 {
		line += "   " + units.Change(a, b) + "   " + units.Times(a, b)
	}
	return line
}

func signed(m *compare.Metric, v int64) string {
	switch {
	case v > 0:
		return "+" + units.Value(m.Readable(v))
	case v < 0:
		return "−" + units.Value(m.Readable(-v))
	}
	return "0"
}

// sureText says how sure a difference is.
func sureText(a *session.CompareAnswer, conf *compare.Confidence) string {
	switch {
	case conf == nil && a.Method == compare.NoMethod:
		return "nothing tells how sure that is"
	case conf == nil && !a.Sure:
		return "how sure that is, is being computed"
	case conf == nil:
		return ""
	case noise(conf):
		return "within noise: " + units.Level(conf.Level()) + " sure"
	}
	return units.Level(conf.Level()) + " sure"
}
