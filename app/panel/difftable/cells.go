package difftable

import (
	"image"
	"slices"
	"strconv"

	"ashlar/app/pair"
	"ashlar/app/panel"
	"ashlar/app/session"
	"ashlar/app/verdict"
	"ashlar/ingest/compare"
	"ashlar/ingest/recording"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// differenceHeads are the columns; those of no width take what is left.
var differenceHeads = [...]struct {
	title string
	by    DifferenceColumn
	width float32
}{
	{"", ColumnName, 0}, {"Module", columnModule, 120}, {"A", columnA, 84}, {"B", columnB, 84}, {"Difference", ColumnDifference, 92},
	{"%", columnChange, 76}, {"Of all change", columnShare, 92}, {"Confidence", columnSure, 84}, {"", columnOther, 92},
}

// cells are a row's texts, for the screen or exact for a copy.
func (t *Panel) cells(a *session.CompareAnswer, r *compare.Row, total, exact bool) []string {
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
	return []string{name, panel.ShortModule(r.Module), blank(va), blank(vb), verdict.Signed(m, vb-va), change, units.Percent(r.DeltaSelf(), a.Table.Moved), sure, verdict.Signed(m, ob-oa)}
}

// Table is the whole table, as it is filtered and sorted.
func (t *Panel) Table(c *pair.Pair) func() *panel.Grid {
	a := c.Answer()
	if a == nil {
		return nil
	}
	t.refresh(c, a)
	unit := " (" + units.Unit(&a.Compared.Metric.Common) + ")"
	g := &panel.Grid{Name: "differences", Head: []string{string(a.Table.By), "in B", "module", "status", "matched by", "A self" + unit, "B self" + unit, "difference of self" + unit,
		"A total" + unit, "B total" + unit, "difference of total" + unit, "share of all change", "confidence"},
		Number: []bool{false, false, false, false, false, true, true, true, true, true, true, true, true}}
	for i := range t.Found {
		g.Rows = append(g.Rows, t.cells(a, &t.Found[i], false, true))
	}
	return func() *panel.Grid { return g }
}

// moduled reports whether any row names a module.
func moduled(a *session.CompareAnswer) bool {
	return slices.ContainsFunc(a.Table.Rows, func(r compare.Row) bool { return r.Module != "" })
}

// columns places the columns; that of modules only where there are any.
func (t *Panel) columns(u *ui.UI, r image.Rectangle, modules bool) []image.Rectangle {
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

func (t *Panel) head(c *pair.Pair, u *ui.UI, a *session.CompareAnswer, top int, r image.Rectangle, cols []image.Rectangle) {
	h := u.Px(widget.RowHeight)
	word, other := "self", "Δ total"
	if c.Options.Total {
		word, other = "total", "Δ self"
	}
	for i, cell := range cols {
		col := &differenceHeads[i]
		cell.Min.Y, cell.Max.Y = top, top+h
		title := col.title
		switch col.by {
		case ColumnName:
			title = panel.Title1(string(a.Table.By))
		case columnA, columnB:
			title += " " + word
		case columnOther:
			title = other
		}
		if cell.Empty() {
			continue
		}
		clicked, hovered := t.heads[col.by].Clicked(u, cell)
		if clicked {
			t.Backward = t.By == col.by && !t.Backward
			t.By, t.Down = col.by, 0
		}
		widget.Title{Text: title, Right: i > 1, By: t.By == col.by, Turned: t.Backward, Lit: hovered}.Layout(u, cell)
	}
	u.HLine(r.Min.X, r.Max.X, top+h+u.Px(2), u.Theme.Rule)
}
