// Package functions implements the table of functions, modules, files or threads.
package functions

import (
	"cmp"
	"image"
	"math"

	"gioui.org/font"
	"gioui.org/io/key"
	"gioui.org/io/pointer"
	gio "gioui.org/widget"

	"ashlar/app/core/session"
	"ashlar/app/core/tables"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// Panel is the table of functions, modules, files or threads.
type Panel struct {
	panel.List[*panel.Side]
	TableShape
	Order Order

	groups     widget.Segments
	others     gio.Clickable
	heads      [ColumnCount]widget.ClickArea
	edges      [ColumnCount]widget.Drag
	from       float32              // a column's width when its edge was grabbed
	placed     [ColumnCount]float32 // dp, in the last frame
	needs      [ColumnCount]float32 // width that the texts need, in dp
	needsOf    needsKey
	more       widget.ClickArea
	picker     widget.ClickArea
	AskColumns bool // open the list of columns
	bar        widget.ScrollBar
	sheet      ui.Sheet
	Marked     string // the clicked row, if rows are not functions
}

// TableShape holds the user's choices for a table.
type TableShape struct {
	By        Column
	Ascending bool
	Hidden    ColumnSet
	Widths    [ColumnCount]float32 // dp; 0 for the default width
	Group     analyze.By
}

func newTableShape() TableShape {
	return TableShape{By: ColSelf, Hidden: HiddenColumns, Group: analyze.ByFunction}
}

const (
	tableLeft  = 32 // left edge of the names, in dp
	tableRight = 18 // space for the scroll bar, in dp
	leastWidth = 36
)

// Stop cancels the background work.
func (t *Panel) Stop() { t.Order.Stop() }

// Layout draws the table.
func (t *Panel) Layout(s *panel.Host, p *panel.Side, u *ui.UI, r image.Rectangle) {
	a := p.Doc.Answer()
	if a == nil {
		p.Wait(u, r)
		return
	}
	t.Order.Update(OrderKey{a, t.By, t.Ascending}, t.Down > 0, s.Do.Wake)
	if a = t.Order.Of; a == nil {
		return // the rows are still being sorted for the first time
	}
	r.Min.Y = t.choices(s, p, u, r)
	h := u.Px(widget.RowHeight)
	body := image.Rect(r.Min.X, r.Min.Y+h+u.Px(4), r.Max.X-u.Px(12), r.Max.Y)
	t.events(s, p, u, a, body)
	cs := t.columns(a)
	t.measure(s, u, a)
	boxes := t.place(u, r, cs)
	t.head(s, u, r, a, cs, boxes)
	t.Rows(body, h, len(t.Order.Rows), func(i int, at image.Rectangle) {
		t.row(s, p, u, a, &t.Order.Rows[i], cs, boxes, at, r.Min.X)
	})
	t.sheet.Show(u, body, u.Theme.Background)
	switch {
	case a.Ungrouped != nil:
		widget.Empty(u, body, "No rows", panel.Title1(a.Ungrouped.Error()))
	case len(t.Order.Rows) == 0 && p.Rec.Done:
		p.DrawEmpty(u, body)
	}
	t.Area(u, body, pointer.CursorDefault)
	t.bar.Layout(u, image.Rect(body.Max.X, body.Min.Y, r.Max.X, body.Max.Y), len(t.Order.Rows)*h+h, &t.Down, u.Theme.Rule, u.Theme.Faint)
}

// allRows returns the number of rows without a search. For threads it is the number of
// all threads, including those without cost.
func allRows(a *session.Answer) int {
	rows := a.TableRows()
	if a.By != analyze.ByThread {
		return len(rows)
	}
	has := map[int]bool{}
	for i := range rows {
		has[rows[i].Track] = true
	}
	all := len(rows)
	for i, t := range a.Rec.Tracks {
		if t.Kind == recording.ThreadTrack && !has[i] && a.Scope.HasTrack(i) {
			all++
		}
	}
	return all
}

// choices draws the groupings and the number of rows; it returns their bottom.
func (t *Panel) choices(s *panel.Host, p *panel.Side, u *ui.UI, r image.Rectangle) int {
	names, on := titlesOf(t.Group, categories(t.Order.Of))
	y := r.Min.Y + u.Px(5)
	if i := t.groups.Layout(u, r.Min.X+u.Px(8), y, names, on); i >= 0 && i != on {
		t.group(Groups[i].By)
	}
	x := r.Min.X + u.Px(12) + t.groups.Width(u, names)
	other, weight := cmp.Or(otherTitle(t.Group), "By label or argument"), font.Normal
	if on < 0 {
		weight = font.Medium
	}
	if w := u.ChoiceWidth(nil, other, weight); x+w < r.Max.X {
		if x += u.Choice(&t.others, x, y-u.Px(2), other, weight); t.others.Clicked(u.Context) {
			t.ChooseGroup(s, p)
		}
	}
	a := t.Order.Of
	n := units.Count(int64(len(t.Order.Rows)))
	if all := allRows(a); all != len(t.Order.Rows) {
		n += " of " + units.Count(int64(all))
	}
	if t.Order.busy {
		n = "sorting…"
	}
	st := ui.Style{Size: 12, Color: u.Theme.Dim, Align: ui.End}
	right := r.Max.X - u.Px(tableRight)
	box := image.Rect(right-u.Measure("Columns", st).X-u.Px(10), y, right, y+u.Px(22))
	hidden := box.Min.X < x // no room beside the groupings, as at a large scale
	clicked, hovered := false, false
	if !hidden {
		clicked, hovered = t.picker.Clicked(u, box)
	}
	if clicked || t.AskColumns {
		t.AskColumns = false
		s.Menu = widget.NewMenu(image.Pt(box.Min.X-u.Px(60), box.Max.Y), t.columnItems(s, a))
	}
	if hidden {
		return y + u.Px(24)
	}
	look := st
	if hovered {
		look.Color = u.Theme.Text
	}
	u.Text(box, "Columns", look)
	u.Text(image.Rect(x, y, box.Min.X-u.Px(10), y+u.Px(22)), n, st)
	return y + u.Px(24)
}

func (t *Panel) events(s *panel.Host, p *panel.Side, u *ui.UI, a *session.Answer, body image.Rectangle) {
	t.Events(u, body, u.Px(widget.RowHeight), len(t.Order.Rows), func(g widget.Gesture, i int) {
		var row *analyze.Row
		if i >= 0 {
			row = &t.Order.Rows[i]
		}
		switch g {
		case widget.Clicked:
			t.choose(p, a, row)
		case widget.DoubleClicked:
			if row != nil && a.ByFunction() {
				t.choose(p, a, row)
				p.Tab = panel.Callers
			}
		case widget.MenuAsked:
			t.choose(p, a, row)
			t.menu(s, p, a, row, widget.Point(body.Min, t.At))
		}
	})
}

// choose selects a row; a function is selected everywhere.
func (t *Panel) choose(p *panel.Side, a *session.Answer, r *analyze.Row) {
	switch {
	case r == nil:
	case a.ByFunction():
		p.PickFunction(a, r.Func)
	default:
		t.Marked = r.Name
	}
}

func (t *Panel) row(s *panel.Host, p *panel.Side, u *ui.UI, a *session.Answer, row *analyze.Row, cs []Column, boxes []image.Rectangle, line image.Rectangle, left int) {
	th := u.Theme
	chosen := a.ByFunction() && p.Pick.Kind != panel.PickNone && p.Pick.Fn == row.Func || !a.ByFunction() && t.Marked == row.Name
	if c, ok := t.Ground(u, line, chosen); ok {
		t.sheet.Fill(line, 0, c)
	}
	if c, ok := t.Colour(s, p, a, row); ok {
		t.sheet.Fill(ui.Rect(u.Px(14), line.Min.Y+line.Dy()/2-u.Px(4), u.Px(8), u.Px(8)), 1, c)
	}
	for i, c := range cs {
		info := &ColumnInfos[c]
		st := ui.Style{Size: 12, Color: th.Text}
		if info.dim {
			st.Color = th.Dim
		}
		text := c.cell(a, row, false)
		if info.right {
			st.Align = ui.End
		}
		box := image.Rect(boxes[i].Min.X-left, line.Min.Y, boxes[i].Max.X-left, line.Max.Y)
		if c == ColSelf || c == ColTotal { // a faint bar for its share
			share := float64(max(0, info.Number(a, row))) / float64(max(1, a.Tree.Nodes[0].Total))
			t.sheet.Fill(image.Rect(box.Min.X, box.Min.Y+u.Px(4), box.Min.X+int(min(1, share)*float64(box.Dx())), box.Max.Y-u.Px(4)), 0, theme.WithAlpha(th.Accent, .16))
		}
		if c == ColName {
			face, room := s.Fonts.Regular(12*u.Metric.PxPerDp), float32(box.Dx()-u.Px(2))
			if text = face.FitText(text, room); a.By == analyze.ByFunction || a.By == analyze.ByName {
				text = face.Fit(row.Name, room)
			}
		}
		t.sheet.Text(box, text, st)
	}
}

// Colour returns the colour of a row, the same as that of its bars.
func (t *Panel) Colour(s *panel.Host, p *panel.Side, a *session.Answer, row *analyze.Row) (ui.Colour, bool) {
	switch a.By {
	case analyze.ByFile, analyze.ByThread, analyze.ByPackage, analyze.ByName:
		return ui.Colour{}, false
	case analyze.ByState, analyze.ByFunction:
		return p.Swatch(a, row), true
	case analyze.ByModule:
		return s.Theme.Bar(&recording.Function{Module: row.Name}, s.Mode), true
	}
	return ui.Colour{}, false
}

// menu opens the context menu of a row and the table.
func (t *Panel) menu(s *panel.Host, p *panel.Side, a *session.Answer, row *analyze.Row, at image.Point) {
	var items []widget.Item
	if row != nil {
		name := row.Name
		items = append(items, widget.Item{Title: "Copy name", Do: func() { s.CopyLater(name) }})
		switch {
		case a.ByFunction():
			items = append(items, p.Actions.FunctionItems(row.Function(a.Rec))...)
		case a.By == analyze.ByThread:
			if i := row.Track; i >= 0 {
				items = append(items, widget.Item{Title: "Select this " + p.Rec.ThreadWord(i), Do: func() { p.Scope.Tracks = []int{i} }},
					widget.Item{Title: "Select all " + p.Rec.ThreadWord(i) + "s", Do: func() { p.Scope.Tracks = nil }})
			}
		case a.By == analyze.ByName: // names are neither arguments nor labels
		default:
			items = append(items, valueItems(p, a.By, name)...)
		}
	}
	s.Menu = widget.NewMenu(at, widget.Grouped(items, append(p.Actions.TableItems(), p.Actions.CommandItem())))
}

// Key moves through the rows; Return shows the callers and callees.
func (t *Panel) Key(p *panel.Side, k key.Event, _ int) bool {
	a := t.Order.Of
	if a == nil || len(t.Order.Rows) == 0 {
		return false
	}
	at := t.chosen(p)
	if k.Name == key.NameReturn && k.Modifiers == 0 && at >= 0 && a.ByFunction() {
		p.Tab = panel.Callers
		return true
	}
	to, ok := t.List.Key(k, at, len(t.Order.Rows))
	if ok {
		t.choose(p, a, &t.Order.Rows[to])
	}
	return ok
}

// chosen returns the index of the selected row, -1 for none.
func (t *Panel) chosen(p *panel.Side) int {
	a := t.Order.Of
	for i := range t.Order.Rows {
		r := &t.Order.Rows[i]
		if a.ByFunction() && p.Pick.Kind != panel.PickNone && p.Pick.Fn == r.Func || !a.ByFunction() && t.Marked == r.Name {
			return i
		}
	}
	return -1
}

// Ask asks for the rows.
func (t *Panel) Ask(p *panel.Side, q *session.Question) { q.Stats, q.By = true, t.Group }

// Menu opens the context menu of the selected row.
func (t *Panel) Menu(s *panel.Host, p *panel.Side, u *ui.UI) bool {
	if i := t.chosen(p); i >= 0 {
		h := u.Px(widget.RowHeight)
		t.menu(s, p, t.Order.Of, &t.Order.Rows[i], p.Bounds.Lower.Min.Add(image.Pt(u.Px(60), 2*h+i*h-t.Down+h/2)))
	}
	return true
}

// Table returns the whole table, filtered by the search and sorted.
func (t *Panel) Table(p *panel.Side) func() *tables.Grid {
	a, shape := p.Doc.Answer(), t.TableShape
	return func() *tables.Grid {
		if a == nil {
			return nil
		}
		d := arrange(OrderKey{a, shape.By, shape.Ascending}, math.MaxInt)
		return TableGrid(a, d.Rows, columnsOf(a, shape.Hidden, d))
	}
}
