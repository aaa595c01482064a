package desk

import (
	"image"

	"gioui.org/font"
	"gioui.org/io/pointer"

	"ashlar/app/panel"
	"ashlar/ingest/recording"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// lower draws the half below the timeline: tabs, the chosen one's content and
// the details at the side.
func (p *Pane) lower(d *Desk, u *ui.UI) {
	if p.Within != nil {
		p.Within.lower(d, p, u)
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

func (p *Pane) tabBar(d *Desk, u *ui.UI) {
	r := p.Bounds.Tabs
	th := u.Theme
	panel.Bar(u, r, p.Timed())
	x := p.Deck.Tabs(u, r, &p.Tab, &p.Side, r.Max.X, 26)
	text := ""
	if a := p.Doc.Answer(); a != nil {
		text = panel.BasisText(a.Rec, a.Tree.Weights)
		if p.Scope.Ranged && !a.Tree.Weights.Ranged && a.Scope.Ranged {
			text = "cannot answer for a part: showing the " + text
		}
		if p.Scope.Calls != nil && !a.Tree.Weights.Called && a.Scope.Calls != nil {
			text = "cannot answer for calls: showing the " + text
		}
	}
	if soon := p.Doc.Soon(); soon != nil {
		text = panel.BasisText(soon.Rec, soon.Tree.Weights) + ", still adding up"
	}
	if p.Plan != nil && p.Plan.Unseen > 0 && text != "" && p.Scope.Tracks == nil {
		text += ", " + units.Plural(int64(p.Plan.Unseen), "thread") + " not shown but counted"
	}
	w := u.Measure(text, ui.Style{Size: 12}).X
	x = p.chips(u, x, r.Max.X-w-u.Px(80))
	at := image.Pt(r.Max.X-u.Px(62), r.Min.Y+u.Px(4))
	if x > at.X-w-u.Px(8) {
		text = "" // in a narrow window the tabs are worth more
		u.Fill(image.Rect(at.X-u.Px(8), r.Min.Y+1, r.Max.X, r.Max.Y), th.Surface)
	}
	u.Choice(&p.viewButton, at.X, at.Y, "View", 0)
	if p.viewButton.Clicked(u.Context) {
		its := append(p.viewItems(), d.commandItem(OfLower))
		d.Menu = widget.NewMenu(image.Pt(r.Max.X-u.Px(220), r.Max.Y), its)
	}
	u.Text(image.Rect(x, r.Min.Y, at.X-u.Px(8), r.Max.Y), text, ui.Style{Size: 12, Color: th.Dim, Align: ui.End})
}

// layoutSplitter lets the border between the halves be dragged.
func (p *Pane) layoutSplitter(u *ui.UI, r, whole image.Rectangle) {
	d := &p.Splitter
	for {
		g, _, ok := d.Next(u, image.Point{})
		if !ok {
			break
		}
		switch g {
		case widget.Pressed:
			p.dragged = float32(p.Bounds.Tabs.Min.Y-whole.Min.Y) - d.At.Y
		case widget.Dragged:
			p.Split = max(.1, min(.9, (d.At.Y+p.dragged)/float32(whole.Dy())))
		case widget.DoubleClicked:
			p.Split = 0
		}
	}
	d.Area(u, r, pointer.CursorRowResize)
}

// failed says in the middle of the pane why nothing can be shown and what to
// try.
func (p *Pane) failed(u *ui.UI, r image.Rectangle, err error) {
	th := u.Theme
	y := r.Min.Y + r.Dy()*2/5
	w := min(r.Dx()-u.Px(40), u.Px(640))
	x := (r.Min.X + r.Max.X - w) / 2
	u.Text(image.Rect(x, y-u.Px(34), x+w, y), "This file cannot be shown", ui.Style{Size: 16, Weight: font.Medium, Color: th.Text, Align: ui.Middle})
	u.Text(image.Rect(x, y+u.Px(6), x+w, y+u.Px(140)), err.Error(), ui.Style{Size: 13, Color: th.Dim, Align: ui.Middle, Lines: 6})
}

// events takes what the pointer did since the last frame.
func (p *Pane) events(d *Desk, u *ui.UI) {
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
