package widget

import (
	"image"

	"ashlar/render/ui"
)

// A Title is the heading of a column.
type Title struct {
	Text  string
	Right bool // aligned right, above numbers
	// By is set if rows are sorted by the column, Turned if they are in reverse of the
	// usual order, and Lit if the pointer is over the title.
	By, Turned, Lit bool
}

// Layout draws the title in cell, underlined if rows are sorted by it.
func (t Title) Layout(u *ui.UI, cell image.Rectangle) {
	st := ui.Style{Size: 11.5, Weight: ui.Medium, Color: u.Theme.Dim}
	if t.Right {
		st.Align = ui.End
	}
	if t.Lit || t.By {
		st.Color = u.Theme.Text
	}
	if t.By {
		u.Fill(image.Rect(cell.Min.X, cell.Max.Y, cell.Max.X, cell.Max.Y+u.Px(1.5)), u.Theme.Accent)
	}
	if t.By && t.Turned {
		x := cell.Min.X + u.Measure(t.Text, st).X + u.Px(8)
		if t.Right {
			x = cell.Max.X - u.Measure(t.Text, st).X - u.Px(8)
		}
		y, n := (cell.Min.Y+cell.Max.Y)/2, u.Px(3)
		for i := range n + 1 { // a triangle that points up
			u.Fill(image.Rect(x-i, y-n/2+i, x+i+1, y-n/2+i+1), u.Theme.Text)
		}
	}
	u.Text(cell, t.Text, st)
}
