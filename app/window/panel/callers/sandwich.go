package callers

import (
	"image"

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
	"ashlar/render/widget"
)

// sandwich draws one picture around a function: its callers above, nearest at the bottom,
// and its callees below. Both sides are as wide as the function.
type sandwich struct {
	widget.Drag
	side    int   // the side under the pointer: 0 the callers, 1 the callees
	under   int32 // the node under the pointer, -1 for none
	box     image.Rectangle
	crumbs  [2]widget.Crumbs // path of each zoomed side
	zoomed  [2]panel.PathCache
	pics    [2]flame.Picture
	picture *ui.Picture
	key     sandwichKey

	canvases raster.Pool
}

type sandwichKey struct {
	of     *session.Answer
	size   image.Point
	scroll int
	pal    *theme.Palette
	mark   int64
	scale  float32
	zoom   [2]int
}

// layout draws the picture in r. Row 1 of both trees is the function itself:
// it is drawn once.
func (w *sandwich) layout(s *panel.Host, p *panel.Side, u *ui.UI, a *session.Answer, r image.Rectangle) {
	above, below := a.Above, a.Below
	if len(below.Nodes) < 2 {
		w.picture, w.under = nil, -1
		widget.Empty(u, r, "Not in this selection", "Press Esc to clear the selection")
		return
	}
	r = w.trails(p, u, a, r)
	in := r.Inset(u.Px(panel.FlamePad))
	in.Max.Y = r.Max.Y
	w.box = in
	scale := u.Metric.PxPerDp
	row := func(n int) int { return int(float32(n) * flame.BarHeight * scale) }
	up, down := row(max(0, above.Depth-1)), row(max(1, below.Depth))
	// Place the function's row as low as its callers need, unless its callees need the
	// space more.
	mid := min(up, max(in.Dy()/2, in.Dy()-down))
	p.DownAround = max(mid-up, min(p.DownAround, mid+down-in.Dy()/2))
	if up <= mid {
		p.DownAround = max(0, p.DownAround)
	}
	zoom := [2]int{w.zoomed[0].Node(a.Rec, above, p.Sides[0]), w.zoomed[1].Node(a.Rec, below, p.Sides[1])}
	k := sandwichKey{a, in.Size(), p.DownAround, p.Palette, p.Marked(), scale, zoom}
	if !w.picture.Serves(u) || w.key != k {
		y := mid - p.DownAround
		for i, t := range []*analyze.Tree{above, below} {
			pic := &w.pics[i]
			p.ShownAround[i] = t
			bars := pic.Bars
			if pic.Tree != t || w.key.size != k.size || w.key.zoom != k.zoom {
				bars = flame.Layout(t, zoom[i], in.Dx())
			}
			*pic = flame.Picture{Rec: a.Rec, Tree: t, Bars: bars, Zoom: zoom[i], Palette: p.Palette, Font: s.Fonts.Regular(12 * scale), Scale: scale,
				Up: i == 0, First: 2 - i, Mark: p.Mark(), DimOthers: p.Searching()}
			pic.Base = y - u.Px(flame.BarHeight)
			if pic.Up {
				pic.Base = y + u.Px(flame.BarHeight)
			}
		}
		w.picture, w.key = u.Paint(&w.canvases, in.Size(), func(on raster.Surface) {
			for i := range w.pics {
				w.pics[i].Paint(on)
			}
		}), k
		w.look(p) // the node under the pointer was in another tree
	}
	s.Bars += w.pics[0].Drawn + w.pics[1].Drawn
	u.Draw(w.picture, in.Min)
	w.outlines(p, u)
	cursor := pointer.CursorDefault
	if w.under >= 0 {
		cursor = pointer.CursorPointer
	}
	w.Area(u, r, cursor)
}

// trails draws a breadcrumb line for each zoomed side, the callers' above and the
// callees' below, and returns the area between them.
func (w *sandwich) trails(p *panel.Side, u *ui.UI, a *session.Answer, r image.Rectangle) image.Rectangle {
	for i, t := range []*analyze.Tree{a.Above, a.Below} {
		at := w.zoomed[i].Node(a.Rec, t, p.Sides[i])
		if at < 2 {
			continue
		}
		of := widget.Trail{Rec: p.Rec, Tree: t, Path: t.Path(at)[1:], Head: u.Faces.Label(t.Function(a.Rec, 1).Name), Arrow: []string{"‹", "›"}[i]}
		line := image.Rect(r.Min.X, r.Min.Y, r.Max.X, r.Min.Y+u.Px(widget.CrumbHeight))
		if i == 0 {
			r.Min.Y = line.Max.Y
		} else {
			line = line.Add(image.Pt(0, r.Max.Y-line.Max.Y))
			r.Max.Y = line.Min.Y
			u.Fill(line, u.Theme.Background)
			u.HLine(line.Min.X, line.Max.X, line.Min.Y, u.Theme.Rule)
		}
		if to, clicked := w.crumbs[i].Line(u, line, of); clicked {
			p.ZoomAround(t, int32(to))
		}
	}
	return r
}

func (w *sandwich) outlines(p *panel.Side, u *ui.UI) {
	for i := range w.pics {
		if p.Pick.Kind == panel.PickNode && p.Pick.Tree == w.pics[i].Tree && p.Pick.Node > 0 {
			widget.Outline(u, &w.pics[i], w.box, p.Pick.Node, u.Theme.Accent, 2)
		}
	}
	// The function in the middle gets a frame because the picture is about it.
	if t := w.pics[1].Tree; len(t.Nodes) > 1 {
		widget.Outline(u, &w.pics[1], w.box, 1, u.Theme.Accent, 2)
	}
	if w.under >= 0 {
		widget.Outline(u, &w.pics[w.side], w.box, w.under, theme.WithAlpha(u.Theme.Text, .75), 1)
	}
}

// events handles the pointer events since the last frame.
func (w *sandwich) events(s *panel.Host, p *panel.Side, u *ui.UI) {
	for {
		g, e, ok := w.Next(u, w.box.Min)
		if !ok {
			break
		}
		w.Scrolls(u, g, e, &p.DownAround)
		switch g {
		case widget.Clicked:
			w.look(p)
			w.choose(p)
		case widget.DoubleClicked:
			w.look(p)
			if t, f := w.function(p); t != nil {
				p.PutAround(f)
			}
		case widget.MenuAsked:
			w.look(p)
			w.contextMenu(s, p)
		}
	}
	w.look(p)
}

// look finds the bar under the pointer.
func (w *sandwich) look(p *panel.Side) {
	w.under = -1
	if !w.Inside || p.Tab != panel.Callers || p.Lists || w.picture == nil {
		return
	}
	for i := range w.pics {
		pic := &w.pics[i]
		if k := pic.At(int(w.At.X), int(w.At.Y)); k >= 0 {
			w.side, w.under = i, pic.Bars[k].Node
			return
		}
	}
}

// choose picks the bar under the pointer, without putting it in the middle.
func (w *sandwich) choose(p *panel.Side) {
	if w.under < 0 {
		p.Pick = panel.Picked{}
		return
	}
	t := w.pics[w.side].Tree
	if w.under == 1 { // the function itself: ends the zoom, as the flamegraph's root does
		p.Sides = [2][]recording.FuncName{}
	}
	p.Pick = panel.Picked{Kind: panel.PickNode, Node: w.under, Tree: t, Fn: t.Nodes[w.under].Func, InCallers: true}
}

// function returns the function under the pointer, and its tree.
func (w *sandwich) function(p *panel.Side) (*analyze.Tree, recording.Function) {
	if w.under < 0 {
		return nil, recording.Function{}
	}
	t := w.pics[w.side].Tree
	return t, t.Function(p.Rec, int(w.under))
}

func (w *sandwich) contextMenu(s *panel.Host, p *panel.Side) {
	t, f := w.function(p)
	if t == nil {
		return
	}
	n := w.under
	w.choose(p)
	items := []widget.Item{
		{Title: "Zoom in", Do: func() { p.ZoomAround(t, n) }},
	}
	if p.ZoomedAround() {
		items = append(items, widget.Item{Title: "Zoom out", Detail: "Esc", Do: func() { p.Sides = [2][]recording.FuncName{} }})
	}
	items = append(items, []widget.Item{
		{Title: "Copy name", Do: func() { s.CopyLater(f.Name) }},
		{Title: "Copy details", Detail: "Ctrl-C", Do: func() { p.Copy = true }},
	}...)
	s.Menu = widget.NewMenu(widget.Point(w.box.Min, w.At), append(append(items, p.Actions.FunctionItems(f)...), p.Actions.CommandItem()))
}

// keyed moves through both sides of the picture; Return puts a function in the
// middle, Space zooms to it.
func (w *sandwich) keyed(p *panel.Side, k key.Event) bool {
	if w.picture == nil {
		return false
	}
	switch k.Name {
	case key.NameReturn:
		if f, ok := p.PickedFunction(); ok {
			p.PutAround(f)
		}
	case key.NameSpace:
		if p.Pick.Kind == panel.PickNode {
			p.ZoomAround(p.Pick.Tree, p.Pick.Node)
		}
	case key.NameUpArrow, key.NameDownArrow, key.NameLeftArrow, key.NameRightArrow:
		bs := widget.BarsOf(widget.BarsOf(nil, 0, &w.pics[0]), 1, &w.pics[1])
		if to := widget.Beside(bs, widget.BarOf(bs, p.PickedTree(), p.Pick.Node, 1), k.Name); to != nil {
			p.Pick = panel.Picked{Kind: panel.PickNode, Node: to.Node, Tree: to.Tree, Fn: to.Tree.Nodes[to.Node].Func, InCallers: true}
			if low := w.box.Dy() - 24; to.Y < 0 {
				p.DownAround += to.Y
			} else if to.Y > low {
				p.DownAround += to.Y - low
			}
		}
	default:
		return false
	}
	return true
}

func (w *sandwich) tooltip(s *panel.Host, p *panel.Side, u *ui.UI) {
	if w.under < 0 || w.Pressed || s.Menu != nil || s.Help || p.Tab != panel.Callers {
		return
	}
	if a := p.Doc.Answer(); a == w.key.of {
		panel.NodeTip(u, widget.Point(w.box.Min, w.At), w.pics[w.side].Up, a, w.pics[w.side].Tree, w.under, nil)
	}
}
