package difftable

import (
	"cmp"
	"image"
	"math"

	"ashlar/app/core/session"
	"ashlar/app/core/tables"
	"ashlar/app/core/verdict"
	"ashlar/app/window/comparison"
	"ashlar/app/window/panel"
	"ashlar/ingest/query/compare"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// column describes a column of the table.
type column struct {
	key, title string  // key is in addresses and never changes
	width      float32 // dp; 0 takes the rest
	dim        bool
	cell       func(a *session.CompareAnswer, r *compare.Row, total bool) string
	// order compares two rows; the lesser one comes first.
	order func(x, y *compare.Row, total bool) int
}

var columns = [DifferenceColumns]column{
	ColumnDifference: {"difference", "Change", 92, false, func(a *session.CompareAnswer, r *compare.Row, total bool) string {
		return verdict.Signed(a.Compared.Metric, delta(r, total))
	}, largest(func(r *compare.Row, total bool) int64 { return size(delta(r, total)) })},
	ColumnName: {"name", "", 0, false, func(_ *session.CompareAnswer, r *compare.Row, _ bool) string {
		if r.NameB != "" && r.NameB != r.Name {
			return r.Name + ", in B " + r.NameB
		}
		return r.Name
	}, func(x, y *compare.Row, _ bool) int { return cmp.Compare(x.Name, y.Name) }},
	columnModule: {"module", "Module", 120, true, func(_ *session.CompareAnswer, r *compare.Row, _ bool) string {
		return panel.ShortModule(r.Module)
	}, func(x, y *compare.Row, _ bool) int { return cmp.Compare(x.Module, y.Module) }},
	columnA: sideColumn(0),
	columnB: sideColumn(1),
	columnChange: {"change", "%", 76, false, func(_ *session.CompareAnswer, r *compare.Row, total bool) string {
		if r.OneSided() {
			return string(r.Status)
		}
		v := values(r, total)
		return units.Change(v[0], v[1])
	}, largest(func(r *compare.Row, total bool) float64 {
		v := values(r, total)
		if v[0] == 0 {
			return math.Inf(1)
		}
		return math.Abs(math.Log(math.Max(1e-9, float64(v[1])/float64(v[0]))))
	})},
	columnShare: {"share", "Share of change", 92, true, func(a *session.CompareAnswer, r *compare.Row, _ bool) string {
		return units.Percent(r.DeltaSelf(), a.Table.Change)
	}, largest(delta)},
	columnSure: {"sure", "Confidence", 84, true, func(_ *session.CompareAnswer, r *compare.Row, total bool) string {
		if conf := sureOf(r, total); conf != nil {
			return units.Level(conf.Level())
		}
		return ""
	}, largest(func(r *compare.Row, total bool) float64 {
		if conf := sureOf(r, total); conf != nil {
			return conf.Level()
		}
		return -1
	})},
	columnOther: {"other", "", 92, true, func(a *session.CompareAnswer, r *compare.Row, total bool) string {
		return verdict.Signed(a.Compared.Metric, delta(r, !total))
	}, largest(func(r *compare.Row, total bool) int64 { return size(delta(r, !total)) })},
}

// placed lists the columns from left to right.
var placed = [...]DifferenceColumn{ColumnName, columnModule, columnA, columnB, ColumnDifference, columnChange, columnShare, columnSure, columnOther}

// right reports whether a column is aligned right, as numbers are.
func (c DifferenceColumn) right() bool { return c != ColumnName && c != columnModule }

func sideColumn(side int) column {
	return column{[]string{"a", "b"}[side], []string{"A", "B"}[side], 84, false, func(a *session.CompareAnswer, r *compare.Row, total bool) string {
		if v := values(r, total)[side]; v != 0 {
			return units.Value(a.Compared.Metric.Readable(v)) + verdict.Spread(a.Compared.Metric, sureOf(r, total), side)
		}
		return "–"
	}, largest(func(r *compare.Row, total bool) int64 { return values(r, total)[side] })}
}

// largest orders rows by a number, the largest first.
func largest[N cmp.Ordered](of func(r *compare.Row, total bool) N) func(x, y *compare.Row, total bool) int {
	return func(x, y *compare.Row, total bool) int { return cmp.Compare(of(y, total), of(x, total)) }
}

// values returns a row's self or total in A and B.
func values(r *compare.Row, total bool) [2]int64 {
	if total {
		return [2]int64{r.ATotal, r.BTotal}
	}
	return [2]int64{r.ASelf, r.BSelf}
}

func delta(r *compare.Row, total bool) int64 {
	v := values(r, total)
	return v[1] - v[0]
}

func size(v int64) int64 { return max(v, -v) }

func sureOf(r *compare.Row, total bool) *compare.Confidence {
	if total {
		return r.Total
	}
	return r.Self
}

// Table returns the whole table, filtered and sorted.
func (t *Panel) Table(c *comparison.Comparison) func() *tables.Grid {
	a := c.Answer()
	if a == nil {
		return nil
	}
	m := &a.Compared.Metric.Common
	g := tables.NewGrid("differences", []tables.Column[compare.Row]{
		tables.Named(string(a.Table.By), func(r *compare.Row) string { return r.Name }),
		tables.Named("in B", func(r *compare.Row) string { return r.NameB }),
		tables.Named("module", func(r *compare.Row) string { return r.Module }),
		tables.Named("status", func(r *compare.Row) string { return string(r.Status) }),
		tables.Named("matched by", func(r *compare.Row) string { return string(r.Rule) }),
		tables.Value("A self", m, func(r *compare.Row) int64 { return r.ASelf }),
		tables.Value("B self", m, func(r *compare.Row) int64 { return r.BSelf }),
		tables.Value("difference of self", m, (*compare.Row).DeltaSelf),
		tables.Value("A total", m, func(r *compare.Row) int64 { return r.ATotal }),
		tables.Value("B total", m, func(r *compare.Row) int64 { return r.BTotal }),
		tables.Value("difference of total", m, (*compare.Row).DeltaTotal),
		tables.Fraction("share of change", func(r *compare.Row) float64 {
			if a.Table.Change == 0 {
				return math.NaN()
			}
			return float64(r.DeltaSelf()) / float64(a.Table.Change)
		}),
		tables.Fraction("confidence", func(r *compare.Row) float64 {
			if r.Self == nil {
				return math.NaN()
			}
			return r.Self.Level()
		}),
	}, arrange(t.key(c, a), math.MaxInt).Found)
	return func() *tables.Grid { return g }
}

// spreadWidth is the room for a standard deviation between runs, in dp.
const spreadWidth = 72

// place lays out the columns; the module column only if modules is set.
func (t *Panel) place(u *ui.UI, r image.Rectangle, modules, spreads bool) []image.Rectangle {
	wide := func(i int) int {
		if of := placed[i]; spreads && (of == columnA || of == columnB) {
			return u.Px(columns[of].width + spreadWidth)
		}
		if placed[i] == columnModule && !modules {
			return 0
		}
		return u.Px(columns[placed[i]].width)
	}
	rest := r.Dx() - u.Px(32+10)
	for i := range placed[1:] {
		rest -= wide(i + 1)
	}
	x := r.Min.X + u.Px(32)
	var cols []image.Rectangle
	for i := range placed {
		px := wide(i)
		if i == 0 {
			px = max(u.Px(90), rest)
		}
		cols = append(cols, image.Rectangle{Min: image.Pt(x, r.Min.Y), Max: image.Pt(max(x, x+px-u.Px(10)), r.Max.Y)})
		x += px
	}
	return cols
}

func (t *Panel) head(c *comparison.Comparison, u *ui.UI, a *session.CompareAnswer, top int, r image.Rectangle, cols []image.Rectangle) {
	h := u.Px(widget.RowHeight)
	word, other := "self", "Δ total"
	if c.Options.Total {
		word, other = "total", "Δ self"
	}
	for i, cell := range cols {
		by := placed[i]
		cell.Min.Y, cell.Max.Y = top, top+h
		title := columns[by].title
		switch by {
		case ColumnName:
			title = panel.Title1(string(a.Table.By))
		case columnA, columnB:
			title += " " + word
		case columnOther:
			title = other
		case ColumnDifference:
			if a.Compared.Normalize == compare.Calls && !a.Compared.PerCall() {
				title = "Per call"
			}
		}
		if cell.Empty() {
			continue
		}
		clicked, hovered := t.heads[by].Clicked(u, cell)
		if clicked {
			t.Backward = t.By == by && !t.Backward
			t.By, t.Down = by, 0
		}
		widget.Title{Text: title, Right: by.right(), By: t.By == by, Turned: t.Backward, Lit: hovered}.Layout(u, cell)
	}
	u.HLine(r.Min.X, r.Max.X, top+h+u.Px(2), u.Theme.Rule)
}
