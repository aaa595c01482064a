package widget

import (
	"image"

	"ashlar/render/ui"
)

// Empty writes two texts in the middle of r: said, why there is nothing to show, and, fainter
// below it, hint, which may be "".
func Empty(u *ui.UI, r image.Rectangle, said, hint string) {
	st := ui.Style{Size: 13, Color: u.Theme.Dim, Align: ui.Middle}
	in := r.Inset(min(u.Px(20), r.Dx()/8))
	in.Min.Y, in.Max.Y = r.Min.Y, r.Max.Y
	if hint == "" {
		u.Text(in, said, st)
		return
	}
	mid := (r.Min.Y + r.Max.Y) / 2
	u.Text(image.Rect(in.Min.X, mid-u.Px(22), in.Max.X, mid), said, st)
	st.Size, st.Color, st.Lines = 12, u.Theme.Faint, 3
	u.Text(image.Rect(in.Min.X, mid+u.Px(2), in.Max.X, mid+u.Px(56)), hint, st)
}
