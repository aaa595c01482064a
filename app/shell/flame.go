package shell

import (
	"image"

	"gioui.org/io/pointer"

	"ashlar/app/doc"
	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
	"ashlar/render/flame"
	"ashlar/render/raster"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
)

// flamePart is the flamegraph of a pane.
type flamePart struct {
	drag
	tree *analyze.Tree
	// zoom is the path to the bar that fills the width: unlike a node's number
	// it holds for the next answer's tree too.
	zoom   []step
	scroll int
	under  int32 // the node under the pointer, -1 for none

	picture  *ui.Picture
	canvases raster.Pool
	key      flameKey
	pic      flame.Picture
}

type flameKey struct {
	tree   *analyze.Tree
	zoom   int
	size   image.Point
	scroll int
	pal    *theme.Palette
	mark   int64
	scale  float32
	root   string
}

// step is what a node of a path stands for.
type step struct {
	fn    recording.FuncID
	group int32
}

func stepOf(nd *analyze.Node) step {
	if nd.Group > 0 {
		return step{group: nd.Group}
	}
	return step{fn: nd.Func}
}

// zoomTo makes a path of functions fill the width; nil shows everything.
func (f *flamePart) zoomTo(p *pane, path []step) {
	f.zoom = path
	f.scroll = 0
}

// node finds the zoomed path in a tree; as much of it as there is.
func (f *flamePart) node(t *analyze.Tree) int {
	at := 0
	for _, fn := range f.zoom {
		next := -1
		for _, k := range t.Children(at) {
			if stepOf(&t.Nodes[k]) == fn {
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

func pathOf(t *analyze.Tree, node int) []step {
	var path []step
	for _, n := range t.Path(node) {
		path = append(path, stepOf(&t.Nodes[n]))
	}
	return path
}

func (f *flamePart) events(s *Shell, p *pane, u *ui.UI) {
	for {
		g, e, ok := f.next(u, p.bounds.lower.Min)
		if !ok {
			break
		}
		switch g {
		case gScroll:
			_, y := scrolled(e)
			f.scroll += int(y * float32(u.Px(rowsPerNotch)))
		case gDrag:
			f.scroll += int(f.start.Y - f.at.Y)
			f.start = f.at
		case gClick, gDouble:
			f.look(p, u) // the pointer may have moved since the last frame
			f.click(p, g == gDouble)
		case gMenu:
			f.look(p, u)
			f.contextMenu(s, p, u)
		}
	}
	f.look(p, u)
}

// look finds the bar under the pointer.
func (f *flamePart) look(p *pane, u *ui.UI) {
	f.under = -1
	if f.inside && f.pic.Tree != nil && p.tab == tabFlame {
		if i := f.pic.At(int(f.at.X)-u.Px(flamePad), int(f.at.Y)-u.Px(flamePad)); i >= 0 {
			f.under = f.pic.Bars[i].Node
		}
	}
}

func (f *flamePart) click(p *pane, double bool) {
	if f.tree == nil {
		return
	}
	n := f.under
	switch {
	case n < 0:
		p.pick = picked{}
	case n == 0:
		f.zoomTo(p, nil)
		p.pick = picked{}
	default:
		p.pick = picked{is: pickNode, node: n, tree: f.tree, fn: f.tree.Nodes[n].Func}
		if double {
			f.zoomTo(p, pathOf(f.tree, int(n)))
		}
	}
}

// flamePad is the space around the bars, in dp.
const flamePad = 8

// layout draws the flamegraph into r.
func (f *flamePart) layout(s *Shell, p *pane, u *ui.UI, r image.Rectangle) {
	a := p.doc.Answer()
	if a == nil || a.Tree.Nodes[0].Total == 0 && len(a.Tree.Nodes) == 1 {
		f.tree = nil
		f.pic.Tree = nil
		if a != nil && p.rec.Done {
			u.Text(r, f.nothing(p), ui.Style{Size: 13, Color: u.Theme.Dim, Align: middle})
		}
		f.area(u, r, pointer.CursorDefault)
		return
	}
	in := r.Inset(u.Px(flamePad))
	in.Max.Y = r.Max.Y
	f.tree = a.Tree
	zoom := f.node(a.Tree)
	f.scroll = max(0, min(f.scroll, flame.Height(a.Tree, u.Metric.PxPerDp)-in.Dy()/2))
	root := f.root(p, a)
	k := flameKey{a.Tree, zoom, in.Size(), f.scroll, p.palette, p.marked(), u.Metric.PxPerDp, root}
	if f.picture == nil || f.key != k {
		bars := f.pic.Bars
		if f.key.tree != k.tree || f.key.zoom != k.zoom || f.key.size != k.size {
			bars = flame.Layout(a.Tree, zoom, in.Dx())
		}
		f.pic = flame.Picture{Rec: a.Rec, Tree: a.Tree, Bars: bars, Zoom: zoom, Palette: p.palette,
			Font: s.fonts.face(12 * u.Metric.PxPerDp), Scale: u.Metric.PxPerDp, Scroll: f.scroll, Mark: p.mark(), DimOthers: p.searching(), Root: root, Canvases: &f.canvases}
		f.picture = ui.NewPicture(f.pic.Draw(in.Dx(), in.Dy()))
		f.key = k
	}
	s.Bars += f.pic.Drawn
	u.Draw(f.picture, in.Min)
	f.outlines(p, u, in)
	cursor := pointer.CursorDefault
	if f.under >= 0 {
		cursor = pointer.CursorPointer
	}
	f.area(u, r, cursor)
}

// root is the label of the outermost bar: what the whole is, and how much.
func (f *flamePart) root(p *pane, a *doc.Answer) string {
	m := a.Metric()
	text := "all  " + units.Bound(m) + units.Full(a.Tree.Nodes[0].Total, m)
	if kind := units.KindText(m); kind != "" {
		text += "  · " + kind
	}
	return text
}

// nothing says why the flamegraph is empty.
func (f *flamePart) nothing(p *pane) string {
	switch {
	case p.sel.ranged:
		return "Nothing in the selected time"
	case len(p.rec.Events) == 0:
		return "This recording is empty"
	}
	return "Nothing was recorded for " + p.metricOf().Name
}

func (f *flamePart) outlines(p *pane, u *ui.UI, in image.Rectangle) {
	frame := func(n int32, c colour, w int) {
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
	if p.pick.is == pickNode && p.pick.tree == f.tree {
		frame(p.pick.node, u.Theme.Accent, 2)
	}
	if f.under >= 0 {
		frame(f.under, theme.WithAlpha(u.Theme.Text, .75), 1)
	}
}
