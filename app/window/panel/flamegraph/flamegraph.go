// Package flamegraph implements the flamegraph panel.
package flamegraph

import (
	"image"

	"gioui.org/f32"
	"gioui.org/io/event"
	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/core/session"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/render/flame"
	"ashlar/render/raster"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// Panel is the flamegraph of a pane.
type Panel struct {
	widget.Drag
	Tree   *analyze.Tree
	zoomed panel.PathCache
	Under  int32 // the node under the pointer, -1 for none
	crumbs widget.Crumbs
	box    image.Rectangle // area of the bars in the last frame, with the padding

	last    *session.Answer // the drawn answer
	picture widget.Standout
	Drawn   FlameKey
	mark    int64 // the highlighted function, -1 for none
	pic     flame.Picture
}

type FlameKey struct {
	tree   *analyze.Tree
	zoom   int
	size   image.Point
	scroll int
	pal    *theme.Palette
	search int // the version of the search result, -1 without a search
	scale  float32
	root   string
	up     bool
	cpu    *session.OnCPU
}

// scrollBy moves the picture up by some pixels.
func (f *Panel) scrollBy(p *panel.Side, px int) {
	if p.Up {
		px = -px
	}
	p.Down = max(0, p.Down+px)
}

// reveal brings the selected bar into view. It ends the zoom if the bar is outside the
// zoomed part.
func (f *Panel) reveal(p *panel.Side) {
	if p.Pick.Kind != panel.PickNode || p.Pick.Tree != f.Tree || f.Tree == nil {
		return
	}
	zoom := int32(f.zoomed.Node(p.Rec, f.Tree, p.Zoom))
	at := p.Pick.Node
	for at > zoom {
		at = f.Tree.Nodes[at].Parent
	}
	if at != zoom {
		p.ZoomTo(nil)
	}
	if row := int(flame.BarHeight * f.Drawn.scale); row > 0 {
		widget.ScrollInto(&p.Down, int(f.Tree.Nodes[p.Pick.Node].Depth), row, f.Drawn.size.Y-row)
	}
}

// Events handles the pointer events since the last frame.
func (f *Panel) Events(s *panel.Host, p *panel.Side, u *ui.UI) {
	for {
		g, e, ok := f.Next(u, f.box.Min)
		if !ok {
			break
		}
		if by := 0; f.Scrolls(u, g, e, &by) {
			f.scrollBy(p, by)
		}
		switch g {
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
func (f *Panel) look(p *panel.Side, u *ui.UI) {
	f.Under = -1
	if f.Inside && f.pic.Tree != nil && p.Tab == panel.Flamegraph {
		if i := f.pic.At(int(f.At.X)-u.Px(panel.FlamePad), int(f.At.Y)-u.Px(panel.FlamePad)); i >= 0 {
			f.Under = f.pic.Bars[i].Node
		}
	}
}

func (f *Panel) click(p *panel.Side, double bool) {
	if f.Tree == nil {
		return
	}
	n := f.Under
	switch {
	case n < 0:
		p.Pick = panel.Picked{}
	case n == 0:
		p.ZoomTo(nil)
		p.Pick = panel.Picked{}
	default:
		p.Pick = panel.Picked{Kind: panel.PickNode, Node: n, Tree: f.Tree, Fn: f.Tree.Nodes[n].Func}
		if double {
			p.ZoomTo(panel.PathOf(p.Rec, f.Tree, int(n)))
		}
	}
}

// answer returns the answer to draw. While the next answer is computed, this is its
// preview if that is deep enough for the zoom, otherwise the answer drawn last.
func (f *Panel) answer(p *panel.Side) *session.Answer {
	a := p.Doc.Answer()
	if soon := p.Doc.Preview(); soon != nil {
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
func (f *Panel) Layout(s *panel.Host, p *panel.Side, u *ui.UI, r image.Rectangle) {
	a := f.answer(p)
	if a == nil || a.Tree.Nodes[0].Gross == 0 && len(a.Tree.Nodes) == 1 {
		f.Tree, p.Shown = nil, nil
		f.pic.Tree = nil
		if a != nil && p.Rec.Done {
			p.DrawEmpty(u, r)
		}
		f.Area(u, r, pointer.CursorDefault)
		return
	}
	f.Tree, p.Shown = a.Tree, a.Tree
	zoom := f.zoomed.Node(a.Rec, a.Tree, p.Zoom)
	if zoom != 0 {
		rest, to, clicked := f.crumbs.Layout(u, r, widget.Trail{Rec: p.Rec, Tree: a.Tree, Path: a.Tree.Path(zoom), Head: "all", Arrow: "›"})
		if r = rest; clicked {
			p.ZoomTo(panel.PathOf(a.Rec, a.Tree, to))
		}
	}
	f.box = r
	if p.ShowPick {
		p.ShowPick = false
		f.reveal(p)
		zoom = f.zoomed.Node(a.Rec, a.Tree, p.Zoom)
	}
	in := r.Inset(u.Px(panel.FlamePad))
	if !p.Up {
		in.Max.Y = r.Max.Y
	}
	if p.Share > 0 {
		in.Max.X = in.Min.X + max(1, int(p.Share*float64(in.Dx())))
	}
	p.Down = max(0, min(p.Down, flame.Height(a.Tree, u.Metric.PxPerDp)-in.Dy()/2))
	cpu := p.Doc.OnCPU(a)
	root := f.root(p, a, cpu)
	search, mark := p.SearchMark()
	k := FlameKey{a.Tree, zoom, in.Size(), p.Down, p.Palette, search, u.Metric.PxPerDp, root, p.Up, cpu}
	if fresh := !f.picture.Shown.Serves(u) || f.Drawn != k; fresh || f.mark != mark {
		if fresh {
			bars := f.pic.Bars
			if f.Drawn.tree != k.tree || f.Drawn.zoom != k.zoom || f.Drawn.size.X != k.size.X {
				bars = flame.Layout(a.Tree, zoom, in.Dx())
			}
			f.pic = flame.Picture{Rec: a.Rec, Tree: a.Tree, Bars: bars, Zoom: zoom, Palette: p.Palette,
				Font: s.Fonts.Regular(12 * u.Metric.PxPerDp), Scale: u.Metric.PxPerDp, Up: p.Up, Base: panel.FlameBase(u, in.Dy(), p.Down, p.Up), Root: root}
			if cpu != nil {
				f.pic.Waiting = cpu.Waiting
			}
			f.Drawn = k
		}
		f.mark = mark
		f.draw(p, u, fresh)
	}
	s.Bars += f.pic.Drawn
	u.Draw(f.picture.Shown, in.Min)
	f.outlines(p, u, in)
	cursor := pointer.CursorDefault
	if f.Under >= 0 {
		cursor = pointer.CursorPointer
	}
	f.Area(u, r, cursor)
}

// draw draws the flamegraph with its highlights.
func (f *Panel) draw(p *panel.Side, u *ui.UI, fresh bool) {
	plain := func(on raster.Surface) {
		f.pic.Drawn = 0
		if p.Searching() {
			f.pic.Mark, f.pic.DimOthers = p.Mark(), true
		}
		f.pic.Paint(on)
		f.pic.Mark, f.pic.DimOthers = nil, false
	}
	var over func(on raster.Surface)
	if f.mark >= 0 {
		over = func(on raster.Surface) { f.pic.PaintMarked(on, recording.FuncID(f.mark)) }
	}
	f.picture.Draw(u, f.Drawn.size, fresh, plain, over)
}

// root returns the label of the outermost bar: its meaning and total.
func (f *Panel) root(p *panel.Side, a *session.Answer, cpu *session.OnCPU) string {
	m := a.Metric()
	text := "all  " + units.Bound(m) + units.Full(a.Tree.Nodes[0].Total, m)
	if a.Tree.Negative != 0 {
		text += "  · of which " + units.Full(a.Tree.Negative, m) + " negative"
	}
	if kind := units.KindText(m); kind != "" {
		text += "  · " + kind
	}
	if cpu != nil && cpu.CPU[0]+cpu.Waiting[0] != 0 {
		text += "  · " + units.Percent(cpu.CPU[0], a.Tree.Nodes[0].Total) + " on CPU (darker: off CPU)"
	}
	if found := p.MatchedText(a); found != "" {
		text += "  · " + found
	}
	return text
}

func (f *Panel) outlines(p *panel.Side, u *ui.UI, in image.Rectangle) {
	if p.Pick.Kind == panel.PickNode && p.Pick.Tree == f.Tree {
		widget.Outline(u, &f.pic, in, p.Pick.Node, u.Theme.Accent, 2)
	}
	if f.Under >= 0 {
		widget.Outline(u, &f.pic, in, f.Under, theme.WithAlpha(u.Theme.Text, .75), 1)
	}
}

// Key moves through the flamegraph: up and down the stack, sideways to its
// neighbours; Return zooms.
func (f *Panel) Key(p *panel.Side, k key.Event, _ int) bool {
	if k.Modifiers != 0 || f.Tree == nil {
		return false
	}
	switch k.Name {
	case key.NameReturn:
		if p.Pick.Kind == panel.PickNode && p.Pick.Tree == f.Tree {
			p.ZoomTo(panel.PathOf(p.Rec, f.Tree, int(p.Pick.Node)))
		}
	case key.NameHome:
		p.ZoomTo(nil)
	case key.NameUpArrow, key.NameDownArrow, key.NameLeftArrow, key.NameRightArrow:
		bs := widget.BarsOf(nil, 0, &f.pic)
		to := widget.Beside(bs, widget.BarOf(bs, p.PickedTree(), p.Pick.Node, 0), k.Name)
		if to == nil {
			break
		}
		if to.Node == 0 {
			p.Pick = panel.Picked{}
			break
		}
		p.Pick = panel.Picked{Kind: panel.PickNode, Node: to.Node, Tree: f.Tree, Fn: f.Tree.Nodes[to.Node].Func}
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

// contextMenu opens the context menu of a bar.
func (f *Panel) contextMenu(s *panel.Host, p *panel.Side, u *ui.UI) {
	if f.Tree == nil || f.Under < 0 {
		return
	}
	n := f.Under
	var items, about []widget.Item
	if n > 0 {
		f.click(p, false)
		path := panel.PathOf(p.Rec, f.Tree, int(n))
		name := f.Tree.Function(p.Rec, int(n)).Name
		items = append(items,
			widget.Item{Title: "Zoom in", Do: func() { p.ZoomTo(path) }},
			widget.Item{Title: "Copy name", Do: func() { s.CopyLater(name) }},
			widget.Item{Title: "Copy details", Detail: "Ctrl-C", Do: func() { p.Copy = true }},
		)
		about = p.Actions.FunctionItems(f.Tree.Function(p.Rec, int(n)))
	}
	if len(p.Zoom) > 0 {
		items = append(items, widget.Item{Title: "Zoom out fully", Detail: "0", Do: func() { p.ZoomTo(nil) }})
	}
	s.Menu = widget.NewMenu(widget.Point(f.box.Min, f.At), widget.Grouped(items, about, []widget.Item{p.Actions.CommandItem()}))
}

// Tooltip describes the bar under the pointer.
func (f *Panel) Tooltip(s *panel.Host, p *panel.Side, u *ui.UI) {
	if !f.Inside || f.Pressed || f.Under < 0 || f.Tree == nil || s.Menu != nil || s.Help || p.Tab != panel.Flamegraph {
		return
	}
	if a := p.Doc.Answer(); a != nil && a.Tree == f.Tree && int(f.Under) < len(f.Tree.Nodes) {
		panel.NodeTip(u, widget.Point(f.box.Min, f.At), f.pic.Up, a, f.Tree, f.Under, p.Doc.OnCPU(a))
	}
}

// Scroll returns how far the rows are scrolled past the edge at the root.
func (f *Panel) Scroll(p *panel.Side) *int { return &p.Down }

// ScrollBy scrolls the picture up by a number of pixels if the pointer is on it.
func (f *Panel) ScrollBy(p *panel.Side, px int) bool {
	if f.Inside {
		f.scrollBy(p, px)
	}
	return f.Inside
}

// Hover returns the function under the pointer.
func (f *Panel) Hover(p *panel.Side) (recording.FuncID, bool) {
	if f.Inside && f.Under > 0 && f.Tree != nil {
		return f.Tree.Nodes[f.Under].Func, true
	}
	return 0, false
}

// Held reports whether the pointer is pressed on the panel.
func (f *Panel) Held() bool { return f.Pressed }

// Areas returns the areas that focus the panel when clicked.
func (f *Panel) Areas() []event.Tag { return []event.Tag{&f.Drag} }

// Menu opens the context menu of the selected bar.
func (f *Panel) Menu(s *panel.Host, p *panel.Side, u *ui.UI) bool {
	if p.Pick.Kind != panel.PickNode || p.Pick.Tree != f.Tree {
		return false
	}
	for i := range f.pic.Bars {
		if b := &f.pic.Bars[i]; b.Node == p.Pick.Node {
			f.Under = b.Node
			f.At = f32.Pt(float32(max(0, b.X0))+float32(u.Px(panel.FlamePad+20)), float32(f.pic.RowTop(b.Row)+u.Px(panel.FlamePad+20)))
			f.contextMenu(s, p, u)
		}
	}
	return true
}
