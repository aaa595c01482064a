package functions

import (
	"image"
	"slices"

	"gioui.org/io/pointer"

	"ashlar/app/core/session"
	"ashlar/app/window/panel"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// width returns the width of a column in dp; the first column takes the rest.
func (t *Panel) width(c Column) float32 {
	if w := t.Widths[c]; w > 0 {
		return w
	}
	return ColumnInfos[c].width
}

// narrowed returns a column's width if space is short: its usual width times by, but not
// less than 56 dp. Narrower columns, such as shares, keep their width.
func (t *Panel) narrowed(c Column, by float32) float32 {
	return max(t.width(c)*by, min(t.width(c), 56))
}

func (t *Panel) place(u *ui.UI, r image.Rectangle, cs []Column) []image.Rectangle {
	// If space is short, number columns move closer together before names are cut.
	all, sum := r.Dx()-u.Px(tableLeft+tableRight), float32(0)
	for _, c := range cs[1:] {
		sum += t.width(c)
	}
	narrow := max(.74, min(1, float32(all-u.Px(170))/max(1, sum*u.Metric.PxPerDp)))
	rest := all
	for _, c := range cs[1:] {
		rest -= u.Px(t.narrowed(c, narrow))
	}
	extra := t.spread(u, cs, rest)
	x := r.Min.X + u.Px(tableLeft)
	boxes := make([]image.Rectangle, len(cs))
	for i, c := range cs {
		w := u.Px(t.narrowed(c, narrow)) + extra[c]
		if i == 0 {
			w = max(u.Px(80), rest+extra[c])
		}
		t.placed[c] = float32(w) / u.Metric.PxPerDp
		boxes[i] = image.Rect(x, r.Min.Y, x+w-u.Px(10), r.Max.Y)
		x += w
	}
	return boxes
}

// needsKey holds everything that the widths of columns depend on.
type needsKey struct {
	of    *session.Answer
	scale float32
}

// mostMeasured is the maximum number of rows whose texts are measured.
const mostMeasured = 200

// measure finds the width that the texts of each column need: enough for nine in ten of
// the first rows. So nothing moves while rows are scrolled, and one long text does not
// leave a column nearly empty while its neighbour is cut.
func (t *Panel) measure(s *panel.Host, u *ui.UI, a *session.Answer) {
	k := needsKey{a, u.Metric.PxPerDp}
	if t.needsOf == k {
		return
	}
	t.needsOf, t.needs = k, [ColumnCount]float32{}
	face := s.Fonts.Regular(12 * u.Metric.PxPerDp)
	rows := a.TableRows()
	rows = rows[:min(len(rows), mostMeasured)]
	for _, c := range []Column{ColName, ColModule, ColFile} {
		if len(rows) == 0 || c != ColName && !a.ByFunction() {
			continue
		}
		all := make([]float32, len(rows))
		for i := range rows {
			all[i] = face.Measure(c.cell(a, &rows[i], false))/u.Metric.PxPerDp + 24
		}
		slices.Sort(all)
		t.needs[c] = all[(len(all)*9+9)/10-1]
	}
}

// spread distributes the width that the names do not need, in pixels: first to columns
// with cut texts, then to all columns equally, so that numbers stay near the names.
// Columns whose width the user has set keep it.
func (t *Panel) spread(u *ui.UI, cs []Column, rest int) (extra [ColumnCount]int) {
	left := rest - max(u.Px(80), u.Px(t.needs[ColName]))
	var free []Column
	for _, c := range cs[1:] {
		if t.Widths[c] > 0 || left <= 0 {
			continue
		}
		free = append(free, c)
		extra[c] = max(0, min(left, u.Px(t.needs[c]-ColumnInfos[c].width)))
		left -= extra[c]
	}
	for _, c := range free {
		extra[c] += left / (len(free) + 1)
	}
	for _, c := range free {
		extra[ColName] -= extra[c]
	}
	return extra
}

// head draws the titles. A click sorts, a second click reverses the order, a right click
// opens the list of columns, and dragging a column's left edge resizes it.
func (t *Panel) head(s *panel.Host, u *ui.UI, r image.Rectangle, a *session.Answer, cs []Column, boxes []image.Rectangle) {
	h := u.Px(widget.RowHeight)
	all := image.Rect(r.Min.X, r.Min.Y, r.Max.X, r.Min.Y+h)
	t.chooseColumns(s, u, &t.more, all, a)
	for i, c := range cs {
		cell := boxes[i]
		cell.Max.Y = r.Min.Y + h
		clicked, hovered := t.chooseColumns(s, u, &t.heads[c], cell, a)
		if clicked {
			if t.By == c {
				t.Ascending = !t.Ascending
			} else {
				t.By, t.Ascending = c, ColumnInfos[c].Number == nil
			}
			t.Down = 0
		}
		widget.Title{Text: c.title(a), Right: ColumnInfos[c].right, By: t.By == c, Turned: t.Ascending == (ColumnInfos[c].Number != nil), Lit: hovered}.Layout(u, cell)
		if i > 0 {
			t.edge(u, c, image.Rect(cell.Min.X-u.Px(9), r.Min.Y, cell.Min.X-u.Px(1), r.Min.Y+h))
		}
	}
	u.HLine(r.Min.X, r.Max.X, r.Min.Y+h+u.Px(2), u.Theme.Rule)
}

// edge resizes a column by its left edge; a double click restores the default width.
func (t *Panel) edge(u *ui.UI, c Column, r image.Rectangle) {
	d := &t.edges[c]
	for {
		g, e, ok := d.Next(u, image.Point{})
		if !ok {
			break
		}
		switch g {
		case widget.Pressed:
			t.from = t.placed[c] + e.Position.X/u.Metric.PxPerDp
		case widget.Dragged:
			t.Widths[c] = max(leastWidth, t.from-e.Position.X/u.Metric.PxPerDp)
		case widget.DoubleClicked:
			t.Widths[c] = 0
		}
	}
	line := u.Theme.Rule
	if d.Inside || d.Pressed {
		line = u.Theme.Accent
	}
	u.VLine((r.Min.X+r.Max.X)/2, r.Min.Y+u.Px(5), r.Max.Y-u.Px(5), line)
	d.Area(u, r, pointer.CursorColResize)
}

// chooseColumns makes r clickable; a right click opens the list of columns.
func (t *Panel) chooseColumns(s *panel.Host, u *ui.UI, area *widget.ClickArea, r image.Rectangle, a *session.Answer) (clicked, hovered bool) {
	for {
		g, _, ok := area.Next(u, r.Min)
		if !ok {
			break
		}
		switch g {
		case widget.Clicked, widget.DoubleClicked:
			clicked = true
		case widget.MenuAsked:
			s.Menu = widget.NewMenu(widget.Point(r.Min, area.At), t.columnItems(s, a))
		}
	}
	area.Area(u, r, pointer.CursorPointer)
	return clicked, area.Inside
}

// columnItems returns the menu items that show and hide columns.
func (t *Panel) columnItems(s *panel.Host, a *session.Answer) []widget.Item {
	var items []widget.Item
	for c := ColName + 1; c < ColumnCount; c++ {
		if !c.Applies(a) {
			continue
		}
		items = append(items, widget.Item{Title: panel.Title1(ColumnInfos[c].Name), On: !t.Hidden.has(c), Do: func() {
			t.Hidden ^= 1 << c
			s.HiddenColumns = uint32(t.Hidden)
			if t.By == c && t.Hidden.has(c) {
				t.By, t.Ascending = ColSelf, false
			}
		}})
	}
	return append(items, widget.Item{Title: "Reset columns", Do: func() {
		t.Hidden, t.Widths = HiddenColumns, [ColumnCount]float32{}
		s.HiddenColumns = uint32(t.Hidden)
	}})
}
