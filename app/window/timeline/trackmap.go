package timeline

import (
	"image"

	"gioui.org/io/pointer"

	"ashlar/render/raster"
	"ashlar/render/theme"
	"ashlar/render/timeline"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// mapPart is the map of all rows at the right edge: it shows where the activity is and
// which part is visible. Clicking or dragging scrolls.
type mapPart struct {
	widget.Drag
	picture *ui.Picture
	key     mapKey
	grabbed int // where the visible part was grabbed, from its top
}

type mapKey struct {
	plan  *timeline.Plan
	size  image.Point
	theme *theme.Theme
}

// seen returns the top and bottom of the visible part on the map.
func (m *mapPart) seen(p *Timeline, u *ui.UI) (y0, y1 int) {
	h, all := p.Bounds.Rows.Dy(), max(1, p.Plan.Height)
	y0 = p.View.Scroll * h / all
	y1 = min(h, (p.View.Scroll+p.Bounds.Lanes.Dy())*h/all)
	if least := u.Px(10); y1-y0 < least {
		y0 = min(y0, h-least)
		y1 = y0 + least
	}
	return y0, y1
}

// Events handles the pointer events since the last frame.
func (m *mapPart) Events(p *Timeline, u *ui.UI) {
	for {
		g, e, ok := m.Next(u, p.Bounds.Rows.Min)
		if !ok {
			return
		}
		if p.Plan == nil || p.Bounds.Rows.Empty() {
			continue
		}
		y0, y1 := m.seen(p, u)
		y := int(m.At.Y)
		switch g {
		case widget.Wheeled:
			_, dy := widget.Notches(e)
			p.Motion.scroll(p, u, int(dy*float32(u.Px(widget.RowsPerNotch))))
		case widget.Pressed:
			m.grabbed = y - y0
			if y < y0 || y >= y1 { // go there first
				m.grabbed = (y1 - y0) / 2
				m.scroll(p, y-m.grabbed)
			}
		case widget.Dragged:
			m.scroll(p, y-m.grabbed)
		}
	}
}

// scroll scrolls so that the visible part begins at y on the map.
func (m *mapPart) scroll(p *Timeline, y int) {
	p.ScrollTo(y * p.Plan.Height / max(1, p.Bounds.Rows.Dy()))
}

func (m *mapPart) layout(p *Timeline, u *ui.UI) {
	r := p.Bounds.Rows
	plan := p.Plan
	if plan.Height <= p.Bounds.Lanes.Dy() {
		p.ScrollTo(p.View.Scroll) // not past the end
		return
	}
	k := mapKey{plan, r.Size(), u.Theme}
	if !m.picture.Serves(u) || m.key != k {
		m.picture, m.key = u.Paint(nil, r.Size(), func(on raster.Surface) { timeline.PaintMap(on, p.Rec, plan, u.Theme) }), k
	}
	u.Draw(m.picture, r.Min)
	y0, y1 := m.seen(p, u)
	veil := theme.WithAlpha(u.Theme.Background, .5)
	u.Fill(image.Rect(r.Min.X, r.Min.Y, r.Max.X, r.Min.Y+y0), veil)
	u.Fill(image.Rect(r.Min.X, r.Min.Y+y1, r.Max.X, r.Max.Y), veil)
	line := u.Theme.Accent
	if !m.Inside && !m.Pressed {
		line = theme.WithAlpha(line, .7)
	}
	u.Border(image.Rect(r.Min.X, r.Min.Y+y0, r.Max.X, r.Min.Y+y1), 3, max(1, u.Px(1)), line)
	m.Area(u, r, pointer.CursorDefault)
}
