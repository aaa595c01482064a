package shell

import (
	"encoding/csv"
	"image"
	"sort"
	"strconv"
	"strings"

	"gioui.org/io/pointer"

	"ashlar/app/doc"
	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
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
	heads   [byName + 1]clickArea
}

// column is what a table is sorted by.
type column uint8

const (
	bySelf column = iota
	byTotal
	byCount
	byAverage
	byLeast
	byMost
	byName
)

// columnNames are what settings call the columns.
var columnNames = [...]string{"self", "total", "count", "average", "least", "most", "name"}

const rowHeight = 24 // dp

// sorted brings the rows that are shown in the chosen order, once an answer and
// order: all of them, or while searching those that match.
func (t *tablePart) sorted(a *doc.Answer) {
	if t.of == a && t.ordered == t.by {
		return
	}
	t.of, t.ordered = a, t.by
	t.rows = t.rows[:0]
	for _, row := range a.Rows {
		if a.Search == nil || a.Search.MatchFunction(&recording.Function{Name: row.Name, Module: row.Module}) {
			t.rows = append(t.rows, row)
		}
	}
	stat := func(x *analyze.Row, of func(*analyze.SpanStat) int64) int64 {
		if s := spanStat(a, x); s != nil {
			return of(s)
		}
		return -1
	}
	key := map[column]func(x *analyze.Row) int64{
		byTotal:   func(x *analyze.Row) int64 { return x.Total },
		byCount:   func(x *analyze.Row) int64 { return x.Count },
		byAverage: func(x *analyze.Row) int64 { return stat(x, (*analyze.SpanStat).Average) },
		byLeast:   func(x *analyze.Row) int64 { return stat(x, func(s *analyze.SpanStat) int64 { return s.Min }) },
		byMost:    func(x *analyze.Row) int64 { return stat(x, func(s *analyze.SpanStat) int64 { return s.Max }) },
	}[t.by]
	switch {
	case t.by == byName:
		sort.SliceStable(t.rows, func(i, j int) bool { return t.rows[i].Name < t.rows[j].Name })
	case key != nil:
		sort.SliceStable(t.rows, func(i, j int) bool { return key(&t.rows[i]) > key(&t.rows[j]) })
	}
}

// spanStat is what is known of the durations of a row's spans, nil if nothing.
func spanStat(a *doc.Answer, row *analyze.Row) *analyze.SpanStat {
	if int(row.Func) < len(a.Spans) {
		if s := &a.Spans[row.Func]; s.Count > 0 {
			return s
		}
	}
	return nil
}

// cells are the texts of a row, for the screen or exact for a copy.
func cells(a *doc.Answer, row *analyze.Row, exact bool) []string {
	m := a.Metric()
	total := a.Tree.Nodes[0].Total
	value := func(v int64) string {
		if exact {
			return recording.Decimal{Mantissa: v, Scale: m.Decimals}.String()
		}
		return units.Value(v, m)
	}
	module := row.Module
	if !exact {
		module = shortModule(module)
	}
	cs := []string{row.Name, module, value(row.Self), units.Percent(row.Self, total), value(row.Total), units.Percent(row.Total, total), units.Count(row.Count)}
	if exact {
		cs[6] = strconv.FormatInt(row.Count, 10)
	}
	if a.Spans != nil {
		for _, of := range []func(*analyze.SpanStat) int64{(*analyze.SpanStat).Average, func(s *analyze.SpanStat) int64 { return s.Min }, func(s *analyze.SpanStat) int64 { return s.Max }} {
			c := ""
			if s := spanStat(a, row); s != nil && exact {
				c = recording.Decimal{Mantissa: of(s), Scale: 3}.String()
			} else if s != nil {
				c = units.Duration(of(s))
			}
			cs = append(cs, c)
		}
	}
	return cs
}

// heads are the titles of the columns; those without a sort are not clicked.
var tableHeads = []struct {
	title string
	by    column
	sorts bool
	width int // dp; 0 takes what is left
}{
	{"Function", byName, true, 0}, {"Module", 0, false, 130}, {"Self", bySelf, true, 92}, {"", 0, false, 60},
	{"Total", byTotal, true, 92}, {"", 0, false, 60}, {"Count", byCount, true, 84},
	{"Average", byAverage, true, 84}, {"Least", byLeast, true, 84}, {"Most", byMost, true, 84},
}

// text is the whole table, with tabs between columns, or as CSV.
func (t *tablePart) text(a *doc.Answer, csvForm bool) string {
	t.sorted(a)
	m := a.Metric()
	var b strings.Builder
	w := csv.NewWriter(&b)
	if !csvForm {
		w.Comma = '\t'
	}
	head := []string{"function", "module", "self (" + m.Unit + ")", "self %", "total (" + m.Unit + ")", "total %", "count"}
	if a.Spans != nil {
		head = append(head, "average (ns)", "least (ns)", "most (ns)")
	}
	w.Write(head)
	for i := range t.rows {
		w.Write(cells(a, &t.rows[i], true))
	}
	w.Flush()
	return b.String()
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
		case gMenu:
			t.menu(s, p, u, a, point(body.Min, t.at))
		}
	}
	t.scroll = max(0, min(t.scroll, most))
	cols := t.columns(u, r, len(tableHeads)-3*b2i(a.Spans == nil))
	t.head(u, r, cols)
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
			fn := recording.Function{Name: row.Name, Module: row.Module}
			if int(row.Func) < a.Rec.Functions.Len() {
				fn = a.Rec.Functions.At(int(row.Func))
			}
			u.Round(ui.Rect(u.Px(14), y+h/2-u.Px(4), u.Px(8), u.Px(8)), 2, th.Bar(&fn, s.Mode))
			for c, text := range cells(a, row, false) {
				st := ui.Style{Size: 12, Color: th.Text}
				if c == 1 || c == 3 || c >= 5 {
					st.Color = th.Dim
				}
				if c > 1 {
					st.Align = end
				}
				box := image.Rect(cols[c].Min.X-r.Min.X, y, cols[c].Max.X-r.Min.X, y+h)
				if c == 0 {
					text = s.fonts.face(12*u.Metric.PxPerDp).Fit(text, float32(box.Dx()-u.Px(2)))
				}
				u.Text(box, text, st)
			}
		}
	})
	t.area(u, body, pointer.CursorDefault)
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

// menu offers what can be done with the row under the pointer and the table.
func (t *tablePart) menu(s *Shell, p *pane, u *ui.UI, a *doc.Answer, at image.Point) {
	var items []item
	if i := (int(t.at.Y) + t.scroll) / u.Px(rowHeight); i >= 0 && i < len(t.rows) {
		row := t.rows[i]
		p.pickFunction(a, row.Func)
		items = append(items, item{title: "Copy name", do: func() { s.copyLater(row.Name) }})
		items = append(items, p.functionItems(s, recording.Function{Name: row.Name, Module: row.Module})...)
	}
	items = append(items,
		item{title: "Copy the table as text", do: func() { s.copyLater(t.text(a, false)) }},
		item{title: "Copy the table as CSV", do: func() { s.copyLater(t.text(a, true)) }})
	s.menu = newMenu(at, items)
}

// columns places n columns.
func (t *tablePart) columns(u *ui.UI, r image.Rectangle, n int) []image.Rectangle {
	rest := r.Dx() - u.Px(32+10)
	for _, h := range tableHeads[1:n] {
		rest -= u.Px(float32(h.width))
	}
	x := r.Min.X + u.Px(32)
	var cols []image.Rectangle
	for i, h := range tableHeads[:n] {
		px := u.Px(float32(h.width))
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
	for i, cell := range cols {
		c := &tableHeads[i]
		cell.Max.Y = r.Min.Y + h
		st := ui.Style{Size: 11.5, Weight: medium, Color: th.Dim}
		if i > 1 {
			st.Align = end
		}
		if c.sorts {
			clicked, hovered := t.heads[c.by].clicked(u, cell)
			if clicked {
				t.by, t.scroll = c.by, 0
			}
			if hovered || t.by == c.by {
				st.Color = th.Text
			}
			if t.by == c.by {
				u.Fill(image.Rect(cell.Min.X, r.Min.Y+h, cell.Max.X, r.Min.Y+h+u.Px(1.5)), th.Accent)
			}
		}
		u.Text(cell, c.title, st)
	}
	u.HLine(r.Min.X, r.Max.X, r.Min.Y+h+u.Px(2), th.Rule)
}
