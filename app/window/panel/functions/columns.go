package functions

import (
	"slices"
	"strconv"
	"strings"

	"ashlar/app/core/session"
	"ashlar/app/core/tables"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/spans"
	"ashlar/render/timeline"
	"ashlar/render/units"
)

// Column is a column of the table; the table can be sorted by it.
type Column uint8

const (
	ColName Column = iota
	ColModule
	ColFile
	ColSelf
	ColSelfShare
	ColTotal
	ColTotalShare
	ColCount
	ColAverage
	ColLeast
	ColMost
	ColumnCount
)

// ColumnSet is a bit set of columns.
type ColumnSet uint32

func (s ColumnSet) has(c Column) bool { return s&(1<<c) != 0 }

// columnInfo describes a column: head is its title, plain its title in a copied table,
// and Name its name in menus and settings.
type columnInfo struct {
	Name, head, plain string
	width             float32 // dp; 0 takes the rest
	right             bool    // aligned right, for numbers
	dim               bool
	spans             bool // only if the durations of spans are known
	Number            func(a *session.Answer, r *analyze.Row) int64
}

var ColumnInfos = [ColumnCount]columnInfo{
	ColName:       {Name: "function", head: "Function", plain: "function"},
	ColModule:     {Name: "module", head: "Module", plain: "module", width: 130, dim: true},
	ColFile:       {Name: "file", head: "File", plain: "file", width: 160, dim: true},
	ColSelf:       {Name: "self", head: "Self", width: 92, right: true, Number: func(_ *session.Answer, r *analyze.Row) int64 { return r.Self }},
	ColSelfShare:  {Name: "self in %", head: "Self %", plain: "self %", width: 60, right: true, dim: true, Number: func(_ *session.Answer, r *analyze.Row) int64 { return r.Self }},
	ColTotal:      {Name: "total", head: "Total", width: 92, right: true, Number: func(_ *session.Answer, r *analyze.Row) int64 { return r.Total }},
	ColTotalShare: {Name: "total in %", head: "Total %", plain: "total %", width: 60, right: true, dim: true, Number: func(_ *session.Answer, r *analyze.Row) int64 { return r.Total }},
	ColCount:      {Name: "count", head: "Count", plain: "count", width: 84, right: true, dim: true, Number: func(_ *session.Answer, r *analyze.Row) int64 { return r.Count }},
	ColAverage:    spanColumn(0),
	ColLeast:      spanColumn(1),
	ColMost:       spanColumn(2),
}

// HiddenColumns are the columns hidden by default.
const HiddenColumns = ColumnSet(1 << ColFile)

func spanColumn(i int) columnInfo {
	l := &spans.Lengths[i]
	return columnInfo{Name: l.Name, head: panel.Title1(l.Name), plain: l.Name + " (ns)", width: 84, right: true, dim: true, spans: true,
		Number: func(a *session.Answer, r *analyze.Row) int64 { return l.OfRow(a.Rec, r, a.Spans) }}
}

// Applies reports whether a column has values for an answer's rows.
func (c Column) Applies(a *session.Answer) bool {
	functions := a.ByFunction()
	switch {
	case ColumnInfos[c].spans:
		return a.Spans != nil && functions
	case c == ColModule:
		return functions || a.By == analyze.ByThread // threads have their process in this column
	case c == ColFile:
		return functions
	case c == ColTotal || c == ColTotalShare:
		return a.By != analyze.ByThread // threads do not call each other
	}
	return true
}

// columns returns the visible columns for an answer, in order.
func (t *Panel) columns(a *session.Answer) []Column {
	return columnsOf(a, t.Hidden, &t.Order.ordered)
}

func columnsOf(a *session.Answer, hidden ColumnSet, d *ordered) []Column {
	var cs []Column
	for c := range ColumnCount {
		if c == ColModule && !d.modules || c == ColCount && !d.counts {
			continue
		}
		if c.Applies(a) && (c == ColName || !hidden.has(c)) {
			cs = append(cs, c)
		}
	}
	return cs
}

// title returns a column's title for an answer; the first column's title names the kind
// of rows.
func (c Column) title(a *session.Answer) string {
	if (c == ColName && a.By == analyze.ByModule || c == ColModule && a.By != analyze.ByThread) && categories(a) {
		return "Category"
	}
	if c == ColName && !a.ByFunction() {
		if key := keyOf(a.By); key != "" {
			return key
		}
		return panel.Title1(string(a.By))
	}
	if c == ColModule && a.By == analyze.ByThread {
		return "Process"
	}
	return ColumnInfos[c].head
}

// categories reports whether the modules of an answer are categories of trace events.
func categories(a *session.Answer) bool {
	return a.Tree.Weights.Basis == analyze.Spans && analyze.HasCategories(a.Rec)
}

// cell returns the text of a row in a column, for the screen or, with exact, for a copy.
func (c Column) cell(a *session.Answer, r *analyze.Row, exact bool) string {
	m := a.Metric()
	info := &ColumnInfos[c]
	switch c {
	case ColName:
		if !exact && (a.By == analyze.ByModule || a.By == analyze.ByFile) {
			return panel.ShortModule(r.Name)
		}
		if a.By == analyze.ByThread && r.Track >= 0 {
			return timeline.NameAndID(a.Rec.Tracks[r.Track])
		}
		return r.Name
	case ColModule:
		if a.By == analyze.ByThread {
			return processOf(a, r)
		}
		if exact {
			return r.Module
		}
		return panel.ShortModule(r.Module)
	case ColFile:
		if f := r.Function(a.Rec); exact {
			return f.File
		} else {
			return panel.ShortModule(f.File)
		}
	case ColSelfShare, ColTotalShare:
		return units.Percent(info.Number(a, r), a.Tree.Nodes[0].Total)
	}
	v := info.Number(a, r)
	switch {
	case info.spans && v < 0:
		return ""
	case info.spans && exact:
		return recording.Decimal{Mantissa: v, Scale: 3}.String()
	case info.spans:
		return units.Duration(v)
	case c == ColCount && exact:
		return strconv.FormatInt(v, 10)
	case c == ColCount:
		return units.Count(v)
	case exact:
		return recording.Decimal{Mantissa: v, Scale: m.Decimals}.String()
	}
	return units.Value(v, m)
}

// processOf returns the process of a thread's row, "" for none.
func processOf(a *session.Answer, r *analyze.Row) string {
	if r.Track < 0 {
		return ""
	}
	p := &a.Rec.Processes[a.Rec.Tracks[r.Track].Process]
	return strings.TrimSpace(p.Title() + " " + recording.IDText(p.PID))
}

// TableGrid returns the whole table as shown.
func TableGrid(a *session.Answer, rows []analyze.Row, cs []Column) *tables.Grid {
	name := "functions"
	if !a.ByFunction() {
		name = string(a.By) + "s"
	}
	columns := make([]tables.Column[analyze.Row], len(cs))
	for i, c := range cs {
		info := &ColumnInfos[c]
		x := tables.Column[analyze.Row]{Name: info.plain, Number: info.Number != nil && c != ColSelfShare && c != ColTotalShare}
		switch {
		case c == ColName && !a.ByFunction():
			x.Name = string(a.By)
		case c == ColModule && a.By == analyze.ByThread:
			x.Name = "process"
		case x.Name == "":
			x.Name, x.Unit = info.Name, units.Unit(a.Metric())
		}
		x.Exact = func(r *analyze.Row) string { return c.cell(a, r, true) }
		columns[i] = x
	}
	return tables.NewGrid(name, columns, rows)
}

// ColumnNames returns the names of the visible columns for the settings.
func ColumnNames(hidden ColumnSet) []string {
	var names []string
	for c := range ColumnCount {
		if !hidden.has(c) {
			names = append(names, ColumnInfos[c].Name)
		}
	}
	return names
}

// HiddenBeside returns the columns to hide so that only the first column and the named
// ones are shown. Unknown names are ignored; without names it returns the default.
func HiddenBeside(names []string) ColumnSet {
	if len(names) == 0 {
		return HiddenColumns
	}
	hidden := HiddenColumns
	for c := range ColumnCount {
		hidden &^= 1 << c
		if c != ColName && !slices.Contains(names, ColumnInfos[c].Name) {
			hidden |= 1 << c
		}
	}
	return hidden
}
