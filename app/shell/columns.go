package shell

import (
	"slices"
	"strconv"

	"ashlar/app/session"
	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
	"ashlar/ingest/spans"
	"ashlar/render/units"
)

// column is one of the table's columns, and what the table is sorted by.
type column uint8

const (
	colName column = iota
	colModule
	colFile
	colSelf
	colSelfShare
	colTotal
	colTotalShare
	colCount
	colAverage
	colLeast
	colMost
	columnCount
)

// columnSet has a bit for each column.
type columnSet uint32

func (s columnSet) has(c column) bool { return s&(1<<c) != 0 }

// columnInfo describes a column: head is its title, plain what it is called in
// a copied table, and names what menus and settings call it.
type columnInfo struct {
	name, head, plain string
	width             float32 // dp; 0 takes what is left
	right             bool    // numbers
	dim               bool
	spans             bool // only where the durations of spans are known
	number            func(a *session.Answer, r *analyze.Row) int64
}

var columnInfos = [columnCount]columnInfo{
	colName:       {name: "function", head: "Function", plain: "function"},
	colModule:     {name: "module", head: "Module", plain: "module", width: 130, dim: true},
	colFile:       {name: "file", head: "File", plain: "file", width: 160, dim: true},
	colSelf:       {name: "self", head: "Self", width: 92, right: true, number: func(_ *session.Answer, r *analyze.Row) int64 { return r.Self }},
	colSelfShare:  {name: "self in %", head: "Self %", plain: "self %", width: 60, right: true, dim: true, number: func(_ *session.Answer, r *analyze.Row) int64 { return r.Self }},
	colTotal:      {name: "total", head: "Total", width: 92, right: true, number: func(_ *session.Answer, r *analyze.Row) int64 { return r.Total }},
	colTotalShare: {name: "total in %", head: "Total %", plain: "total %", width: 60, right: true, dim: true, number: func(_ *session.Answer, r *analyze.Row) int64 { return r.Total }},
	colCount:      {name: "count", head: "Count", plain: "count", width: 84, right: true, dim: true, number: func(_ *session.Answer, r *analyze.Row) int64 { return r.Count }},
	colAverage:    spanColumn("average", "Average", (*spans.Stat).Average),
	colLeast:      spanColumn("least", "Least", func(s *spans.Stat) int64 { return s.Min }),
	colMost:       spanColumn("most", "Most", func(s *spans.Stat) int64 { return s.Max }),
}

// hiddenColumns are those that are not shown before they are asked for.
const hiddenColumns = columnSet(1 << colFile)

func spanColumn(name, head string, of func(*spans.Stat) int64) columnInfo {
	return columnInfo{name: name, head: head, plain: name + " (ns)", width: 84, right: true, dim: true, spans: true,
		number: func(a *session.Answer, r *analyze.Row) int64 {
			if s := spans.OfRow(a.Rec, r, a.Spans); s != nil {
				return of(s)
			}
			return -1
		}}
}

// applies tells whether a column says anything about an answer's rows.
func (c column) applies(a *session.Answer) bool {
	functions := a.ByFunction()
	switch {
	case columnInfos[c].spans:
		return a.Spans != nil && functions
	case c == colModule || c == colFile:
		return functions
	case c == colTotal || c == colTotalShare:
		return a.By != analyze.ByThread // of which none calls another
	}
	return true
}

// columns are those that are shown of an answer, in their order.
func (t *tablePart) columns(a *session.Answer) []column {
	return columnsOf(a, t.hidden, t.order.modules)
}

func columnsOf(a *session.Answer, hidden columnSet, modules bool) []column {
	var cs []column
	for c := range columnCount {
		if c == colModule && !modules {
			continue
		}
		if c.applies(a) && (c == colName || !hidden.has(c)) {
			cs = append(cs, c)
		}
	}
	return cs
}

// title is a column's head for an answer: the first says what rows are.
func (c column) title(a *session.Answer) string {
	if c == colName && !a.ByFunction() {
		return title1(string(a.By))
	}
	return columnInfos[c].head
}

// cell is a column's text of a row, for the screen or exact for a copy.
func (c column) cell(a *session.Answer, r *analyze.Row, exact bool) string {
	m := a.Metric()
	info := &columnInfos[c]
	switch c {
	case colName:
		if !exact && (a.By == analyze.ByModule || a.By == analyze.ByFile) {
			return shortModule(r.Name)
		}
		return r.Name
	case colModule:
		if exact {
			return r.Module
		}
		return shortModule(r.Module)
	case colFile:
		if f := r.Function(a.Rec); exact {
			return f.File
		} else {
			return shortModule(f.File)
		}
	case colSelfShare, colTotalShare:
		return units.Percent(info.number(a, r), a.Tree.Nodes[0].Total)
	}
	v := info.number(a, r)
	switch {
	case info.spans && v < 0:
		return ""
	case info.spans && exact:
		return recording.Decimal{Mantissa: v, Scale: 3}.String()
	case info.spans:
		return units.Duration(v)
	case c == colCount && exact:
		return strconv.FormatInt(v, 10)
	case c == colCount:
		return units.Count(v)
	case exact:
		return recording.Decimal{Mantissa: v, Scale: m.Decimals}.String()
	}
	return units.Value(v, m)
}

// tableGrid is the whole table as it is shown.
func tableGrid(a *session.Answer, rows []analyze.Row, cs []column) *Grid {
	g := &Grid{name: "functions"}
	if !a.ByFunction() {
		g.name = string(a.By) + "s"
	}
	for _, c := range cs {
		head := columnInfos[c].plain
		switch {
		case c == colName && !a.ByFunction():
			head = string(a.By)
		case head == "":
			head = columnInfos[c].name + " (" + a.Metric().Unit + ")"
		}
		g.head = append(g.head, head)
		g.number = append(g.number, columnInfos[c].number != nil && c != colSelfShare && c != colTotalShare)
	}
	for i := range rows {
		line := make([]string, 0, len(cs))
		for _, c := range cs {
			line = append(line, c.cell(a, &rows[i], true))
		}
		g.rows = append(g.rows, line)
	}
	return g
}

// columnNames names the columns that are shown, as settings keep them.
func columnNames(hidden columnSet) []string {
	var names []string
	for c := range columnCount {
		if !hidden.has(c) {
			names = append(names, columnInfos[c].name)
		}
	}
	return names
}

// hiddenBeside are the columns that are hidden where just those named are shown,
// beside the first; names that are none are left out, and no names at all mean
// those that are shown at first.
func hiddenBeside(names []string) columnSet {
	if len(names) == 0 {
		return hiddenColumns
	}
	hidden := hiddenColumns
	for c := range columnCount {
		hidden &^= 1 << c
		if c != colName && !slices.Contains(names, columnInfos[c].name) {
			hidden |= 1 << c
		}
	}
	return hidden
}
