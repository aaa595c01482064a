package shell

import (
	"image"
	"sort"

	"gioui.org/io/pointer"

	"ashlar/app/doc"
	"ashlar/ingest/analyze"
	"ashlar/render/ui"
	"ashlar/render/units"
)

// tablePart is the table of functions.
type tablePart struct {
	drag
	scroll  int
	by      column
	rows    []analyze.Row
	of      *doc.Answer
	ordered column
	heads   [4]clickArea
}

// column is what a table is sorted by.
type column uint8

const (
	bySelf column = iota
	byTotal
	byCount
	byName
)

const rowHeight = 24 // dp

// sorted brings the rows in the chosen order, once an answer and order.
func (t *tablePart) sorted(a *doc.Answer) {
	if t.of == a && t.ordered == t.by {
		return
	}
	t.of, t.ordered = a, t.by
	t.rows = append(t.rows[:0], a.Rows...)
	less := map[column]func(x, y *analyze.Row) bool{
		byTotal: func(x, y *analyze.Row) bool { return x.Total > y.Total },
		byCount: func(x, y *analyze.Row) bool { return x.Count > y.Count },
		byName:  func(x, y *analyze.Row) bool { return x.Name < y.Name },
	}[t.by]
	if less != nil {
		sort.SliceStable(t.rows, func(i, j int) bool { return less(&t.rows[i], &t.rows[j]) })
	}
}

// layout draws the rows that are seen.
func (t *tablePart) layout(s *Shell, p *pane, u *ui.UI, r image.Rectangle) {
	a := p.doc.Answer()
	if a == nil {
		return
	}
	t.sorted(a)
	th := u.Theme
	h := u.Px(rowHeight)
	body := image.Rect(r.Min.X, r.Min.Y+h+u.Px(4), r.Max.X, r.Max.Y)
	most := max(0, len(t.rows)*h-body.Dy()+h)
	for {
		g, e, ok := t.next(u, body.Min)
		if !ok {
			break
		}
		switch g {
		case gScroll:
			_, y := scrolled(e)
			t.scroll += int(y * float32(u.Px(rowsPerNotch)))
		case gDrag:
			t.scroll += int(t.start.Y - t.at.Y)
			t.start = t.at
		case gClick, gDouble:
			if i := (int(t.at.Y) + t.scroll) / h; i >= 0 && i < len(t.rows) {
				p.pickFunction(a, t.rows[i].Func)
			}
		}
	}
	t.scroll = max(0, min(t.scroll, most))
	cols := t.columns(u, r)
	t.head(u, r, cols)
	m := a.Metric()
	total := a.Tree.Nodes[0].Total
	u.At(body, func(u *ui.UI) {
		for i := t.scroll / h; i < len(t.rows) && i*h-t.scroll < body.Dy(); i++ {
			row := &t.rows[i]
			y := i*h - t.scroll
			line := ui.Rect(0, y, body.Dx(), h)
			if p.pick.is != pickNone && p.pick.fn == row.Func {
				u.Fill(line, withAlpha(th.Accent, .16))
			} else if t.inside && int(t.at.Y) >= y && int(t.at.Y) < y+h {
				u.Fill(line, withAlpha(th.Text, .05))
			}
			fn := a.Rec.Functions.At(int(row.Func))
			u.Round(ui.Rect(u.Px(14), y+h/2-u.Px(4), u.Px(8), u.Px(8)), 2, th.Bar(&fn, s.Mode))
			cell := func(c int, text string, col colour, right bool) {
				st := ui.Style{Size: 12, Color: col}
				if right {
					st.Align = end
				}
				u.Text(image.Rect(cols[c].Min.X-r.Min.X, y, cols[c].Max.X-r.Min.X, y+h), text, st)
			}
			cell(0, row.Name, th.Text, false)
			cell(1, shortModule(row.Module), th.Dim, false)
			cell(2, units.Value(row.Self, m), th.Text, true)
			cell(3, units.Percent(row.Self, total), th.Dim, true)
			cell(4, units.Value(row.Total, m), th.Text, true)
			cell(5, units.Percent(row.Total, total), th.Dim, true)
			cell(6, units.Count(row.Count), th.Dim, true)
		}
	})
	t.area(u, body, pointer.CursorDefault)
}

// columns places the columns: name, module, self, %, total, %, count.
func (t *tablePart) columns(u *ui.UI, r image.Rectangle) []image.Rectangle {
	widths := []int{0, 130, 96, 62, 96, 62, 90}
	rest := r.Dx() - u.Px(14+18+20)
	for _, w := range widths[1:] {
		rest -= u.Px(float32(w))
	}
	x := r.Min.X + u.Px(32)
	var cols []image.Rectangle
	for i, w := range widths {
		px := u.Px(float32(w))
		if i == 0 {
			px = max(u.Px(80), rest)
		}
		cols = append(cols, image.Rect(x, r.Min.Y, x+px-u.Px(10), r.Max.Y))
		x += px
	}
	return cols
}

func (t *tablePart) head(u *ui.UI, r image.Rectangle, cols []image.Rectangle) {
	th := u.Theme
	h := u.Px(rowHeight)
	for i, c := range []struct {
		col   int
		title string
		by    column
	}{{0, "Function", byName}, {2, "Self", bySelf}, {4, "Total", byTotal}, {6, "Count", byCount}} {
		cell := image.Rect(cols[c.col].Min.X, r.Min.Y, cols[c.col].Max.X, r.Min.Y+h)
		clicked, hovered := t.heads[i].clicked(u, cell)
		if clicked {
			t.by, t.scroll = c.by, 0
		}
		st := ui.Style{Size: 11.5, Weight: medium, Color: th.Dim}
		if c.col != 0 {
			st.Align = end
		}
		if hovered || t.by == c.by {
			st.Color = th.Text
		}
		u.Text(cell, c.title, st)
		if t.by == c.by {
			u.Fill(image.Rect(cell.Min.X, r.Min.Y+h, cell.Max.X, r.Min.Y+h+u.Px(1.5)), th.Accent)
		}
	}
	u.Text(image.Rect(cols[1].Min.X, r.Min.Y, cols[1].Max.X, r.Min.Y+h), "Module", ui.Style{Size: 11.5, Weight: medium, Color: th.Dim})
	u.HLine(r.Min.X, r.Max.X, r.Min.Y+h+u.Px(2), th.Rule)
}
