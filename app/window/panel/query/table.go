package query

import (
	"cmp"
	"image"
	"slices"
	"strconv"

	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/window/panel"
	"ashlar/ingest/model/relation"
	"ashlar/ingest/query/sql"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// table draws the rows of an answer. Only visible rows are formatted.
type table struct {
	widget.List
	heads  []widget.ClickArea
	sheet  ui.Sheet
	row    int // the chosen row of the answer
	across int // how far the columns are scrolled to the left, in pixels
	widths []float32
	of     *answer // the answer that the widths and the order belong to
	by     int     // 1 + the column that rows are sorted by, negative if the largest comes first; 0 if the query sorts them
	order  []int32 // rows of the answer as they are listed, if by is not 0
}

// sortBy sorts rows by a column: numbers by the largest first and texts from A to Z, by a
// second call the other way round, and by a third as the query does.
func (t *table) sortBy(a *answer, column int) {
	first := column + 1
	if a.numeric[column] {
		first = -first
	}
	switch t.by {
	case first:
		t.by = -first
	case -first:
		t.by = 0
	default:
		t.by = first
	}
	t.Down, t.order = 0, t.order[:0]
	for i := range a.Rows {
		t.order = append(t.order, int32(i))
	}
	slices.SortFunc(t.order, func(x, y int32) int {
		c := a.Rows[x][column].Compare(a.Rows[y][column])
		if t.by < 0 {
			c = -c
		}
		return cmp.Or(c, cmp.Compare(x, y))
	})
}

// rowAt returns the row of the answer that is listed at a place, placeOf the place of a row.
func (t *table) rowAt(a *answer, place int) int {
	if t.by == 0 || t.of != a {
		return place
	}
	return int(t.order[place])
}

func (t *table) placeOf(a *answer, row int) int {
	if t.by == 0 || t.of != a {
		return row
	}
	return slices.Index(t.order, int32(row))
}

// cellText returns a value for people: times with units, other numbers as they are.
func cellText(column string, v relation.Value) string {
	unit := sql.TimeUnit(column)
	switch {
	case v.Null:
		return "NULL"
	case v.Type == relation.Integer && unit == 1:
		return units.Duration(v.Int)
	case v.Type == relation.Real:
		return strconv.FormatFloat(v.Real, 'g', 8, 64)
	}
	return v.String()
}

// measured is the number of rows whose texts are measured.
const measured = 60

func (t *table) measure(h *panel.Host, u *ui.UI, a *answer) {
	if t.of == a {
		return
	}
	if t.of != nil {
		t.row = min(t.row, max(0, len(a.Rows)-1))
	}
	t.of, t.by, t.widths = a, 0, nil
	face := h.Fonts.Regular(12 * u.Metric.PxPerDp)
	for c, name := range a.Columns {
		w := face.Measure(name) + 4
		for _, row := range a.Rows[:min(measured, len(a.Rows))] {
			w = max(w, face.Measure(cellText(name, row[c])))
		}
		t.widths = append(t.widths, min(420, max(40, w/u.Metric.PxPerDp+8)))
	}
}

// layout draws the rows. It calls lead with a clicked row, and menu with a place and the row
// whose menu is asked for.
func (t *table) layout(h *panel.Host, u *ui.UI, r image.Rectangle, a *answer, lead func(row int), menu func(at image.Point, row int)) {
	t.measure(h, u, a)
	line := u.Px(widget.RowHeight)
	body := image.Rect(r.Min.X, r.Min.Y+line, r.Max.X, r.Max.Y)
	t.events(u, body, line, a, lead, menu)
	th, pad := u.Theme, u.Px(16)
	all := 2 * pad
	for _, w := range t.widths {
		all += u.Px(w) + u.Px(14)
	}
	t.across = max(0, min(t.across, all-r.Dx()))
	face := h.Fonts.Regular(12 * u.Metric.PxPerDp)
	columns := func(draw func(c int, from, to int)) {
		x := pad - t.across
		for c, w := range t.widths {
			end := x + u.Px(w)
			if c == len(t.widths)-1 && !a.numeric[c] { // no column follows
				end = max(end, r.Dx()-pad)
			}
			if end > 0 && x < r.Dx() {
				draw(c, x, end)
			}
			x = end + u.Px(14)
		}
	}
	style := func(c int, st ui.Style) ui.Style {
		if a.numeric[c] {
			st.Align = ui.End
		}
		return st
	}
	for len(t.heads) < len(a.Columns) {
		t.heads = append(t.heads, widget.ClickArea{})
	}
	columns(func(c, from, to int) {
		if clicked, _ := t.heads[c].Clicked(u, image.Rect(from, 0, to, line).Add(r.Min).Intersect(r)); clicked {
			t.sortBy(a, c)
		}
	})
	u.At(image.Rect(r.Min.X, r.Min.Y, r.Max.X, body.Min.Y), func(u *ui.UI) {
		columns(func(c, from, to int) {
			by := max(t.by, -t.by) == c+1
			widget.Title{Text: a.Columns[c], Right: a.numeric[c], By: by, Turned: by && t.by > 0, Lit: t.heads[c].Inside}.Layout(u, image.Rect(from, 0, to, line-u.Px(2)))
		})
	})
	t.Rows(body, line, len(a.Rows), func(place int, at image.Rectangle) {
		i := t.rowAt(a, place)
		if colour, ok := t.Ground(u, at, i == t.row); ok {
			t.sheet.Fill(at, 0, colour)
		}
		columns(func(c, from, to int) {
			v := a.Rows[i][c]
			st := style(c, ui.Style{Size: 12, Color: th.Text})
			if v.Null {
				st.Color = th.Faint
			}
			t.sheet.Text(image.Rect(from, at.Min.Y, to, at.Max.Y), face.FitText(cellText(a.Columns[c], v), float32(to-from)), st)
		})
	})
	t.sheet.Show(u, body, th.Background)
	t.Area(u, body, pointer.CursorDefault)
}

// events handles gestures: clicks on rows, and scrolling in both directions.
func (t *table) events(u *ui.UI, body image.Rectangle, line int, a *answer, lead func(row int), menu func(at image.Point, row int)) {
	for {
		g, e, ok := t.Next(u, body.Min)
		if !ok {
			return
		}
		if g == widget.Wheeled {
			x, _ := widget.Notches(e)
			t.across += int(x * float32(u.Px(widget.RowsPerNotch)))
		}
		if g == widget.Dragged {
			t.across += int(t.Start.X - t.At.X)
		}
		if t.Scrolls(u, g, e, &t.Down) {
			continue
		}
		place := (int(t.At.Y) + t.Down) / line
		if t.At.Y < 0 || place < 0 || place >= len(a.Rows) {
			continue
		}
		row := t.rowAt(a, place)
		switch g {
		case widget.Clicked:
			t.row = row
			lead(row)
		case widget.MenuAsked:
			t.row = row
			menu(widget.Point(body.Min, t.At), row)
		}
	}
}

// mostCopied is the number of columns whose cells the menu of a row copies.
const mostCopied = 12

// items returns the menu of a row.
func (t *Panel) items(h *panel.Host, p *panel.Side, a *answer, row int) []widget.Item {
	var there, cells []widget.Item
	if a.leads.Any() {
		there = []widget.Item{{Title: "Go there", Detail: "Return", Do: func() { t.lead(p, a, row) }}}
	}
	for c := range a.Columns[:min(mostCopied, len(a.Columns))] {
		v := a.Rows[row][c].String()
		cells = append(cells, widget.Item{Title: "Copy " + a.Columns[c], Do: func() { h.CopyLater(v) }})
	}
	return widget.Grouped(there, cells, p.Actions.TableItems(), []widget.Item{p.Actions.CommandItem()})
}

// Menu opens the menu of the chosen row.
func (t *Panel) Menu(h *panel.Host, p *panel.Side, u *ui.UI) bool {
	a := t.shown(p)
	if a == nil || t.row >= len(a.Rows) {
		return false
	}
	h.Menu = widget.NewMenu(p.Bounds.Lower.Min.Add(image.Pt(u.Px(40), u.Px(120))), t.items(h, p, a, t.row))
	return true
}

// shown returns the answer whose rows are shown, nil for none.
func (t *Panel) shown(p *panel.Side) *answer {
	a, of, ok := t.work.Last()
	if !ok || a.err != nil || of.query != p.SQL || of.rec != p.Rec {
		return nil
	}
	return a
}

// Key moves among the rows; Return goes to what the chosen row is about, or to the text field
// if there are no rows. Up from the first row goes to the text field too. Escape cancels a
// running query. Ctrl-Return runs the query as in the text field.
func (t *Panel) Key(p *panel.Side, k key.Event, row int) bool {
	a := t.shown(p)
	n, place := 0, 0
	if a != nil && len(a.Rows) > 0 {
		n = len(a.Rows)
		place = t.placeOf(a, min(t.row, n-1))
	}
	switch {
	case (k.Name == key.NameReturn || k.Name == key.NameEnter) && k.Modifiers == key.ModShortcut:
		t.asks = true
		return true
	case k.Name == key.NameEscape && t.running != (asked{}):
		t.stop()
		return true
	case k.Modifiers == key.ModShift && (k.Name == key.NameLeftArrow || k.Name == key.NameRightArrow):
		if k.Name == key.NameLeftArrow {
			row = -row
		}
		t.across += 3 * row
		return true
	case k.Modifiers != 0:
		return false
	case (n == 0 || place == 0 && k.Name == key.NameUpArrow) && (k.Name == key.NameReturn || k.Name == key.NameUpArrow):
		t.focus = true
		return true
	case n == 0:
		return false
	case k.Name == key.NameReturn:
		t.lead(p, a, t.rowAt(a, place))
		return true
	}
	to, ok := t.List.Key(k, place, n)
	if ok {
		t.row = t.rowAt(a, to)
	}
	return ok
}

// Scroll returns the scroll position of the rows.
func (t *Panel) Scroll(*panel.Side) *int { return &t.Down }

// ScrollBy scrolls the rows by a number of pixels if the pointer is on them.
func (t *Panel) ScrollBy(_ *panel.Side, px int) bool {
	if t.table.Inside {
		t.Down += px
	}
	return t.table.Inside
}
