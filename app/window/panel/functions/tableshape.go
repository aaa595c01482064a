package functions

import (
	"fmt"
	"strings"

	"ashlar/app/core/view"
	"ashlar/ingest/query/analyze"
)

// State writes the grouping, the sort order and the columns into a view.Table, except for
// defaults.
func (t *TableShape) State(st *view.Table) {
	first := newTableShape()
	if t.Group != first.Group {
		st.Group = string(t.Group)
	}
	if t.By != first.By || t.Ascending != first.Ascending {
		if st.Sort = ColumnInfos[t.By].Name; t.Ascending {
			st.Sort = "-" + st.Sort
		}
	}
	for c := range ColumnCount {
		if t.Hidden != first.Hidden && !t.Hidden.has(c) {
			st.Columns = append(st.Columns, ColumnInfos[c].Name)
		}
		if t.Widths[c] != 0 {
			st.Widths = append(st.Widths, view.Width{Column: ColumnInfos[c].Name, DP: t.Widths[c]})
		}
	}
}

// Restore sets the table from a view.Table; missing lists what could not be restored.
func (t *TableShape) Restore(st *view.Table) (missing []error) {
	*t = newTableShape()
	miss := func(format string, args ...any) { missing = append(missing, fmt.Errorf(format, args...)) }
	if st.Group != "" {
		var err error
		if t.Group, err = analyze.ParseBy(st.Group); err != nil || t.Group == analyze.ByLine { // only the source panel groups by line
			miss("there is no table of %q", st.Group)
			t.Group = analyze.ByFunction
		}
	}
	named := func(name string) (Column, bool) {
		for c := range ColumnCount {
			if ColumnInfos[c].Name == name {
				return c, true
			}
		}
		miss("the table has no column %q", name)
		return 0, false
	}
	if st.Sort != "" {
		name, back := strings.CutPrefix(st.Sort, "-")
		if c, ok := named(name); ok {
			t.By, t.Ascending = c, back
		}
	}
	if st.Columns != nil {
		t.Hidden = 1<<ColumnCount - 1
		for _, name := range st.Columns {
			if c, ok := named(name); ok {
				t.Hidden &^= 1 << c
			}
		}
	}
	for _, w := range st.Widths {
		if c, ok := named(w.Column); ok {
			t.Widths[c] = w.DP
		}
	}
	return missing
}

func NewTablePart() *Panel { return &Panel{TableShape: newTableShape()} }
