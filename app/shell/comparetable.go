package shell

import (
	"image"

	"gioui.org/io/pointer"

	"ashlar/app/session"
	"ashlar/ingest/compare"
	"ashlar/ingest/recording"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// differenceTable is the table of differences.
type differenceTable struct {
	widget.Drag
	scroll int
	differenceShape
	rows   []compare.Row
	of     tableKey
	sheet  ui.Sheet
	clicks [filterCount]widget.ClickArea
	heads  [differenceColumns]widget.ClickArea
}

// differenceShape is what a person chooses of the table.
type differenceShape struct {
	by       differenceColumn
	backward bool
	filters  tableFilters
}

type differenceColumn uint8

const (
	columnDifference differenceColumn = iota // by its size
	columnName
	columnModule
	columnA
	columnB
	columnChange
	columnShare
	columnSure
	columnOther
	differenceColumns
)

// layout draws the filters and the rows that are seen.
func (t *differenceTable) layout(s *Shell, c *comparison, u *ui.UI, r image.Rectangle) {
	a := c.answer()
	if a == nil || a.Table == nil {
		return
	}
	t.refresh(c, a)
	th := u.Theme
	h := u.Px(widget.RowHeight)
	top := t.drawFilters(u, a, r)
	body := image.Rect(r.Min.X, top+h+u.Px(4), r.Max.X, r.Max.Y)
	t.events(s, c, u, a, body)
	t.scroll = max(0, min(t.scroll, len(t.rows)*h-body.Dy()+h))
	cols := t.columns(u, r, moduled(a))
	t.head(c, u, a, top, r, cols)
	if len(t.rows) == 0 {
		text := "No differences."
		if t.filters != (tableFilters{}) {
			text = "No differences are left by these filters."
		}
		u.Text(body, text, ui.Style{Size: 13, Color: th.Dim, Align: ui.Middle})
	}
	total := c.options.Total
	for i := t.scroll / h; i < len(t.rows) && i*h-t.scroll < body.Dy(); i++ {
		t.row(s, c, u, a, &t.rows[i], ui.Rect(0, i*h-t.scroll, body.Dx(), h), r, cols, total)
	}
	t.sheet.Show(u, body, u.Theme.Background)
	t.Area(u, body, pointer.CursorDefault)
}

func (t *differenceTable) row(s *Shell, c *comparison, u *ui.UI, a *session.CompareAnswer, row *compare.Row, line, r image.Rectangle, cols []image.Rectangle, total bool) {
	th := u.Theme
	if c.isChosen(a, row) {
		t.sheet.Fill(line, 0, theme.WithAlpha(th.Accent, .16))
	} else if t.Inside && int(t.At.Y) >= line.Min.Y && int(t.At.Y) < line.Max.Y {
		t.sheet.Fill(line, 0, theme.WithAlpha(th.Text, .05))
	}
	va, vb := values(row, total)
	faint := noise(sureOf(row, total))
	t.sheet.Fill(ui.Rect(u.Px(14), line.Min.Y+line.Dy()/2-u.Px(4), u.Px(8), u.Px(8)), 1, c.rowColour(s, u, a, row))
	for k, text := range t.cells(a, row, total, false) {
		st := ui.Style{Size: 12, Color: th.Text}
		switch differenceHeads[k].by {
		case columnDifference, columnChange:
			st.Color = amount{sign: vb - va}.color(th.Dim, th.More(), th.Less())
		case columnModule, columnShare, columnSure, columnOther:
			st.Color = th.Dim
		}
		if faint {
			st.Color = theme.Mix(th.Dim, th.Faint, .6)
		}
		if k > 1 {
			st.Align = ui.End
		}
		box := image.Rect(cols[k].Min.X-r.Min.X, line.Min.Y, cols[k].Max.X-r.Min.X, line.Max.Y)
		if k == 0 {
			text = s.Fonts.Regular(12*u.Metric.PxPerDp).Fit(text, float32(box.Dx()-u.Px(2)))
		}
		t.sheet.Text(box, text, st)
	}
}

// rowColour is the colour of what a row stands for, as everywhere else.
func (c *comparison) rowColour(s *Shell, u *ui.UI, a *session.CompareAnswer, row *compare.Row) ui.Colour {
	fn := recording.Function{Name: row.Name, Module: row.Module}
	if a.Table.By == compare.ByFunction && row.Key >= 0 {
		fn = c.fn(a, row.Key)
	}
	return u.Theme.Bar(&fn, s.Mode)
}

// functionKey is the function of a row, -1 where it stands for something else.
func functionKey(a *session.CompareAnswer, row *compare.Row) int32 {
	switch {
	case row.Key < 0:
		return -1
	case a.Table.By == compare.ByFunction:
		return row.Key
	case a.Table.By == compare.ByStack:
		return a.Compared.Tree.Nodes[row.Key].Func
	}
	return -1
}

func (c *comparison) isChosen(a *session.CompareAnswer, row *compare.Row) bool {
	k := functionKey(a, row)
	return k >= 0 && c.chosen != nil && a.Compared.Tree.Funcs[k].FuncName == *c.chosen
}

func (t *differenceTable) events(s *Shell, c *comparison, u *ui.UI, a *session.CompareAnswer, body image.Rectangle) {
	h := u.Px(widget.RowHeight)
	at := func() *compare.Row {
		if i := (int(t.At.Y) + t.scroll) / h; i >= 0 && i < len(t.rows) {
			return &t.rows[i]
		}
		return nil
	}
	for {
		g, e, ok := t.Next(u, body.Min)
		if !ok {
			break
		}
		switch g {
		case widget.Wheeled:
			_, y := widget.Notches(e)
			t.scroll += int(y * float32(u.Px(widget.RowsPerNotch)))
		case widget.Dragged:
			t.scroll += int(t.Start.Y - t.At.Y)
			t.Start = t.At
		case widget.Clicked, widget.DoubleClicked:
			if row := at(); row != nil {
				c.chooseRow(a, row)
				if g == widget.DoubleClicked && functionKey(a, row) >= 0 {
					c.tab = compareDistribution
				}
			}
		case widget.MenuAsked:
			var items []widget.Item
			if row := at(); row != nil {
				c.chooseRow(a, row)
				name := row.Name
				items = append(items, widget.Item{Title: "Copy name", Do: func() { s.CopyLater(name) }})
				if k := functionKey(a, row); k >= 0 {
					items = append(items, c.functionItems(s, c.fn(a, k))...)
				}
			}
			items = append(items,
				widget.Item{Title: "Copy the table as text", Do: func() { s.copyTable(false) }},
				widget.Item{Title: "Copy the table as CSV", Do: func() { s.copyTable(true) }})
			s.Menu = widget.NewMenu(widget.Point(body.Min, t.At), items)
		}
	}
}

// chooseRow marks what a row stands for: its function, or its threads.
func (c *comparison) chooseRow(a *session.CompareAnswer, row *compare.Row) {
	if a.Table.By == compare.ByThread && c.knows(a) && row.Key >= 0 && int(row.Key) < len(a.Threads.Funcs) {
		for i, p := range c.panes {
			p.Scope.Tracks = []int{}
			if t := a.Threads.Funcs[row.Key].In[i]; t >= 0 {
				p.Scope.Tracks = []int{int(t)}
			}
		}
		c.alike = c.now()
		return
	}
	c.choose(a, functionKey(a, row))
	c.flame.node = -1
	if a.Table.By == compare.ByStack {
		c.flame.node = row.Key
	}
}

// drawFilters draws what rows can be filtered by, and how many are left; it
// returns where the table begins.
func (t *differenceTable) drawFilters(u *ui.UI, a *session.CompareAnswer, r image.Rectangle) int {
	th := u.Theme
	x, y := r.Min.X+u.Px(14), r.Min.Y+u.Px(6)
	for i, word := range filterWords {
		if i == filterSure && a.Method == compare.NoMethod {
			continue
		}
		st := ui.Style{Size: 11.5, Color: th.Dim, Align: ui.Middle}
		w := u.Measure(word, st).X + u.Px(20)
		box := ui.Rect(x, y, w, u.Px(22))
		clicked, hovered := t.clicks[i].Clicked(u, box)
		if clicked {
			t.filters[i] = !t.filters[i]
			t.scroll = 0
			t.refreshed()
		}
		if t.filters[i] {
			u.Round(box, 11, theme.WithAlpha(th.Accent, .22))
			st.Color = th.Text
		}
		border := th.Rule
		if hovered || t.filters[i] {
			border = th.Accent
		}
		u.Border(box, 11, 1, border)
		u.Text(box, word, st)
		x += w + u.Px(6)
		if i == filterGone {
			x += u.Px(10)
		}
	}
	text := units.Plural(int64(len(t.rows)), "difference")
	u.Text(image.Rect(x, y, r.Max.X-u.Px(14), y+u.Px(22)), text, ui.Style{Size: 11.5, Color: th.Dim, Align: ui.End})
	return y + u.Px(26)
}
