package timeline

import (
	"image"

	"gioui.org/f32"

	"ashlar/app/window/panel"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// Dragging a box over the lanes zooms to its time range and scrolls to its rows.

// box returns the rectangle between two points of the lanes.
func (p *Timeline) box(a, b f32.Point) image.Rectangle {
	r := image.Rect(int(a.X), int(a.Y), int(b.X), int(b.Y))
	return r.Intersect(image.Rectangle{Min: image.Pt(p.Bounds.Gutter, 0), Max: p.Bounds.Lanes.Size()})
}

func (p *Timeline) zoomToBox(u *ui.UI, r image.Rectangle) {
	if r.Dx() < u.Px(widget.Slop) {
		return
	}
	at := func(x int) int64 { return p.TimeAt(float32(x)) }
	from, to := at(r.Min.X), at(r.Max.X)
	if r.Dy() > u.Px(2*widget.Slop) {
		p.ScrollTo(p.View.Scroll + r.Min.Y - u.Px(24)) // leave room for a sticky header
	}
	p.View.From, p.View.To = from, max(to, from+100)
	p.Moved = true
}

// drawBox draws the box during the drag.
func (p *Timeline) drawBox(u *ui.UI) {
	u.At(p.Bounds.Lanes, func(u *ui.UI) {
		r := p.box(p.Lanes.Start, p.Lanes.At)
		u.Fill(r, theme.WithAlpha(u.Theme.Accent, .12))
		u.Border(r, 0, max(1, u.Px(1)), u.Theme.Accent)
	})
}

// BoxNext makes the next drag over the lanes draw a zoom box.
func (p *Timeline) BoxNext(s *panel.Host) {
	if p.Timed() {
		p.boxing = true
		s.Say("Drag a box over the timeline")
	}
}
