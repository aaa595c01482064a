package shell

import (
	"image"

	"gioui.org/io/pointer"

	"ashlar/app/session"
	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
	"ashlar/render/flame"
	"ashlar/render/raster"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// flamePart is the flamegraph of a pane.
type flamePart struct {
	widget.Drag
	tree *analyze.Tree
	// scroll is how far rows are moved past the edge at the root.
	scroll int
	zoomed pathCache
	under  int32 // the node under the pointer, -1 for none
	crumbs widget.Crumbs
	box    image.Rectangle // of the bars in the last frame, with the space around them

	last    *session.Answer // what is shown
	picture widget.Standout
	key     flameKey
	mark    int64 // of the function that stands out, -1 for none
	pic     flame.Picture
}

type flameKey struct {
	tree   *analyze.Tree
	zoom   int
	size   image.Point
	scroll int
	pal    *theme.Palette
	search int // the version of what is found, -1 where nothing is searched for
	scale  float32
	root   string
	up     bool
}

// zoomTo makes a path of functions fill the width; nil shows everything.
func (f *flamePart) zoomTo(p *pane, path []recording.FuncName) {
	p.Zoom = path
	f.scroll = 0
}

// scrollBy moves the picture up by some pixels.
func (f *flamePart) scrollBy(p *pane, px int) {
	if p.Up {
		px = -px
	}
	f.scroll = max(0, f.scroll+px)
}

// reveal brings the picked bar of the flamegraph into view: all is shown where
// what fills the width has it not.
func (f *flamePart) reveal(p *pane) {
	if p.pick.is != pickNode || p.pick.tree != f.tree || f.tree == nil {
		return
	}
	zoom := int32(f.zoomed.node(p.rec, f.tree, p.Zoom))
	at := p.pick.node
	for at > zoom {
		at = f.tree.Nodes[at].Parent
	}
	if at != zoom {
		f.zoomTo(p, nil)
	}
	if row := int(flame.BarHeight * f.key.scale); row > 0 {
		widget.ScrollInto(&f.scroll, int(f.tree.Nodes[p.pick.node].Depth), row, f.key.size.Y-row)
	}
}

// turn puts the root at the other end.
func (f *flamePart) turn(p *pane) { p.Up, f.scroll = !p.Up, 0 }

func (f *flamePart) events(s *Shell, p *pane, u *ui.UI) {
	for {
		g, e, ok := f.Next(u, f.box.Min)
		if !ok {
			break
		}
		switch g {
		case widget.Wheeled:
			_, y := widget.Notches(e)
			f.scrollBy(p, int(y*float32(u.Px(widget.RowsPerNotch))))
		case widget.Dragged:
			f.scrollBy(p, int(f.Start.Y-f.At.Y))
			f.Start = f.At
		case widget.Clicked, widget.DoubleClicked:
			f.look(p, u) // the pointer may have moved since the last frame
			f.click(p, g == widget.DoubleClicked)
		case widget.MenuAsked:
			f.look(p, u)
			f.contextMenu(s, p, u)
		}
	}
	f.look(p, u)
}

// look finds the bar under the pointer.
func (f *flamePart) look(p *pane, u *ui.UI) {
	f.under = -1
	if f.Inside && f.pic.Tree != nil && p.Tab == tabFlame {
		if i := f.pic.At(int(f.At.X)-u.Px(flamePad), int(f.At.Y)-u.Px(flamePad)); i >= 0 {
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
			f.zoomTo(p, pathOf(p.rec, f.tree, int(n)))
		}
	}
}

// answer is what to draw: the answer, or a first one while it is not there,
// where that goes as deep as what is looked at.
func (f *flamePart) answer(p *pane) *session.Answer {
	a := p.doc.Answer()
	if soon := p.doc.Soon(); soon != nil {
		switch {
		case len(p.Zoom) < soon.Depth:
			a = soon
		case f.last != nil:
			a = f.last
		}
	}
	f.last = a
	return a
}

// flamePad is the space around the bars, in dp.
const flamePad = 8

// layout draws the flamegraph into r.
func (f *flamePart) layout(s *Shell, p *pane, u *ui.UI, r image.Rectangle) {
	a := f.answer(p)
	if a == nil || a.Tree.Nodes[0].Total == 0 && len(a.Tree.Nodes) == 1 {
		f.tree = nil
		f.pic.Tree = nil
		if a != nil && p.rec.Done {
			u.Text(r, f.nothing(p), ui.Style{Size: 13, Color: u.Theme.Dim, Align: ui.Middle})
		}
		f.Area(u, r, pointer.CursorDefault)
		return
	}
	f.tree = a.Tree
	zoom := f.zoomed.node(a.Rec, a.Tree, p.Zoom)
	if zoom != 0 {
		rest, to, clicked := f.crumbs.Layout(u, r, widget.Trail{Rec: p.rec, Tree: a.Tree, Path: a.Tree.Path(zoom), Head: "all", Arrow: "›"})
		if r = rest; clicked {
			f.zoomTo(p, pathOf(a.Rec, a.Tree, to))
		}
	}
	f.box = r
	in := r.Inset(u.Px(flamePad))
	if !p.Up {
		in.Max.Y = r.Max.Y
	}
	f.scroll = max(0, min(f.scroll, flame.Height(a.Tree, u.Metric.PxPerDp)-in.Dy()/2))
	root := f.root(p, a)
	search, mark := p.standing()
	k := flameKey{a.Tree, zoom, in.Size(), f.scroll, p.palette, search, u.Metric.PxPerDp, root, p.Up}
	if fresh := !f.picture.Shown.Serves(u) || f.key != k; fresh || f.mark != mark {
		if fresh {
			bars := f.pic.Bars
			if f.key.tree != k.tree || f.key.zoom != k.zoom || f.key.size != k.size {
				bars = flame.Layout(a.Tree, zoom, in.Dx())
			}
			f.pic = flame.Picture{Rec: a.Rec, Tree: a.Tree, Bars: bars, Zoom: zoom, Palette: p.palette,
				Font: s.fonts.Regular(12 * u.Metric.PxPerDp), Scale: u.Metric.PxPerDp, Up: p.Up, Base: flameBase(u, in.Dy(), f.scroll, p.Up), Root: root}
			f.key = k
		}
		f.mark = mark
		f.draw(p, u, fresh)
	}
	s.Bars += f.pic.Drawn
	u.Draw(f.picture.Shown, in.Min)
	f.outlines(p, u, in)
	cursor := pointer.CursorDefault
	if f.under >= 0 {
		cursor = pointer.CursorPointer
	}
	f.Area(u, r, cursor)
}

// draw draws the picture with what stands out in it.
func (f *flamePart) draw(p *pane, u *ui.UI, fresh bool) {
	plain := func(on raster.Surface) {
		f.pic.Drawn = 0
		if p.searching() {
			f.pic.Mark, f.pic.DimOthers = p.mark(), true
		}
		f.pic.Paint(on)
		f.pic.Mark, f.pic.DimOthers = nil, false
	}
	var over func(on raster.Surface)
	if f.mark >= 0 {
		over = func(on raster.Surface) { f.pic.PaintMarked(on, recording.FuncID(f.mark)) }
	}
	f.picture.Draw(u, f.key.size, fresh, plain, over)
}

// flameBase is where the root's row begins in a picture h pixels high.
func flameBase(u *ui.UI, h, scroll int, up bool) int {
	if up {
		return h - u.Px(flame.BarHeight) + scroll
	}
	return -scroll
}

// root is the label of the outermost bar: what the whole is, and how much.
func (f *flamePart) root(p *pane, a *session.Answer) string {
	m := a.Metric()
	text := "all  " + units.Bound(m) + units.Full(a.Tree.Nodes[0].Total, m)
	if kind := units.KindText(m); kind != "" {
		text += "  · " + kind
	}
	if found := p.matchedText(a); found != "" {
		text += "  · " + found
	}
	return text
}

// nothing says why the flamegraph is empty.
func (f *flamePart) nothing(p *pane) string {
	switch {
	case p.Scope.Ranged:
		return "Nothing in the selected time"
	case len(p.rec.Events) == 0:
		return "This recording is empty"
	}
	return "Nothing was recorded for " + p.metricOf().Name
}

func (f *flamePart) outlines(p *pane, u *ui.UI, in image.Rectangle) {
	if p.pick.is == pickNode && p.pick.tree == f.tree {
		widget.Outline(u, &f.pic, in, p.pick.node, u.Theme.Accent, 2)
	}
	if f.under >= 0 {
		widget.Outline(u, &f.pic, in, f.under, theme.WithAlpha(u.Theme.Text, .75), 1)
	}
}
