package shell

import (
	"image"

	"gioui.org/io/pointer"

	"ashlar/app/doc"
	"ashlar/render/ui"
)

// width is how wide a column is, in dp; the first takes what is left.
func (t *tablePart) width(c column) float32 {
	if w := t.widths[c]; w > 0 {
		return w
	}
	return columnInfos[c].width
}

// place places the columns in r.
func (t *tablePart) place(u *ui.UI, r image.Rectangle, cs []column) []image.Rectangle {
	rest := r.Dx() - u.Px(tableLeft+tableRight)
	for _, c := range cs[1:] {
		rest -= u.Px(t.width(c))
	}
	x := r.Min.X + u.Px(tableLeft)
	boxes := make([]image.Rectangle, len(cs))
	for i, c := range cs {
		w := u.Px(t.width(c))
		if i == 0 {
			w = max(u.Px(80), rest)
		}
		boxes[i] = image.Rect(x, r.Min.Y, x+w-u.Px(10), r.Max.Y)
		x += w
	}
	return boxes
}

// head draws the titles. A click sorts, a second one the other way round; the
// other button chooses the columns; the left edge of a column is dragged.
func (t *tablePart) head(s *Shell, u *ui.UI, r image.Rectangle, a *doc.Answer, cs []column, boxes []image.Rectangle) {
	th := u.Theme
	h := u.Px(rowHeight)
	all := image.Rect(r.Min.X, r.Min.Y, r.Max.X, r.Min.Y+h)
	t.chooseColumns(s, u, &t.more, all, a)
	for i, c := range cs {
		cell := boxes[i]
		cell.Max.Y = r.Min.Y + h
		st := ui.Style{Size: 11.5, Weight: medium, Color: th.Dim}
		if columnInfos[c].right {
			st.Align = end
		}
		clicked, hovered := t.chooseColumns(s, u, &t.heads[c], cell, a)
		if clicked {
			if t.by == c {
				t.ascending = !t.ascending
			} else {
				t.by, t.ascending = c, columnInfos[c].number == nil
			}
			t.scroll = 0
		}
		title := c.title(a)
		if hovered || t.by == c {
			st.Color = th.Text
		}
		if t.by == c {
			u.Fill(image.Rect(cell.Min.X, r.Min.Y+h, cell.Max.X, r.Min.Y+h+u.Px(1.5)), th.Accent)
			if t.ascending == (columnInfos[c].number != nil) {
				title = "↑ " + title // the other way round than one expects
			}
		}
		u.Text(cell, title, st)
		if i > 0 {
			t.edge(u, c, image.Rect(cell.Min.X-u.Px(9), r.Min.Y, cell.Min.X-u.Px(1), r.Min.Y+h))
		}
	}
	u.HLine(r.Min.X, r.Max.X, r.Min.Y+h+u.Px(2), th.Rule)
}

// edge lets a column be made wider and narrower by its left edge; a double
// click brings back the width it had.
func (t *tablePart) edge(u *ui.UI, c column, r image.Rectangle) {
	d := &t.edges[c]
	for {
		g, e, ok := d.next(u, image.Point{})
		if !ok {
			break
		}
		switch g {
		case gPress:
			t.from = t.width(c) + e.Position.X/u.Metric.PxPerDp
		case gDrag:
			t.widths[c] = max(leastWidth, t.from-e.Position.X/u.Metric.PxPerDp)
		case gDouble:
			t.widths[c] = 0
		}
	}
	line := u.Theme.Rule
	if d.inside || d.pressed {
		line = u.Theme.Accent
	}
	u.VLine((r.Min.X+r.Max.X)/2, r.Min.Y+u.Px(5), r.Max.Y-u.Px(5), line)
	d.area(u, r, pointer.CursorColResize)
}

// chooseColumns makes r clickable; the other button opens the list of columns.
func (t *tablePart) chooseColumns(s *Shell, u *ui.UI, area *clickArea, r image.Rectangle, a *doc.Answer) (clicked, hovered bool) {
	for {
		g, _, ok := area.next(u, r.Min)
		if !ok {
			break
		}
		switch g {
		case gClick, gDouble:
			clicked = true
		case gMenu:
			s.menu = newMenu(point(r.Min, area.at), t.columnItems(s, a))
		}
	}
	area.area(u, r, pointer.CursorPointer)
	return clicked, area.inside
}

// columnItems are the columns to show and hide.
func (t *tablePart) columnItems(s *Shell, a *doc.Answer) []item {
	var items []item
	for c := colName + 1; c < columnCount; c++ {
		if !c.applies(a) {
			continue
		}
		items = append(items, item{title: title1(columnInfos[c].name), on: !t.hidden.has(c), do: func() {
			t.hidden ^= 1 << c
			s.hiddenColumns = t.hidden
			if t.by == c && t.hidden.has(c) {
				t.by, t.ascending = colSelf, false
			}
		}})
	}
	return append(items, item{title: "As they were at first", do: func() {
		t.hidden, t.widths = hiddenColumns, [columnCount]float32{}
		s.hiddenColumns = t.hidden
	}})
}
