// Package difftable implements the table of differences between two recordings.
package difftable

import (
	"fmt"
	"image"
	"slices"
	"strings"

	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/core/session"
	"ashlar/app/core/view"
	"ashlar/app/window/comparison"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// Panel is the table of differences.
type Panel struct {
	panel.List[*comparison.Comparison]
	Shape
	found
	busy   bool // not all rows are sorted yet
	rows   session.Sorted[tableKey, *found]
	sheet  ui.Sheet
	clicks [filterCount]widget.ClickArea
	heads  [DifferenceColumns]widget.ClickArea
}

// Shape holds the user's choices for the table.
type Shape struct {
	By       DifferenceColumn
	Backward bool
	Filters  Filters
}

// DifferenceColumn names a column that the table can be sorted by.
type DifferenceColumn uint8

const (
	ColumnDifference DifferenceColumn = iota // by the size of the difference
	ColumnName
	columnModule
	columnA
	columnB
	columnChange
	columnShare
	columnSure
	columnOther
	DifferenceColumns
)

// Layout draws the filters and the visible rows.
func (t *Panel) Layout(s *panel.Host, c *comparison.Comparison, u *ui.UI, r image.Rectangle) {
	a := c.Answer()
	if a == nil || a.Table == nil {
		return
	}
	if a = t.refresh(c, a, s.Do.Wake); a == nil {
		return // the rows are being sorted for the first time
	}
	th := u.Theme
	h := u.Px(widget.RowHeight)
	top := t.drawFilters(u, a, r)
	body := image.Rect(r.Min.X, top+h+u.Px(4), r.Max.X, r.Max.Y)
	t.events(s, c, u, a, body)
	cols := t.place(u, r, t.modules, a.Method == compare.FromRuns)
	t.head(c, u, a, top, r, cols)
	if len(t.Found) == 0 {
		text := "No differences."
		if t.Filters != (Filters{}) {
			text = "No differences match these filters."
		}
		u.Text(body, text, ui.Style{Size: 13, Color: th.Dim, Align: ui.Middle})
	}
	total := c.Options.Total
	t.Rows(body, h, len(t.Found), func(i int, at image.Rectangle) {
		t.row(s, c, u, a, &t.Found[i], at, r, cols, total)
	})
	t.sheet.Show(u, body, u.Theme.Background)
	t.Area(u, body, pointer.CursorDefault)
}

func (t *Panel) row(s *panel.Host, c *comparison.Comparison, u *ui.UI, a *session.CompareAnswer, row *compare.Row, line, r image.Rectangle, cols []image.Rectangle, total bool) {
	th := u.Theme
	if c, ok := t.Ground(u, line, c.IsChosen(a, row)); ok {
		t.sheet.Fill(line, 0, c)
	}
	faint := comparison.IsNoise(sureOf(row, total))
	t.sheet.Fill(ui.Rect(u.Px(14), line.Min.Y+line.Dy()/2-u.Px(4), u.Px(8), u.Px(8)), 1, rowColour(c, s, u, a, row))
	for k, by := range placed {
		text := columns[by].cell(a, row, total)
		st := ui.Style{Size: 12, Color: th.Text}
		switch {
		case by == ColumnDifference, by == columnChange:
			st.Color = comparison.Amount{Sign: delta(row, total)}.Color(th.Dim, th.More(), th.Less())
		case columns[by].dim:
			st.Color = th.Dim
		}
		if faint {
			st.Color = theme.Mix(th.Dim, th.Faint, .6)
		}
		if by.right() {
			st.Align = ui.End
		}
		box := image.Rect(cols[k].Min.X-r.Min.X, line.Min.Y, cols[k].Max.X-r.Min.X, line.Max.Y)
		if k == 0 {
			text = s.Fonts.Regular(12*u.Metric.PxPerDp).Fit(text, float32(box.Dx()-u.Px(2)))
		}
		t.sheet.Text(box, text, st)
	}
}

// rowColour returns the colour of a row, the same as in other views.
func rowColour(c *comparison.Comparison, s *panel.Host, u *ui.UI, a *session.CompareAnswer, row *compare.Row) ui.Colour {
	fn := recording.Function{Name: row.Name, Module: row.Module}
	if a.Table.By == compare.ByFunction && row.Key >= 0 {
		fn = c.Function(a, row.Key)
	}
	return u.Theme.Bar(&fn, s.Mode)
}

func (t *Panel) events(s *panel.Host, c *comparison.Comparison, u *ui.UI, a *session.CompareAnswer, body image.Rectangle) {
	t.Events(u, body, u.Px(widget.RowHeight), len(t.Found), func(g widget.Gesture, i int) {
		var row *compare.Row
		if i >= 0 {
			row = &t.Found[i]
		}
		switch g {
		case widget.Clicked, widget.DoubleClicked:
			if row != nil {
				c.ChooseRow(a, row)
				if g == widget.DoubleClicked && comparison.FunctionKey(a, row) >= 0 {
					c.Tab = comparison.Distribution
				}
			}
		case widget.MenuAsked:
			var items []widget.Item
			if row != nil {
				c.ChooseRow(a, row)
				name := row.Name
				items = append(items, widget.Item{Title: "Copy name", Do: func() { s.CopyLater(name) }})
				if k := comparison.FunctionKey(a, row); k >= 0 {
					items = append(items, c.FunctionItems(c.Function(a, k))...)
				}
			}
			s.Menu = widget.NewMenu(widget.Point(body.Min, t.At), append(items, c.Sides[c.Focus].Actions.TableItems()...))
		}
	})
}

// drawFilters draws the filters and the number of rows left; it returns the top of the
// table.
func (t *Panel) drawFilters(u *ui.UI, a *session.CompareAnswer, r image.Rectangle) int {
	th := u.Theme
	x, y := r.Min.X+u.Px(14), r.Min.Y+u.Px(6)
	for i, word := range FilterWords {
		if i == FilterSure && a.Method == compare.NoMethod {
			continue
		}
		st := ui.Style{Size: 11.5, Color: th.Dim, Align: ui.Middle}
		w := u.Measure(word, st).X + u.Px(20)
		box := ui.Rect(x, y, w, u.Px(22))
		clicked, hovered := t.clicks[i].Clicked(u, box)
		if clicked {
			t.Filters[i] = !t.Filters[i]
			t.Down = 0
		}
		if t.Filters[i] {
			u.Round(box, 11, theme.WithAlpha(th.Accent, .22))
			st.Color = th.Text
		}
		border := th.Rule
		if hovered || t.Filters[i] {
			border = th.Accent
		}
		u.Border(box, 11, 1, border)
		u.Text(box, word, st)
		x += w + u.Px(6)
		if i == FilterGone {
			x += u.Px(10)
		}
	}
	text := units.Plural(int64(len(t.Found)), "difference")
	if t.busy {
		text = "sorting…"
	}
	u.Text(image.Rect(x, y, r.Max.X-u.Px(14), y+u.Px(22)), text, ui.Style{Size: 11.5, Color: th.Dim, Align: ui.End})
	return y + u.Px(26)
}

// Key moves through the rows; Return shows the distribution of the calls.
func (t *Panel) Key(c *comparison.Comparison, k key.Event, _ int) bool {
	a := t.answer(c.Answer())
	if a == nil || len(t.Found) == 0 {
		return false
	}
	at := comparison.RowAt(c, t.Found, func(r *compare.Row) int32 { return comparison.FunctionKey(a, r) })
	if k.Name == key.NameReturn && k.Modifiers == 0 && at >= 0 {
		c.Tab = comparison.Distribution
		return true
	}
	to, ok := t.List.Key(k, at, len(t.Found))
	if ok {
		c.ChooseRow(a, &t.Found[to])
	}
	return ok
}

// filterKeys are the names of the filters in addresses; they never change.
var filterKeys = [filterCount]string{"more", "less", "new", "gone", "sure"}

// State writes the sort order and the filters into a view.Table.
func (t *Shape) State(st *view.Table) {
	if t.By != ColumnDifference || t.Backward {
		if st.Sort = columns[t.By].key; t.Backward {
			st.Sort = "-" + st.Sort
		}
	}
	for i, on := range t.Filters {
		if on {
			st.Rows = append(st.Rows, filterKeys[i])
		}
	}
}

// Restore sets the table from a view.Table; missing lists what could not be restored.
// With ofPairs, the row filters belong to the list of matches.
func (t *Shape) Restore(st *view.Table, ofPairs bool) (missing []error) {
	*t = Shape{}
	name, back := strings.CutPrefix(st.Sort, "-")
	if t.Backward = back; name != "" {
		if i := slices.IndexFunc(columns[:], func(c column) bool { return c.key == name }); i >= 0 {
			t.By = DifferenceColumn(i)
		} else {
			missing = append(missing, fmt.Errorf("the table of differences has no column %q", name))
		}
	}
	if ofPairs {
		return missing
	}
	for _, r := range st.Rows {
		if i := slices.Index(filterKeys[:], r); i >= 0 {
			t.Filters[i] = true
		} else {
			missing = append(missing, fmt.Errorf("the table of differences has no rows %q; there are %s", r, strings.Join(filterKeys[:], ", ")))
		}
	}
	return missing
}
