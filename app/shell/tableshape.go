package shell

import (
	"fmt"
	"slices"
	"strings"

	"ashlar/app/view"
	"ashlar/ingest/analyze"
)

// state says how the table is grouped, sorted and which columns it has, where
// that is not as it begins.
func (t *tableShape) state(st *view.Table) {
	first := newTableShape()
	if t.group != first.group {
		st.Group = string(t.group)
	}
	if t.by != first.by || t.ascending != first.ascending {
		if st.Sort = columnInfos[t.by].name; t.ascending {
			st.Sort = "-" + st.Sort
		}
	}
	for c := range columnCount {
		if t.hidden != first.hidden && !t.hidden.has(c) {
			st.Columns = append(st.Columns, columnInfos[c].name)
		}
		if t.widths[c] != 0 {
			st.Widths = append(st.Widths, view.Width{Column: columnInfos[c].name, DP: t.widths[c]})
		}
	}
}

// restore shapes the table as a State says; missing is what there is not.
func (t *tableShape) restore(st *view.Table) (missing []error) {
	*t = newTableShape()
	miss := func(format string, args ...any) { missing = append(missing, fmt.Errorf(format, args...)) }
	if st.Group != "" {
		if t.group = analyze.By(st.Group); !slices.Contains(tableGroups, t.group) {
			miss("there is no table of %q", st.Group)
			t.group = analyze.ByFunction
		}
	}
	named := func(name string) (column, bool) {
		for c := range columnCount {
			if columnInfos[c].name == name {
				return c, true
			}
		}
		miss("the table has no column %q", name)
		return 0, false
	}
	if st.Sort != "" {
		name, back := strings.CutPrefix(st.Sort, "-")
		if c, ok := named(name); ok {
			t.by, t.ascending = c, back
		}
	}
	if st.Columns != nil {
		t.hidden = 1<<columnCount - 1
		for _, name := range st.Columns {
			if c, ok := named(name); ok {
				t.hidden &^= 1 << c
			}
		}
	}
	for _, w := range st.Widths {
		if c, ok := named(w.Column); ok {
			t.widths[c] = w.DP
		}
	}
	return missing
}

func newTablePart() *tablePart { return &tablePart{tableShape: newTableShape()} }
