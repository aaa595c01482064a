package timeline

import (
	"image"
	"math"
	"slices"

	"gioui.org/f32"

	"ashlar/app/core/view"
	"ashlar/app/window/panel"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// flagSize is the width and height of a mark's flag on the ruler, in dp.
const flagSize = 8

// markX returns the x position of a time relative to the recording's start, from the left
// edge of the lanes, clamped to just outside them.
func (p *Timeline) markX(at int64) int {
	w := p.LaneWidth()
	return int(math.Floor(math.Max(-100, math.Min(float64(w+100), p.View.X(p.Rec.Start+at, w)))))
}

// drawMarks draws a flag on the ruler for each mark with a time, and a faint
// line through the lanes; a range has a bar between its ends.
func (p *Timeline) drawMarks(s *panel.Host, u *ui.UI) {
	b := &p.Bounds
	th := u.Theme
	line, flag := theme.WithAlpha(th.Text, .22), theme.WithAlpha(th.Text, .8)
	area := image.Rect(b.Ruler.Min.X+b.Gutter, b.Ruler.Min.Y, b.Lanes.Max.X, b.Lanes.Max.Y)
	foot := b.Ruler.Dy()
	u.At(area, func(u *ui.UI) {
		for _, m := range p.Marks {
			if m.Func != nil {
				continue
			}
			x0, x1 := p.markX(m.From), p.markX(m.To)
			if x1 < -u.Px(flagSize) || x0 > area.Dx() {
				continue
			}
			col := flag
			if m.ID == p.Flag {
				col = th.Accent
			}
			u.VLine(x0, foot, area.Dy(), line)
			if m.From != m.To {
				u.VLine(x1, foot, area.Dy(), line)
				u.Fill(image.Rect(x0, foot-u.Px(3), max(x0+1, x1), foot), theme.WithAlpha(col, .55))
			}
			pennant(u, x0, foot, col)
		}
	})
	u.At(image.Rect(b.Overview.Min.X+b.Gutter, b.Overview.Min.Y, b.Overview.Max.X, b.Overview.Max.Y), func(u *ui.UI) {
		for _, m := range p.Marks {
			if m.Func == nil {
				x := p.stripX(p.Rec.Start+m.From) - b.Overview.Min.X - b.Gutter
				u.Fill(ui.Rect(x, b.Overview.Dy()-u.Px(6), max(1, u.Px(2)), u.Px(6)), flag)
			}
		}
	})
	p.flagTip(s, u)
}

// pennant draws a flag with its pole at x, from y down.
func pennant(u *ui.UI, x, y int, c ui.Colour) {
	size := float32(u.Px(flagSize))
	foot := f32.Pt(float32(x), float32(y))
	at := func(dx, dy float32) f32.Point { return foot.Add(f32.Pt(dx, dy)) }
	u.FillIn(ui.LineFrom(foot).To(at(0, -1.4*size)).To(at(size, -.95*size)).To(at(1, -.5*size)).To(at(1, 0)).Close(), c)
}

// flagAt returns the mark whose flag is at a position on the ruler, nil for none.
func (p *Timeline) flagAt(u *ui.UI, x float32) *view.Mark {
	at := int(x) - p.Bounds.Gutter
	for i := range slices.Backward(p.Marks) {
		m := &p.Marks[i]
		if m.Func == nil && at >= p.markX(m.From)-u.Px(4) && at <= p.markX(m.From)+u.Px(flagSize+3) {
			return m
		}
	}
	return nil
}

// flagTip shows the note of the flag under the pointer.
func (p *Timeline) flagTip(s *panel.Host, u *ui.UI) {
	d := &p.RulerArea
	if !d.Inside || d.Pressed || s.Menu != nil || s.Help || s.Chooser != nil {
		return
	}
	if m := p.flagAt(u, d.At.X); m != nil {
		title := m.Text
		if title == "" {
			title = "Mark"
		}
		widget.Tip(u, widget.Point(p.Bounds.Ruler.Min, d.At), title, []string{m.Place.String()})
	}
}

// flagMenu opens the menu for the flag under the pointer, or for the moment there.
func (p *Timeline) flagMenu(s *panel.Host, u *ui.UI) {
	d := &p.RulerArea
	s.Menu = widget.NewMenu(widget.Point(p.Bounds.Ruler.Min, d.At), p.Callbacks.MarkItems(p.flagAt(u, d.At.X)))
}
