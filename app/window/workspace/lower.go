package workspace

import (
	"image"

	"gioui.org/font"
	"gioui.org/io/pointer"

	"ashlar/app/window/panel"
	lanes "ashlar/app/window/timeline"
	"ashlar/ingest/model/recording"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// lower draws the half below the timeline: the tabs, the current panel and the details
// beside it.
func (p *Pane) lower(d *Workspace, u *ui.UI) {
	if p.ScopeComparison != nil {
		p.ScopeComparison.lower(d, p, u)
		return
	}
	b := &p.Bounds
	if d.View == Both {
		u.Area(p.Deck.Tag(), nil)
		p.tabBar(d, u)
	}
	p.Repick()
	ring := p.Deck.Area(u, &p.Tab, p.Tab, &p.Side)
	shown := p.panel()
	if d.View == Flame {
		shown = p.Flame
	}
	shown.Layout(&d.Host, &p.Side, u, b.Lower)
	if ring {
		u.Ring(b.Lower, 2)
	}
	if d.View == Both {
		p.Details.Layout(&d.Host, u)
	}
	u.NoArea()
}

func (p *Pane) tabBar(d *Workspace, u *ui.UI) {
	r := p.Bounds.Tabs
	panel.Bar(u, r, p.Timed())
	at := image.Pt(r.Max.X-u.Px(62), r.Min.Y+u.Px(4))
	p.Deck.Tabs(&d.Host, u, r, &p.Tab, &p.Side, at.X-u.Px(8), 26)
	u.Choice(&p.viewButton, at.X, at.Y, "View", 0)
	if p.viewButton.Clicked(u.Context) {
		its := append(p.viewItems(), d.commandItem(OfLower))
		d.Menu = widget.NewMenu(image.Pt(r.Max.X-u.Px(220), r.Max.Y), its)
	}
	titles, on := p.PickScopes()
	sw := &p.ScopeBar.Switch
	sw.Titles, sw.On, sw.Set = titles, int(on), func(i int) { p.ScopeToPick(lanes.PickScope(i)) }
	p.ScopeBar.Layout(&d.Host, u, scopeRow(u, r), p.Scoped(d), p.basis())
}

// splitter is the draggable border between the halves.
type splitter struct {
	widget.Drag
	grip float32 // border's distance above the pressed point, in pixels
}

// layout handles drags of the border, which is at height y. split is the upper half's
// share of the whole, 0 until the user chooses one.
func (s *splitter) layout(u *ui.UI, y int, whole image.Rectangle, split *float32) {
	for {
		g, _, ok := s.Next(u, image.Point{})
		if !ok {
			break
		}
		switch g {
		case widget.Pressed:
			s.grip = float32(y-whole.Min.Y) - s.At.Y
		case widget.Dragged:
			*split = max(.1, min(.9, (s.At.Y+s.grip)/float32(whole.Dy())))
		case widget.DoubleClicked:
			*split = 0
		}
	}
	s.Area(u, image.Rect(whole.Min.X, y-u.Px(4), whole.Max.X, y+u.Px(4)), pointer.CursorRowResize)
}

// failed shows, in the middle of the pane, why there is nothing to see and what to try.
func (p *Pane) failed(u *ui.UI, r image.Rectangle, err error) {
	const most, line = 6, 16 // number of lines and line height
	th := u.Theme
	y := max(r.Min.Y+u.Px(34), min(r.Min.Y+r.Dy()*2/5, r.Max.Y-u.Px(6+most*line+8)))
	w := min(r.Dx()-u.Px(40), u.Px(640))
	x := (r.Min.X + r.Max.X - w) / 2
	u.Text(image.Rect(x, y-u.Px(34), x+w, y), "Cannot show this file", ui.Style{Size: 16, Weight: font.Medium, Color: th.Text, Align: ui.Middle})
	text := image.Rect(x, y+u.Px(6), x+w, r.Max.Y)
	u.Text(text, err.Error(), ui.Style{Size: 13, Color: th.Dim, Align: ui.Middle, Lines: max(1, min(most, text.Dy()/u.Px(line)))})
}

// events handles the pointer events since the last frame.
func (p *Pane) events(d *Workspace, u *ui.UI) {
	p.TakeEvents(&d.Host, u)
	p.RowsMap.Events(&p.Timeline, u)
	shown := p.panel()
	if x, ok := shown.(panel.Pointed[*panel.Side]); ok {
		x.Events(&d.Host, &p.Side, u)
	}
	p.menuByKey(d, u)
	p.Hover = nil
	switch {
	case p.Inside && p.Hit.Found && p.Hit.Call != recording.NoCall:
		f := p.Rec.Func(p.Hit.Call)
		p.Hover = &f
	default:
		if x, ok := shown.(panel.Hovered[*panel.Side]); ok {
			if f, ok := x.Hover(&p.Side); ok {
				p.Hover = &f
			}
		}
	}
}

// menuByKey opens the menu of the selected item after a key press.
func (p *Pane) menuByKey(d *Workspace, u *ui.UI) {
	if !p.WantMenu {
		return
	}
	p.WantMenu = false
	x, ok := p.panel().(panel.Menued[*panel.Side])
	if opened := ok && d.Focus.In(&p.Tab) && x.Menu(&d.Host, &p.Side, u); !opened && p.Timed() {
		p.MenuOfPick(&d.Host, u)
	}
	if d.Menu != nil {
		d.Menu.Chosen = 0
	}
}
