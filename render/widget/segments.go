package widget

import "ashlar/render/ui"

// Segments is a row of words, one of which is selected.
type Segments struct{ areas []ClickArea }

// Width returns the total width of the texts.
func (g *Segments) Width(u *ui.UI, words []string) int {
	w := 0
	for _, s := range words {
		w += u.Measure(s, ui.Style{Size: 12}).X + u.Px(18)
	}
	return w
}

// Layout draws the words from x on, with the line's top at y, and returns the word that
// was clicked, else -1.
func (g *Segments) Layout(u *ui.UI, x, y int, words []string, on int) int {
	for len(g.areas) < len(words) {
		g.areas = append(g.areas, ClickArea{})
	}
	clickedAt := -1
	for i, s := range words {
		st := ui.Style{Size: 12, Color: u.Theme.Dim, Align: ui.Middle}
		box := ui.Rect(x, y, u.Measure(s, st).X+u.Px(18), u.Px(22))
		clicked, hovered := g.areas[i].Clicked(u, box)
		switch {
		case i == on:
			u.Round(box, 6, u.Theme.Raised)
			u.Border(box, 6, max(1, u.Px(1)), u.Theme.Rule)
			st.Color = u.Theme.Text
		case hovered:
			st.Color = u.Theme.Text
		}
		u.Text(box, s, st)
		if clicked {
			clickedAt = i
		}
		x = box.Max.X
	}
	return clickedAt
}
