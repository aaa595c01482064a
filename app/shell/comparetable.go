package shell

import (
	"cmp"
	"image"
	"math"
	"slices"
	"strconv"

	"gioui.org/io/pointer"

	"ashlar/app/doc"
	"ashlar/ingest/analyze"
	"ashlar/ingest/compare"
	"ashlar/ingest/recording"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
)

// differenceTable is the table of differences.
type differenceTable struct {
	drag
	scroll   int
	by       differenceColumn
	backward bool
	filters  tableFilters
	rows     []compare.Row
	of       tableKey
	clicks   [filterCount]clickArea
	heads    [differenceColumns]clickArea
}

// tableFilters say which rows are left; none of a kind set leaves all of it.
type tableFilters [filterCount]bool

// What rows can be filtered by.
const (
	filterWorse = iota
	filterBetter
	filterNew
	filterGone
	filterSure
	filterCount
)

var filterWords = [filterCount]string{"More in B", "Less in B", "New", "Gone", "Beyond noise"}

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

type tableKey struct {
	table    *compare.Table
	by       differenceColumn
	backward bool
	filters  tableFilters
	total    bool
	search   *analyze.Pattern
}

// values are A and B of a row, self or total.
func values(r *compare.Row, total bool) (a, b int64) {
	if total {
		return r.ATotal, r.BTotal
	}
	return r.ASelf, r.BSelf
}

func sureOf(r *compare.Row, total bool) *compare.Confidence {
	if total {
		return r.Total
	}
	return r.Self
}

// refresh brings the rows in step with the answer and what was chosen.
func (t *differenceTable) refresh(c *comparison, a *doc.CompareAnswer) {
	total := c.options.Total
	k := tableKey{a.Table, t.by, t.backward, t.filters, total, c.panes[c.focus].search.pattern}
	if t.of == k {
		return
	}
	t.of = k
	t.rows = t.rows[:0]
	for i := range a.Table.Rows {
		if r := &a.Table.Rows[i]; t.keeps(r, total) && (k.search == nil || k.search.MatchFunction(&recording.Function{Name: r.Name, Module: r.Module})) {
			t.rows = append(t.rows, *r)
		}
	}
	t.sort(total)
}

// keeps tells whether the filters leave a row: what is the same on both sides is
// never a difference.
func (t *differenceTable) keeps(r *compare.Row, total bool) bool {
	a, b := values(r, total)
	f := &t.filters
	if r.Status == compare.Same || a == b && r.Status == compare.Changed {
		return false
	}
	kinds := f[filterWorse] || f[filterBetter] || f[filterNew] || f[filterGone]
	kind := f[filterWorse] && b > a || f[filterBetter] && b < a || f[filterNew] && r.Status == compare.New || f[filterGone] && r.Status == compare.Gone
	if kinds && !kind {
		return false
	}
	conf := sureOf(r, total)
	return !f[filterSure] || conf != nil && !noise(conf)
}

func (t *differenceTable) sort(total bool) {
	size := func(v int64) int64 { return max(v, -v) }
	delta := func(r *compare.Row) int64 {
		a, b := values(r, total)
		return b - a
	}
	ratio := func(r *compare.Row) float64 {
		a, b := values(r, total)
		if a == 0 {
			return math.Inf(1)
		}
		return math.Abs(math.Log(math.Max(1e-9, float64(b)/float64(a))))
	}
	level := func(r *compare.Row) float64 {
		if conf := sureOf(r, total); conf != nil {
			return conf.Level()
		}
		return -1
	}
	by := map[differenceColumn]func(x, y *compare.Row) int{
		columnDifference: func(x, y *compare.Row) int { return cmp.Compare(size(delta(y)), size(delta(x))) },
		columnShare:      func(x, y *compare.Row) int { return cmp.Compare(delta(y), delta(x)) },
		columnName:       func(x, y *compare.Row) int { return cmp.Compare(x.Name, y.Name) },
		columnModule:     func(x, y *compare.Row) int { return cmp.Compare(x.Module, y.Module) },
		columnA: func(x, y *compare.Row) int {
			a, _ := values(x, total)
			b, _ := values(y, total)
			return cmp.Compare(b, a)
		},
		columnB: func(x, y *compare.Row) int {
			_, a := values(x, total)
			_, b := values(y, total)
			return cmp.Compare(b, a)
		},
		columnChange: func(x, y *compare.Row) int { return cmp.Compare(ratio(y), ratio(x)) },
		columnSure:   func(x, y *compare.Row) int { return cmp.Compare(level(y), level(x)) },
		columnOther: func(x, y *compare.Row) int {
			a, b := values(x, !total)
			d, e := values(y, !total)
			return cmp.Compare(size(e-d), size(b-a))
		},
	}[t.by]
	slices.SortStableFunc(t.rows, func(x, y compare.Row) int {
		k := by(&x, &y)
		if t.backward {
			k = -k
		}
		return k
	})
}

// differenceHeads are the columns; those of no width take what is left.
var differenceHeads = [...]struct {
	title string
	by    differenceColumn
	width float32
}{
	{"", columnName, 0}, {"Module", columnModule, 120}, {"A", columnA, 84}, {"B", columnB, 84}, {"Difference", columnDifference, 92},
	{"%", columnChange, 76}, {"Of all change", columnShare, 92}, {"Sure", columnSure, 66}, {"", columnOther, 92},
}

// cells are a row's texts, for the screen or exact for a copy.
func (t *differenceTable) cells(a *doc.CompareAnswer, r *compare.Row, total, exact bool) []string {
	m := a.Compared.Metric
	va, vb := values(r, total)
	oa, ob := values(r, !total)
	name := r.Name
	if r.NameB != "" && r.NameB != r.Name {
		name += ", in B " + r.NameB
	}
	if exact {
		value := func(v int64) string {
			return recording.Decimal{Mantissa: v, Scale: m.Common.Decimals}.String()
		}
		share, sure := "", ""
		if a.Table.Moved != 0 {
			share = strconv.FormatFloat(float64(r.DeltaSelf())/float64(a.Table.Moved), 'f', 6, 64)
		}
		if conf := sureOf(r, total); conf != nil {
			sure = strconv.FormatFloat(conf.Level(), 'f', 6, 64)
		}
		return []string{r.Name, r.NameB, r.Module, string(r.Status), string(r.Rule), value(r.ASelf), value(r.BSelf), value(r.DeltaSelf()),
			value(r.ATotal), value(r.BTotal), value(r.DeltaTotal()), share, sure}
	}
	blank := func(v int64) string {
		if v == 0 {
			return "–"
		}
		return units.Value(m.Readable(v))
	}
	change := units.Change(va, vb)
	if r.Status == compare.New || r.Status == compare.Gone {
		change = string(r.Status)
	}
	sure := ""
	if conf := sureOf(r, total); conf != nil {
		sure = units.Level(conf.Level())
	}
	return []string{name, shortModule(r.Module), blank(va), blank(vb), signed(m, vb-va), change, units.Percent(r.DeltaSelf(), a.Table.Moved), sure, signed(m, ob-oa)}
}

// grid is the whole table, as it is filtered and sorted.
func (t *differenceTable) grid(c *comparison, a *doc.CompareAnswer) *grid {
	t.refresh(c, a)
	unit := " (" + a.Compared.Metric.Common.Unit + ")"
	g := &grid{name: "differences", head: []string{string(a.Table.By), "in B", "module", "status", "matched by", "A self" + unit, "B self" + unit, "difference of self" + unit,
		"A total" + unit, "B total" + unit, "difference of total" + unit, "share of all change", "confidence"},
		number: []bool{false, false, false, false, false, true, true, true, true, true, true, true, true}}
	for i := range t.rows {
		g.rows = append(g.rows, t.cells(a, &t.rows[i], false, true))
	}
	return g
}

// grid is the table that is shown, of one recording or of two.
func (s *Shell) grid() *grid {
	c := s.versus
	if c == nil {
		return s.pane.grid()
	}
	if a := c.answer(); a != nil {
		return c.table.grid(c, a)
	}
	return nil
}

// gridding is grid for another goroutine, as far as that can be put off.
func (s *Shell) gridding() func() *grid {
	if s.versus == nil {
		return s.pane.gridding()
	}
	g := s.grid()
	return func() *grid { return g }
}

// layout draws the filters and the rows that are seen.
func (t *differenceTable) layout(s *Shell, c *comparison, u *ui.UI, r image.Rectangle) {
	a := c.answer()
	if a == nil || a.Table == nil {
		return
	}
	t.refresh(c, a)
	th := u.Theme
	h := u.Px(rowHeight)
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
		u.Text(body, text, ui.Style{Size: 13, Color: th.Dim, Align: middle})
	}
	total := c.options.Total
	u.At(body, func(u *ui.UI) {
		for i := t.scroll / h; i < len(t.rows) && i*h-t.scroll < body.Dy(); i++ {
			row := &t.rows[i]
			y := i*h - t.scroll
			line := ui.Rect(0, y, body.Dx(), h)
			if c.isChosen(a, row) {
				u.Fill(line, withAlpha(th.Accent, .16))
			} else if t.inside && int(t.at.Y) >= y && int(t.at.Y) < y+h {
				u.Fill(line, withAlpha(th.Text, .05))
			}
			t.row(s, c, u, a, row, y, r, cols, total)
		}
	})
	t.area(u, body, pointer.CursorDefault)
}

func (t *differenceTable) row(s *Shell, c *comparison, u *ui.UI, a *doc.CompareAnswer, row *compare.Row, y int, r image.Rectangle, cols []image.Rectangle, total bool) {
	th := u.Theme
	h := u.Px(rowHeight)
	va, vb := values(row, total)
	faint := noise(sureOf(row, total))
	u.Round(ui.Rect(u.Px(14), y+h/2-u.Px(4), u.Px(8), u.Px(8)), 2, c.rowColour(s, u, a, row))
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
			st.Align = end
		}
		box := image.Rect(cols[k].Min.X-r.Min.X, y, cols[k].Max.X-r.Min.X, y+h)
		if k == 0 {
			text = s.fonts.face(12*u.Metric.PxPerDp).Fit(text, float32(box.Dx()-u.Px(2)))
		}
		u.Text(box, text, st)
	}
}

// rowColour is the colour of what a row stands for, as everywhere else.
func (c *comparison) rowColour(s *Shell, u *ui.UI, a *doc.CompareAnswer, row *compare.Row) colour {
	fn := recording.Function{Name: row.Name, Module: row.Module}
	if a.Table.By == compare.ByFunction && row.Key >= 0 {
		fn = c.fn(a, row.Key)
	}
	return u.Theme.Bar(&fn, s.Mode)
}

// functionKey is the function of a row, -1 where it stands for something else.
func functionKey(a *doc.CompareAnswer, row *compare.Row) int32 {
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

func (c *comparison) isChosen(a *doc.CompareAnswer, row *compare.Row) bool {
	k := functionKey(a, row)
	return k >= 0 && c.chosen != nil && a.Compared.Tree.NameOf(k) == *c.chosen
}

func (t *differenceTable) events(s *Shell, c *comparison, u *ui.UI, a *doc.CompareAnswer, body image.Rectangle) {
	h := u.Px(rowHeight)
	at := func() *compare.Row {
		if i := (int(t.at.Y) + t.scroll) / h; i >= 0 && i < len(t.rows) {
			return &t.rows[i]
		}
		return nil
	}
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
			if row := at(); row != nil {
				c.chooseRow(a, row)
				if g == gDouble && functionKey(a, row) >= 0 {
					c.tab = compareDistribution
				}
			}
		case gMenu:
			var items []item
			if row := at(); row != nil {
				c.chooseRow(a, row)
				name := row.Name
				items = append(items, item{title: "Copy name", do: func() { s.copyLater(name) }})
				if k := functionKey(a, row); k >= 0 {
					items = append(items, c.functionItems(s, c.fn(a, k))...)
				}
			}
			items = append(items,
				item{title: "Copy the table as text", do: func() { s.copyTable(false) }},
				item{title: "Copy the table as CSV", do: func() { s.copyTable(true) }})
			s.menu = newMenu(point(body.Min, t.at), items)
		}
	}
}

// chooseRow marks what a row stands for: its function, or its threads.
func (c *comparison) chooseRow(a *doc.CompareAnswer, row *compare.Row) {
	if a.Table.By == compare.ByThread && c.knows(a) && row.Key >= 0 && int(row.Key) < len(a.Threads.Funcs) {
		for i, p := range c.panes {
			p.sel.tracks = []int{}
			if t := a.Threads.Funcs[row.Key].In[i]; t >= 0 {
				p.sel.tracks = []int{int(t)}
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
func (t *differenceTable) drawFilters(u *ui.UI, a *doc.CompareAnswer, r image.Rectangle) int {
	th := u.Theme
	x, y := r.Min.X+u.Px(14), r.Min.Y+u.Px(6)
	for i, word := range filterWords {
		if i == filterSure && a.Method == compare.NoMethod {
			continue
		}
		st := ui.Style{Size: 11.5, Color: th.Dim, Align: middle}
		w := u.Measure(word, st).X + u.Px(20)
		box := ui.Rect(x, y, w, u.Px(22))
		clicked, hovered := t.clicks[i].clicked(u, box)
		if clicked {
			t.filters[i] = !t.filters[i]
			t.scroll = 0
			t.refreshed()
		}
		if t.filters[i] {
			u.Round(box, 11, withAlpha(th.Accent, .22))
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
	text := plural(int64(len(t.rows)), "difference")
	u.Text(image.Rect(x, y, r.Max.X-u.Px(14), y+u.Px(22)), text, ui.Style{Size: 11.5, Color: th.Dim, Align: end})
	return y + u.Px(26)
}

// refreshed makes the rows be filtered and sorted anew.
func (t *differenceTable) refreshed() { t.of = tableKey{} }

// moduled tells whether any row names a module.
func moduled(a *doc.CompareAnswer) bool {
	return slices.ContainsFunc(a.Table.Rows, func(r compare.Row) bool { return r.Module != "" })
}

// columns places the columns; that of modules only where there are any.
func (t *differenceTable) columns(u *ui.UI, r image.Rectangle, modules bool) []image.Rectangle {
	wide := func(i int) int {
		if differenceHeads[i].by == columnModule && !modules {
			return 0
		}
		return u.Px(differenceHeads[i].width)
	}
	rest := r.Dx() - u.Px(32+10)
	for i := range differenceHeads[1:] {
		rest -= wide(i + 1)
	}
	x := r.Min.X + u.Px(32)
	var cols []image.Rectangle
	for i := range differenceHeads {
		px := wide(i)
		if i == 0 {
			px = max(u.Px(90), rest)
		}
		cols = append(cols, image.Rectangle{Min: image.Pt(x, r.Min.Y), Max: image.Pt(max(x, x+px-u.Px(10)), r.Max.Y)})
		x += px
	}
	return cols
}

func (t *differenceTable) head(c *comparison, u *ui.UI, a *doc.CompareAnswer, top int, r image.Rectangle, cols []image.Rectangle) {
	th := u.Theme
	h := u.Px(rowHeight)
	word, other := "self", "Δ total"
	if c.options.Total {
		word, other = "total", "Δ self"
	}
	for i, cell := range cols {
		col := &differenceHeads[i]
		cell.Min.Y, cell.Max.Y = top, top+h
		title := col.title
		switch col.by {
		case columnName:
			title = title1(string(a.Table.By))
		case columnA, columnB:
			title += " " + word
		case columnOther:
			title = other
		}
		if cell.Empty() {
			continue
		}
		st := ui.Style{Size: 11.5, Weight: medium, Color: th.Dim}
		if i > 1 {
			st.Align = end
		}
		clicked, hovered := t.heads[col.by].clicked(u, cell)
		if clicked {
			t.backward = t.by == col.by && !t.backward
			t.by, t.scroll = col.by, 0
		}
		if hovered || t.by == col.by {
			st.Color = th.Text
		}
		if t.by == col.by {
			u.Fill(image.Rect(cell.Min.X, top+h, cell.Max.X, top+h+u.Px(1.5)), th.Accent)
		}
		u.Text(cell, title, st)
	}
	u.HLine(r.Min.X, r.Max.X, top+h+u.Px(2), th.Rule)
}
