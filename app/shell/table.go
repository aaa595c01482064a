package shell

import (
	"image"

	"gioui.org/io/event"
	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/session"
	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// tablePart is the table of functions, modules, files or threads.
type tablePart struct {
	widget.Drag
	scroll int
	tableShape
	order order

	groups widget.Segments
	heads  [columnCount]widget.ClickArea
	edges  [columnCount]widget.Drag
	from   float32 // a column's width when its edge was grabbed
	more   widget.ClickArea
	picker widget.ClickArea
	ask    bool // the columns are to be chosen
	bar    widget.Drag
	sheet  ui.Sheet
	marked string // the row that was clicked, where rows are no functions
}

// tableShape is what a person chooses of a table.
type tableShape struct {
	by        column
	ascending bool
	hidden    columnSet
	widths    [columnCount]float32 // dp; 0 as it comes
	group     analyze.By
}

func newTableShape() tableShape {
	return tableShape{by: colSelf, hidden: hiddenColumns, group: analyze.ByFunction}
}

const (
	tableLeft  = 32 // where names begin
	tableRight = 18 // kept for the scroll bar
	leastWidth = 36
)

// tableGroups are what rows may stand for.
var (
	tableGroups     = []analyze.By{analyze.ByFunction, analyze.ByModule, analyze.ByFile, analyze.ByThread}
	tableGroupNames = []string{"Functions", "Modules", "Files", "Threads"}
)

// Layout draws the table.
func (t *tablePart) Layout(s *Host, p *Side, u *ui.UI, r image.Rectangle) {
	a := p.doc.Answer()
	if a == nil {
		return
	}
	t.order.update(orderKey{a, t.by, t.ascending}, s.Do.Wake)
	if a = t.order.of; a == nil {
		return // the first rows are being sorted
	}
	r.Min.Y = t.choices(s, u, r)
	h := u.Px(widget.RowHeight)
	body := image.Rect(r.Min.X, r.Min.Y+h+u.Px(4), r.Max.X-u.Px(12), r.Max.Y)
	t.events(s, p, u, a, body)
	t.scroll = max(0, min(t.scroll, len(t.order.rows)*h-body.Dy()+h))
	cs := t.columns(a)
	boxes := t.place(u, r, cs)
	t.head(s, u, r, a, cs, boxes)
	for i := t.scroll / h; i < len(t.order.rows) && i*h-t.scroll < body.Dy(); i++ {
		t.row(s, p, u, a, &t.order.rows[i], cs, boxes, ui.Rect(0, i*h-t.scroll, body.Dx(), h), r.Min.X)
	}
	t.sheet.Show(u, body, u.Theme.Background)
	t.Area(u, body, pointer.CursorDefault)
	t.scrollBar(u, image.Rect(body.Max.X, body.Min.Y, r.Max.X, body.Max.Y), h)
}

// choices draws what rows may be and how many there are; it returns where that
// ends.
func (t *tablePart) choices(s *Host, u *ui.UI, r image.Rectangle) int {
	on := 0
	for i, g := range tableGroups {
		if g == t.group {
			on = i
		}
	}
	y := r.Min.Y + u.Px(5)
	if i := t.groups.Layout(u, r.Min.X+u.Px(8), y, tableGroupNames, on); i >= 0 && i != on {
		t.group, t.scroll, t.marked = tableGroups[i], 0, ""
	}
	x := r.Min.X + u.Px(8) + t.groups.Width(u, tableGroupNames)
	a := t.order.of
	n := units.Count(int64(len(t.order.rows)))
	if all := len(a.TableRows()); all != len(t.order.rows) {
		n += " of " + units.Count(int64(all))
	}
	if t.order.busy {
		n = "sorting…"
	}
	st := ui.Style{Size: 12, Color: u.Theme.Dim, Align: ui.End}
	right := r.Max.X - u.Px(tableRight)
	box := image.Rect(right-u.Measure("Columns", st).X-u.Px(10), y, right, y+u.Px(22))
	clicked, hovered := t.picker.Clicked(u, box)
	if clicked || t.ask {
		t.ask = false
		s.menu = widget.NewMenu(image.Pt(box.Min.X-u.Px(60), box.Max.Y), t.columnItems(s, a))
	}
	look := st
	if hovered {
		look.Color = u.Theme.Text
	}
	u.Text(box, "Columns", look)
	u.Text(image.Rect(x, y, box.Min.X-u.Px(10), y+u.Px(22)), n, st)
	return y + u.Px(24)
}

func (t *tablePart) events(s *Host, p *Side, u *ui.UI, a *session.Answer, body image.Rectangle) {
	h := u.Px(widget.RowHeight)
	for {
		g, e, ok := t.Next(u, body.Min)
		if !ok {
			return
		}
		row := func() *analyze.Row {
			if i := (int(t.At.Y) + t.scroll) / h; i >= 0 && i < len(t.order.rows) {
				return &t.order.rows[i]
			}
			return nil
		}
		switch g {
		case widget.Wheeled:
			_, y := widget.Notches(e)
			t.scroll += int(y * float32(u.Px(widget.RowsPerNotch)))
		case widget.Dragged:
			t.scroll += int(t.Start.Y - t.At.Y)
			t.Start = t.At
		case widget.Clicked:
			t.choose(p, a, row())
		case widget.DoubleClicked:
			if r := row(); r != nil && a.ByFunction() {
				t.choose(p, a, r)
				p.Tab = tabNear
			}
		case widget.MenuAsked:
			t.choose(p, a, row())
			t.menu(s, p, a, row(), widget.Point(body.Min, t.At))
		}
	}
}

// choose marks a row: of a function, everywhere.
func (t *tablePart) choose(p *Side, a *session.Answer, r *analyze.Row) {
	switch {
	case r == nil:
	case a.ByFunction():
		p.pickFunction(a, r.Func)
	default:
		t.marked = r.Name
	}
}

func (t *tablePart) row(s *Host, p *Side, u *ui.UI, a *session.Answer, row *analyze.Row, cs []column, boxes []image.Rectangle, line image.Rectangle, left int) {
	th := u.Theme
	chosen := a.ByFunction() && p.pick.is != pickNone && p.pick.fn == row.Func || !a.ByFunction() && t.marked == row.Name
	switch {
	case chosen:
		t.sheet.Fill(line, 0, theme.WithAlpha(th.Accent, .16))
	case t.Inside && int(t.At.Y) >= line.Min.Y && int(t.At.Y) < line.Max.Y:
		t.sheet.Fill(line, 0, theme.WithAlpha(th.Text, .05))
	}
	if c, ok := t.colour(s, p, a, row); ok {
		t.sheet.Fill(ui.Rect(u.Px(14), line.Min.Y+line.Dy()/2-u.Px(4), u.Px(8), u.Px(8)), 1, c)
	}
	for i, c := range cs {
		info := &columnInfos[c]
		st := ui.Style{Size: 12, Color: th.Text}
		if info.dim {
			st.Color = th.Dim
		}
		text := c.cell(a, row, false)
		if info.right {
			st.Align = ui.End
		}
		box := image.Rect(boxes[i].Min.X-left, line.Min.Y, boxes[i].Max.X-left, line.Max.Y)
		if c == colName {
			text = s.fonts.Regular(12*u.Metric.PxPerDp).Fit(text, float32(box.Dx()-u.Px(2)))
		}
		t.sheet.Text(box, text, st)
	}
}

// colour is that of the bars of what a row stands for.
func (t *tablePart) colour(s *Host, p *Side, a *session.Answer, row *analyze.Row) (ui.Colour, bool) {
	switch a.By {
	case analyze.ByFile, analyze.ByThread:
		return ui.Colour{}, false
	case analyze.ByModule:
		return s.Theme.Bar(&recording.Function{Module: row.Name}, s.Mode), true
	}
	return p.swatch(a, row), true
}

// menu offers what can be done with a row and the table.
func (t *tablePart) menu(s *Host, p *Side, a *session.Answer, row *analyze.Row, at image.Point) {
	var items []widget.Item
	if row != nil {
		name := row.Name
		items = append(items, widget.Item{Title: "Copy name", Do: func() { s.copyLater(name) }})
		switch {
		case a.ByFunction():
			items = append(items, p.acts.functionItems(row.Function(a.Rec))...)
		case a.By == analyze.ByThread:
			if i := row.Track; i >= 0 {
				items = append(items, widget.Item{Title: "Select only this thread", Do: func() { p.Scope.Tracks = []int{i} }},
					widget.Item{Title: "Select all threads", Do: func() { p.Scope.Tracks = nil }})
			}
		default:
			t := analyze.Only(name)
			items = append(items, widget.Item{Title: "Only stacks with it", On: p.has(t), Do: func() { p.transform(t) }})
			if a.By == analyze.ByModule {
				c := analyze.CollapseModule(name)
				items = append(items, widget.Item{Title: "Collapse it", On: p.has(c), Do: func() { p.transform(c) }})
			}
			items = append(items, widget.Item{Title: "Search for it", Do: func() { p.lookFor(name) }})
		}
	}
	items = append(items, p.acts.tableItems()...)
	s.menu = widget.NewMenu(at, append(items, p.acts.commandItem()))
}

// scrollBar shows which part of the rows is seen; it can be dragged.
func (t *tablePart) scrollBar(u *ui.UI, r image.Rectangle, h int) {
	all := len(t.order.rows)*h + h
	most := all - r.Dy()
	if most <= 0 {
		return
	}
	size := max(u.Px(28), r.Dy()*r.Dy()/all)
	for {
		g, _, ok := t.bar.Next(u, r.Min)
		if !ok {
			break
		}
		if g == widget.Pressed || g == widget.Dragged {
			t.scroll = int(float64(t.bar.At.Y-float32(size)/2) / float64(max(1, r.Dy()-size)) * float64(most))
		}
	}
	t.scroll = max(0, min(t.scroll, most))
	y := r.Min.Y + int(float64(t.scroll)/float64(most)*float64(r.Dy()-size))
	c := u.Theme.Rule
	if t.bar.Inside || t.bar.Pressed {
		c = u.Theme.Faint
	}
	u.Round(ui.Rect(r.Min.X+u.Px(3), y, u.Px(6), size), 3, c)
	t.bar.Area(u, r, pointer.CursorDefault)
}

// Key moves through the rows; Return shows the callers and callees.
func (t *tablePart) Key(p *Side, k key.Event, h int) bool {
	a := t.order.of
	if a == nil || len(t.order.rows) == 0 {
		return false
	}
	at := t.chosen(p)
	if k.Name == key.NameReturn && k.Modifiers == 0 && at >= 0 && a.ByFunction() {
		p.Tab = tabNear
		return true
	}
	height := p.bounds.lower.Dy() - 2*h - 8
	to, ok := widget.RowKey(at, k, len(t.order.rows), height/h)
	if ok {
		t.choose(p, a, &t.order.rows[to])
		widget.ScrollInto(&t.scroll, to, h, height-h)
	}
	return ok
}

// chosen is the row that is marked, -1 for none.
func (t *tablePart) chosen(p *Side) int {
	a := t.order.of
	for i := range t.order.rows {
		r := &t.order.rows[i]
		if a.ByFunction() && p.pick.is != pickNone && p.pick.fn == r.Func || !a.ByFunction() && t.marked == r.Name {
			return i
		}
	}
	return -1
}

// Ask asks for the rows.
func (t *tablePart) Ask(p *Side, q *session.Question) { q.Stats, q.By = true, t.group }

// Scroll is how far rows are scrolled.
func (t *tablePart) Scroll(*Side) *int { return &t.scroll }

// ScrollBy moves the rows up by some pixels where the pointer is on them.
func (t *tablePart) ScrollBy(_ *Side, px int) bool {
	if t.Inside {
		t.scroll += px
	}
	return t.Inside
}

// Areas are where a press gives it the keyboard.
func (t *tablePart) Areas() []event.Tag { return []event.Tag{&t.Drag} }

// Menu opens the menu of the row that is marked.
func (t *tablePart) Menu(s *Host, p *Side, u *ui.UI) bool {
	if i := t.chosen(p); i >= 0 {
		h := u.Px(widget.RowHeight)
		t.menu(s, p, t.order.of, &t.order.rows[i], p.bounds.lower.Min.Add(image.Pt(u.Px(60), 2*h+i*h-t.scroll+h/2)))
	}
	return true
}

// Table is the whole table, as it is sorted and searched.
func (t *tablePart) Table(p *Side) func() *Grid {
	a, shape := p.doc.Answer(), t.tableShape
	return func() *Grid {
		if a == nil {
			return nil
		}
		d := arrange(orderKey{a, shape.by, shape.ascending})
		return tableGrid(a, d.rows, columnsOf(a, shape.hidden, d.modules))
	}
}
