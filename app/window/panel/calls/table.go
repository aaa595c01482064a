package calls

import (
	"context"
	"image"
	"slices"
	"strings"

	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/core/session"
	"ashlar/app/core/tables"
	"ashlar/app/core/view"
	"ashlar/app/core/waitreport"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/calls"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// table draws the rows. Only visible rows are formatted.
type table struct {
	widget.List
	heads  []widget.ClickArea
	last   int // the row last selected or gone to
	sheet  ui.Sheet
	widths map[string]float32 // width that a column's texts need, in dp
	of     *session.CallList  // the list that the widths belong to
	later  session.Async[rowsOf, []calls.Detail]
	first  session.Async[pageOf, *session.CallList]
}

// pageOf identifies the first rows of a list in another order.
type pageOf struct {
	list *session.CallList
	by   string
}

// shown returns the list of an answer. While many rows are sorted in another order, it
// returns a list of the first of them once they are found, unless the rows are scrolled.
// Without wake, it does not look for them.
func (t *table) shown(p *panel.Side, a *session.Answer, wake func()) *session.CallList {
	l, by := a.List, p.List.By
	compare := calls.Order(a.Rec, by)
	if a.ListedBy == by || compare == nil || l.Longest || len(l.Rows) <= session.ManyRows || t.Down > 0 {
		return l
	}
	k := pageOf{l, by}
	if wake != nil {
		t.first.Ask(k, wake, func(ctx context.Context) (*session.CallList, error) {
			page := *l
			page.Rows = nil
			at := make([]int32, len(l.Rows))
			for i := range at {
				at[i] = int32(i)
			}
			for _, i := range session.SortFirst(at, session.FirstPage, func(x, y int32) int { return compare(&l.Rows[x], &l.Rows[y]) }) {
				page.Rows = append(page.Rows, l.Rows[i])
			}
			var err error
			page.First, err = calls.Details(ctx, a.Rec, page.Rows)
			return &page, err
		})
	}
	if page, of, ok := t.first.Last(); ok && of == k {
		return page
	}
	return l
}

// rowsOf identifies a section of a list's rows; it begins at a multiple of block.
type rowsOf struct {
	list *session.CallList
	from int
}

// block is the number of rows that are read at a time; another block is read ahead.
const block = 256

// read reads the details of the rows beginning at from in the background, unless the list
// has them: a file may be larger than memory, and frames must not wait for it.
func (t *table) read(s *panel.Host, p *panel.Side, l *session.CallList, from int) {
	if len(l.Rows) <= len(l.First) {
		return
	}
	of := rowsOf{l, from / block * block}
	rec, rows := p.Rec, l.Rows[min(of.from, len(l.Rows)):min(of.from+2*block, len(l.Rows))]
	t.later.Ask(of, s.Do.Wake, func(ctx context.Context) ([]calls.Detail, error) {
		return calls.Details(ctx, rec, rows)
	})
}

// detail returns a row with the details that have been read.
func (t *table) detail(l *session.CallList, i int) *calls.Detail {
	if i < len(l.First) {
		return &l.First[i]
	}
	if later, of, ok := t.later.Last(); ok && of.list == l && i >= of.from && i < of.from+len(later) {
		return &later[i-of.from]
	}
	return &calls.Detail{Row: &l.Rows[i]}
}

// column describes a column of the table.
type column struct {
	key, title string
	right      bool
	cell       func(r *calls.Detail) string
	fixed      bool // rows cannot be sorted by it
}

// allColumns returns the available columns: first those of every call, then the arguments
// that occur.
func allColumns(p *panel.Side, l *session.CallList) []column {
	rec := p.Rec
	time := func(of func(*calls.Detail) int64) func(*calls.Detail) string {
		return func(r *calls.Detail) string { return units.Duration(of(r)) }
	}
	cs := []column{
		{key: calls.ByStart, title: "start", right: true, cell: time(func(r *calls.Detail) int64 { return r.Start - rec.Start })},
		{key: calls.ByDuration, title: "duration", right: true, cell: func(r *calls.Detail) string {
			if r.Unfinished {
				return "≥ " + units.Duration(r.Duration)
			}
			return units.Duration(r.Duration)
		}},
	}
	states := len(l.Rows) > 0 && l.Rows[0].Lane == recording.StateLane
	if !states {
		cs = append(cs, column{key: calls.BySelf, title: "self", right: true, cell: time(func(r *calls.Detail) int64 { return r.Self })})
	}
	if l.CPU {
		known := func(of func(*calls.Detail) int64) func(*calls.Detail) string {
			return func(r *calls.Detail) string {
				if !r.HasCPU {
					return "–"
				}
				return units.Duration(of(r))
			}
		}
		cs = append(cs, column{key: calls.ByCPU, title: "CPU", right: true, cell: known(func(r *calls.Detail) int64 { return r.CPU })},
			column{key: calls.ByWaiting, title: "off CPU", right: true, cell: known((*calls.Detail).Waiting)})
	}
	if len(listed(p).Functions) != 1 {
		cs = append(cs, column{key: calls.ByFunction, title: "function", cell: func(r *calls.Detail) string { return rec.FuncName(r.Call) }})
	}
	cs = append(cs, column{key: calls.ByThread, title: rec.ThreadWord(recording.NoTrack), cell: func(r *calls.Detail) string { return threadOf(rec, r.Track) }})
	if states {
		for _, c := range waitreport.Cells {
			cs = append(cs, column{key: c.Name, title: c.Name, fixed: true, cell: func(r *calls.Detail) string { return c.Text(rec, r.Row) }})
		}
	}
	for _, k := range l.Keys {
		cs = append(cs, column{key: k, title: k, cell: func(r *calls.Detail) string { return r.Arg(k) }})
	}
	return cs
}

// threadOf returns the name of a thread, followed by its process if there are several:
// threads of different processes often have the same name.
func threadOf(rec *recording.Recording, track int) string {
	t := rec.Tracks[track]
	name := t.Label()
	if pr := &rec.Processes[t.Process]; len(rec.Processes) > 1 {
		if of := strings.TrimSpace(pr.Title() + " " + recording.IDText(pr.PID)); of != "" {
			return name + " · " + of
		}
	}
	return name
}

// columns returns the visible columns.
func columns(p *panel.Side, l *session.CallList) []column {
	cs := allColumns(p, l)
	if p.List.Columns == nil {
		return cs
	}
	return slices.DeleteFunc(cs, func(c column) bool { return !slices.Contains(p.List.Columns, c.key) })
}

// columnItems returns the menu items that show and hide columns.
func (t *table) columnItems(p *panel.Side, l *session.CallList) (items []widget.Item) {
	var on []string
	for _, c := range columns(p, l) {
		on = append(on, c.key)
	}
	const most = 24 // maximum number that fits in a menu
	for _, c := range allColumns(p, l) {
		if len(items) == most {
			break
		}
		is := slices.Contains(on, c.key)
		items = append(items, widget.Item{Title: c.title, On: is, Do: func() {
			if is {
				p.List.Columns = slices.DeleteFunc(slices.Clone(on), func(k string) bool { return k == c.key })
			} else {
				p.List.Columns = append(slices.Clone(on), c.key)
			}
		}})
	}
	if p.List.Columns != nil {
		items = widget.Grouped(items, []widget.Item{{Title: "All columns", Do: func() { p.List.Columns = nil }}})
	}
	return items
}

// measured is the number of rows whose texts are measured.
const measured = 60

// measure finds the width that each column's texts need.
func (t *table) measure(s *panel.Host, p *panel.Side, u *ui.UI, l *session.CallList) {
	if t.of == l {
		return
	}
	t.of, t.widths = l, map[string]float32{}
	face := s.Fonts.Regular(12 * u.Metric.PxPerDp)
	for _, c := range allColumns(p, l) {
		w := face.Measure(c.title) + 4
		for i := range l.Rows[:min(measured, len(l.Rows))] {
			w = max(w, face.Measure(c.cell(t.detail(l, i))))
		}
		t.widths[c.key] = min(260, max(48, w/u.Metric.PxPerDp+8))
	}
}

// layout draws the rows and handles events on them.
func (t *table) layout(s *panel.Host, p *panel.Side, u *ui.UI, l *session.CallList, r image.Rectangle) {
	h := u.Px(widget.RowHeight)
	body := image.Rect(r.Min.X, r.Min.Y+h, r.Max.X, r.Max.Y)
	if l.Rows == nil {
		widget.Empty(u, body, "Too many calls to list", "Filter the calls, or select a time or a thread. The histogram shows all calls")
		return
	}
	t.events(s, p, u, l, body, h)
	th := u.Theme
	t.measure(s, p, u, l)
	cs := columns(p, l)
	x := r.Min.X + u.Px(16)
	boxes := make([]image.Rectangle, 0, len(cs))
	for i, c := range cs {
		end := r.Max.X - u.Px(8)
		box := image.Rect(x, r.Min.Y, min(x+u.Px(t.widths[c.key]), end), r.Min.Y+h)
		if i == len(cs)-1 && !c.right { // no column follows
			box.Max.X = end
		}
		if box.Dx() < u.Px(40) {
			break
		}
		boxes = append(boxes, box)
		x = box.Max.X + u.Px(14)
	}
	t.head(p, u, cs, boxes)
	marks := [2]func(*calls.Row) bool{taken(p, sets(p)[0]), taken(p, sets(p)[1])}
	face := s.Fonts.Regular(12 * u.Metric.PxPerDp)
	t.read(s, p, l, t.Down/max(1, h))
	t.Rows(body, h, len(l.Rows), func(i int, line image.Rectangle) {
		row := t.detail(l, i)
		for side, is := range marks {
			if is(row.Row) {
				t.sheet.Fill(line, 0, theme.WithAlpha(setColour(u, p, side), .1))
			}
		}
		if c, ok := t.Ground(u, line, isPicked(p, row.Row)); ok {
			t.sheet.Fill(line, 0, c)
		}
		for k, box := range boxes {
			st := ui.Style{Size: 12, Color: th.Text}
			if cs[k].right {
				st.Align = ui.End
			}
			to := image.Rect(box.Min.X-body.Min.X, line.Min.Y, box.Max.X-body.Min.X, line.Max.Y)
			fit := face.FitText
			if cs[k].key == calls.ByFunction {
				fit = face.Fit
			}
			t.sheet.Text(to, fit(cs[k].cell(row), float32(to.Dx())), st)
		}
	})
	t.sheet.Show(u, body, th.Background)
	t.Area(u, body, pointer.CursorDefault)
}

// isPicked reports whether a row's call is selected.
func isPicked(p *panel.Side, r *calls.Row) bool {
	h := &p.Pick.Hit
	return p.Pick.Kind == panel.PickBar && h.Track == r.Track && h.Lane == r.Lane && h.Span == r.Span
}

// head draws the column titles; a click sorts by a column.
func (t *table) head(p *panel.Side, u *ui.UI, cs []column, boxes []image.Rectangle) {
	for len(t.heads) < len(boxes) {
		t.heads = append(t.heads, widget.ClickArea{})
	}
	for i, box := range boxes {
		c := &cs[i]
		clicked, hovered := t.heads[i].Clicked(u, box)
		by, back := strings.CutPrefix(p.List.By, "-")
		on := by == c.key || by == "" && c.key == calls.ByDuration
		box.Max.Y -= u.Px(2)
		widget.Title{Text: c.title, Right: c.right, By: on, Turned: back, Lit: hovered}.Layout(u, box)
		switch {
		case c.fixed:
		case clicked && on && !back:
			p.List.By, t.Down = "-"+c.key, 0
		case clicked:
			p.List.By, t.Down = c.key, 0
		}
	}
}

// taken returns a function that reports whether a row belongs to a set of the listed
// calls.
func taken(p *panel.Side, q *calls.Query) func(*calls.Row) bool {
	if q == nil {
		return func(*calls.Row) bool { return false }
	}
	at := map[calls.Place]bool{}
	for _, x := range q.At {
		at[x] = true
	}
	return func(r *calls.Row) bool {
		if q.At != nil && !at[place(p.Rec, r)] {
			return false
		}
		return calls.InRange(&q.Duration, r.Duration) && calls.InRange(&q.Started, r.Start-p.Rec.Start) && calls.InRange(&q.Self, r.Self)
	}
}

func place(rec *recording.Recording, r *calls.Row) calls.Place {
	th := view.ThreadOf(rec, r.Track)
	return calls.Place{PID: th.PID, TID: th.TID, Name: th.Name, Time: r.Start - rec.Start}
}

// events goes to the clicked row. Ctrl click adds or removes the row, Shift click adds
// all rows from the last one added.
func (t *table) events(s *panel.Host, p *panel.Side, u *ui.UI, l *session.CallList, body image.Rectangle, h int) {
	t.Events(u, body, h, len(l.Rows), func(g widget.Gesture, i int) {
		switch {
		case i < 0:
		case g == widget.MenuAsked:
			t.last = i
			s.Menu = widget.NewMenu(widget.Point(body.Min, t.At), t.items(s, p, l, i))
		case g != widget.Clicked:
		case t.Mods.Contain(key.ModShift):
			t.take(p, l, t.last, i)
		case t.Mods.Contain(key.ModShortcut):
			t.toggle(p, &l.Rows[i])
			t.last = i
		default:
			t.last = i
			show(p, &l.Rows[i])
		}
	})
}

// items lists the actions for a row.
func (t *table) items(s *panel.Host, p *panel.Side, l *session.CallList, i int) []widget.Item {
	r := &l.Rows[i]
	one := p.CallAt(r.Track, r.Start, p.Rec.Functions.At(int(p.Rec.Func(r.Call))))
	items := []widget.Item{
		{Title: "Go to call", Detail: "click", Do: func() { show(p, r) }},
		{Title: "Select this call", Do: func() { p.OnlyCalls(one) }},
		{Title: "Add or remove", Detail: "Ctrl click", Do: func() { t.toggle(p, r) }},
		{Title: "Extend selection to here", Detail: "Shift click", Do: func() { t.take(p, l, t.last, i) }},
	}
	if r.Lane == recording.StateLane {
		return items
	}
	return widget.Grouped(items, []widget.Item{
		{Title: "Compare with typical call", Do: func() { p.Actions.CompareTypical(one) }},
		{Title: "Compare with other calls", Do: func() { p.CompareWithRest(one) }},
	}, panel.SetAsItems("call", func(i int) { p.SetCallsAs(i, one) }), []widget.Item{
		{Title: "Copy arguments", Do: func() {
			var lines []string
			for _, m := range r.Detail(p.Rec).Args {
				lines = append(lines, m.Key+"\t"+m.Value)
			}
			s.CopyLater(strings.Join(lines, "\n"))
		}},
	})
}

// mostTaken is the maximum number of calls that can be selected one by one, because an
// address lists them all.
const mostTaken = 1000

// take selects rows.
func (t *table) take(p *panel.Side, l *session.CallList, from, to int) {
	from, to = min(from, to), max(from, to)
	var q calls.Query
	for i := max(0, from); i <= min(to, len(l.Rows)-1, from+mostTaken-1); i++ {
		q.At = append(q.At, place(p.Rec, &l.Rows[i]))
	}
	choose(p, q, false)
}

// toggle adds a row to the selection or removes it.
func (t *table) toggle(p *panel.Side, r *calls.Row) {
	var q calls.Query
	if old := chosen(p, p.Scope.Calls); old != nil {
		q.At = old.At
	}
	at := place(p.Rec, r)
	if i := slices.Index(q.At, at); i >= 0 {
		q.At = slices.Delete(slices.Clone(q.At), i, i+1)
	} else if len(q.At) < mostTaken {
		q.At = append(slices.Clone(q.At), at)
	}
	if len(q.At) == 0 {
		q.At = nil
	}
	choose(p, q, false)
}

// Key moves among the rows; Return goes to the call.
func (t *Panel) Key(p *panel.Side, k key.Event, _ int) bool {
	a := p.Doc.Answer()
	if a == nil || a.List == nil || len(a.List.Rows) == 0 {
		return false
	}
	l := t.shown(p, a, nil)
	if k.Name == key.NameReturn && k.Modifiers == 0 && t.last < len(l.Rows) {
		show(p, &l.Rows[t.last])
		return true
	}
	at, ok := t.List.Key(k, t.last, len(l.Rows))
	if ok {
		t.last = at
		show(p, &l.Rows[at])
	}
	return ok
}

// Table returns the calls, with times in nanoseconds.
func (t *Panel) Table(p *panel.Side) func() *tables.Grid {
	a := p.Doc.Answer()
	if a == nil || a.List == nil {
		return nil
	}
	rec, l, keys := p.Rec, a.List, a.List.Keys
	if p.List.Columns != nil {
		keys = slices.DeleteFunc(slices.Clone(keys), func(k string) bool { return !slices.Contains(p.List.Columns, k) })
	}
	return func() *tables.Grid { return grid(rec, l, keys) }
}

func grid(rec *recording.Recording, l *session.CallList, keys []string) *tables.Grid {
	g := &tables.Grid{Name: "calls", Head: []string{"function", "start (ns)", "duration (ns)", "self (ns)", "CPU (ns)", "process", "thread", "name"}, Number: []bool{false, true, true, true, true, true, true, false}}
	states := len(l.Rows) > 0 && l.Rows[0].Lane == recording.StateLane
	if states {
		for _, c := range waitreport.Cells {
			g.Head, g.Number = append(g.Head, c.Name), append(g.Number, false)
		}
	}
	for _, k := range keys {
		g.Head, g.Number = append(g.Head, k), append(g.Number, false)
	}
	ns := func(ps int64) string { return recording.Decimal{Mantissa: ps, Scale: 3}.String() }
	for i := range l.Rows {
		r := l.Rows[i].Detail(rec)
		t := rec.Tracks[r.Track]
		cpu := ""
		if r.HasCPU {
			cpu = ns(r.CPU)
		}
		row := []string{rec.FuncName(r.Call), ns(r.Start - rec.Start), ns(r.Duration), ns(r.Self), cpu, recording.IDText(t.PID), recording.IDText(t.TID), t.Name}
		if states {
			for _, c := range waitreport.Cells {
				row = append(row, c.Text(rec, r.Row))
			}
		}
		for _, k := range keys {
			row = append(row, r.Arg(k))
		}
		g.Rows = append(g.Rows, row)
	}
	return g
}
