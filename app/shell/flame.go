package shell

import (
	"image"

	"gioui.org/f32"
	"gioui.org/io/event"
	"gioui.org/io/key"
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
	tree   *analyze.Tree
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

// scrollBy moves the picture up by some pixels.
func (f *flamePart) scrollBy(p *Side, px int) {
	if p.Up {
		px = -px
	}
	p.down = max(0, p.down+px)
}

// reveal brings the picked bar of the flamegraph into view: all is shown where
// what fills the width has it not.
func (f *flamePart) reveal(p *Side) {
	if p.pick.is != pickNode || p.pick.tree != f.tree || f.tree == nil {
		return
	}
	zoom := int32(f.zoomed.node(p.rec, f.tree, p.Zoom))
	at := p.pick.node
	for at > zoom {
		at = f.tree.Nodes[at].Parent
	}
	if at != zoom {
		p.zoomTo(nil)
	}
	if row := int(flame.BarHeight * f.key.scale); row > 0 {
		widget.ScrollInto(&p.down, int(f.tree.Nodes[p.pick.node].Depth), row, f.key.size.Y-row)
	}
}

// Events takes what the pointer did since the last frame.
func (f *flamePart) Events(s *Host, p *Side, u *ui.UI) {
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
func (f *flamePart) look(p *Side, u *ui.UI) {
	f.under = -1
	if f.Inside && f.pic.Tree != nil && p.Tab == tabFlame {
		if i := f.pic.At(int(f.At.X)-u.Px(flamePad), int(f.At.Y)-u.Px(flamePad)); i >= 0 {
			f.under = f.pic.Bars[i].Node
		}
	}
}

func (f *flamePart) click(p *Side, double bool) {
	if f.tree == nil {
		return
	}
	n := f.under
	switch {
	case n < 0:
		p.pick = picked{}
	case n == 0:
		p.zoomTo(nil)
		p.pick = picked{}
	default:
		p.pick = picked{is: pickNode, node: n, tree: f.tree, fn: f.tree.Nodes[n].Func}
		if double {
			p.zoomTo(pathOf(p.rec, f.tree, int(n)))
		}
	}
}

// answer is what to draw: the answer, or a first one while it is not there,
// where that goes as deep as what is looked at.
func (f *flamePart) answer(p *Side) *session.Answer {
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

// Layout draws the flamegraph into r.
func (f *flamePart) Layout(s *Host, p *Side, u *ui.UI, r image.Rectangle) {
	a := f.answer(p)
	if a == nil || a.Tree.Nodes[0].Total == 0 && len(a.Tree.Nodes) == 1 {
		f.tree, p.shown = nil, nil
		f.pic.Tree = nil
		if a != nil && p.rec.Done {
			u.Text(r, f.nothing(p), ui.Style{Size: 13, Color: u.Theme.Dim, Align: ui.Middle})
		}
		f.Area(u, r, pointer.CursorDefault)
		return
	}
	f.tree, p.shown = a.Tree, a.Tree
	zoom := f.zoomed.node(a.Rec, a.Tree, p.Zoom)
	if zoom != 0 {
		rest, to, clicked := f.crumbs.Layout(u, r, widget.Trail{Rec: p.rec, Tree: a.Tree, Path: a.Tree.Path(zoom), Head: "all", Arrow: "›"})
		if r = rest; clicked {
			p.zoomTo(pathOf(a.Rec, a.Tree, to))
		}
	}
	f.box = r
	if p.showPick {
		p.showPick = false
		f.reveal(p)
		zoom = f.zoomed.node(a.Rec, a.Tree, p.Zoom)
	}
	in := r.Inset(u.Px(flamePad))
	if !p.Up {
		in.Max.Y = r.Max.Y
	}
	p.down = max(0, min(p.down, flame.Height(a.Tree, u.Metric.PxPerDp)-in.Dy()/2))
	root := f.root(p, a)
	search, mark := p.standing()
	k := flameKey{a.Tree, zoom, in.Size(), p.down, p.palette, search, u.Metric.PxPerDp, root, p.Up}
	if fresh := !f.picture.Shown.Serves(u) || f.key != k; fresh || f.mark != mark {
		if fresh {
			bars := f.pic.Bars
			if f.key.tree != k.tree || f.key.zoom != k.zoom || f.key.size != k.size {
				bars = flame.Layout(a.Tree, zoom, in.Dx())
			}
			f.pic = flame.Picture{Rec: a.Rec, Tree: a.Tree, Bars: bars, Zoom: zoom, Palette: p.palette,
				Font: s.fonts.Regular(12 * u.Metric.PxPerDp), Scale: u.Metric.PxPerDp, Up: p.Up, Base: flameBase(u, in.Dy(), p.down, p.Up), Root: root}
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
func (f *flamePart) draw(p *Side, u *ui.UI, fresh bool) {
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

// root is the label of the outermost bar: what the whole is, and how much.
func (f *flamePart) root(p *Side, a *session.Answer) string {
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
func (f *flamePart) nothing(p *Side) string {
	switch {
	case p.Scope.Ranged:
		return "Nothing in the selected time"
	case len(p.rec.Events) == 0:
		return "This recording is empty"
	}
	return "Nothing was recorded for " + p.metricOf().Name
}

func (f *flamePart) outlines(p *Side, u *ui.UI, in image.Rectangle) {
	if p.pick.is == pickNode && p.pick.tree == f.tree {
		widget.Outline(u, &f.pic, in, p.pick.node, u.Theme.Accent, 2)
	}
	if f.under >= 0 {
		widget.Outline(u, &f.pic, in, f.under, theme.WithAlpha(u.Theme.Text, .75), 1)
	}
}

// Key moves through the flamegraph: up and down the stack, sideways to its
// neighbours; Return zooms.
func (f *flamePart) Key(p *Side, k key.Event, _ int) bool {
	if k.Modifiers != 0 || f.tree == nil {
		return false
	}
	switch k.Name {
	case key.NameReturn:
		if p.pick.is == pickNode && p.pick.tree == f.tree {
			p.zoomTo(pathOf(p.rec, f.tree, int(p.pick.node)))
		}
	case key.NameHome:
		p.zoomTo(nil)
	case key.NameUpArrow, key.NameDownArrow, key.NameLeftArrow, key.NameRightArrow:
		bs := widget.BarsOf(nil, 0, &f.pic)
		to := widget.Beside(bs, widget.BarOf(bs, p.pickedTree(), p.pick.node, 0), k.Name)
		if to == nil {
			break
		}
		if to.Node == 0 {
			p.pick = picked{}
			break
		}
		p.pick = picked{is: pickNode, node: to.Node, tree: f.tree, fn: f.tree.Nodes[to.Node].Func}
		if low := f.box.Dy() - 40; to.Y < 0 {
			f.scrollBy(p, to.Y-20)
		} else if to.Y > low {
			f.scrollBy(p, to.Y-low)
		}
	default:
		return false
	}
	return true
}

// contextMenu offers what can be done with a bar of the flamegraph.
func (f *flamePart) contextMenu(s *Host, p *Side, u *ui.UI) {
	if f.tree == nil || f.under < 0 {
		return
	}
	n := f.under
	var items []widget.Item
	if n > 0 {
		f.click(p, false)
		path := pathOf(p.rec, f.tree, int(n))
		name := f.tree.Function(p.rec, int(n)).Name
		items = append(items,
			widget.Item{Title: "Zoom to it", Do: func() { p.zoomTo(path) }},
			widget.Item{Title: "Copy name", Do: func() { s.copyLater(name) }},
			widget.Item{Title: "Copy details", Detail: "Ctrl-C", Do: func() { p.copy = true }},
		)
		items = append(items, p.acts.functionItems(f.tree.Function(p.rec, int(n)))...)
	}
	if len(p.Zoom) > 0 {
		items = append(items, widget.Item{Title: "Show everything", Detail: "0", Do: func() { p.zoomTo(nil) }})
	}
	s.menu = widget.NewMenu(widget.Point(f.box.Min, f.At), append(items, p.acts.commandItem()))
}

// Tooltip says what is under the pointer.
func (f *flamePart) Tooltip(s *Host, p *Side, u *ui.UI) {
	if !f.Inside || f.Pressed || f.under < 0 || f.tree == nil || s.menu != nil || s.help || p.Tab != tabFlame {
		return
	}
	if a := p.doc.Answer(); a != nil && a.Tree == f.tree && int(f.under) < len(f.tree.Nodes) {
		nodeTip(u, widget.Point(f.box.Min, f.At), a, f.tree, f.under)
	}
}

// Scroll is how far rows are moved past the edge at the root.
func (f *flamePart) Scroll(p *Side) *int { return &p.down }

// ScrollBy moves the picture up by some pixels where the pointer is on it.
func (f *flamePart) ScrollBy(p *Side, px int) bool {
	if f.Inside {
		f.scrollBy(p, px)
	}
	return f.Inside
}

// Hover is the function under the pointer.
func (f *flamePart) Hover(p *Side) (recording.FuncID, bool) {
	if f.Inside && f.under > 0 && f.tree != nil {
		return f.tree.Nodes[f.under].Func, true
	}
	return 0, false
}

// Under is what is under the pointer: of a group, the group.
func (f *flamePart) Under(p *Side) (recording.Function, bool) {
	if f.Inside && f.under > 0 && f.tree != nil {
		return f.tree.Function(p.rec, int(f.under)), true
	}
	return recording.Function{}, false
}

// Areas are where a press gives it the keyboard.
func (f *flamePart) Areas() []event.Tag { return []event.Tag{&f.Drag} }

// Menu opens the menu of the picked bar.
func (f *flamePart) Menu(s *Host, p *Side, u *ui.UI) bool {
	if p.pick.is != pickNode || p.pick.tree != f.tree {
		return false
	}
	for i := range f.pic.Bars {
		if b := &f.pic.Bars[i]; b.Node == p.pick.node {
			f.under = b.Node
			f.At = f32.Pt(float32(max(0, b.X0))+float32(u.Px(flamePad+20)), float32(f.pic.RowTop(b.Row)+u.Px(flamePad+20)))
			f.contextMenu(s, p, u)
		}
	}
	return true
}
