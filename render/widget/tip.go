package widget

import (
	"image"

	"gioui.org/f32"

	"ashlar/render/theme"
	"ashlar/render/ui"
)

// Tip draws a tooltip beside a point, within the window: a title and lines.
func Tip(u *ui.UI, at image.Point, title string, lines []string) {
	th := u.Theme
	ts := ui.Style{Size: 12.5, Weight: ui.Medium, Color: th.Text}
	ls := ui.Style{Size: 12, Color: th.Dim}
	most := u.Px(460)
	w := min(most, u.Width(title, ts))
	for _, l := range lines {
		w = max(w, min(most, u.Width(l, ls)))
	}
	line := u.Px(18)
	box := ui.Rect(at.X+u.Px(14), at.Y+u.Px(16), w+u.Px(22), line*(1+len(lines))+u.Px(14))
	size := u.Constraints.Max
	if box.Max.X > size.X-u.Px(4) {
		box = box.Sub(image.Pt(box.Max.X-size.X+u.Px(4), 0))
	}
	if box.Max.Y > size.Y-u.Px(4) {
		box = box.Sub(image.Pt(0, box.Dy()+u.Px(28)))
	}
	u.Round(box.Add(image.Pt(0, u.Px(2))), 7, theme.WithAlpha(ui.Colour{}, .28))
	u.Round(box, 7, th.Raised)
	u.Border(box, 7, 1, th.Rule)
	u.Tip.Text(ui.Rect(0, 0, w, line), title, ts)
	for i, l := range lines {
		u.Tip.Text(ui.Rect(0, (i+1)*line, w, line), l, ls)
	}
	u.Tip.Show(u, ui.Rect(box.Min.X+u.Px(11), box.Min.Y+u.Px(7), w, line*(1+len(lines))), th.Raised)
}

// Point is a place within an area in the window.
func Point(origin image.Point, at f32.Point) image.Point {
	return origin.Add(image.Pt(int(at.X), int(at.Y)))
}
