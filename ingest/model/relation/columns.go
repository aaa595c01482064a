package relation

import "strings"

// Columns is a table of the columns of all tables, for queries; data sets do not need it.
var Columns *Table

type columnRow struct {
	t *Table
	*Column
}

func init() {
	var all []columnRow
	for _, t := range Tables {
		for i := range t.Columns {
			all = append(all, columnRow{t, &t.Columns[i]})
		}
	}
	Columns = table("columns", "A column of a table.", "",
		[]column[columnRow]{
			text("table_name", "name of the table", func(x *columnRow) string { return x.t.Name }),
			text("name", "name of the column", func(x *columnRow) string { return x.Name }),
			text("type", "'integer', 'real' or 'text'", func(x *columnRow) string { return strings.ToLower(x.Type.String()) }),
			maybeText("unit", "unit", func(x *columnRow) string { return x.Unit }),
			text("description", "meaning of the values", func(x *columnRow) string { return x.Doc }),
		}, func(*Set) []part[columnRow] {
			return list(len(all), func(x *columnRow, i int) { *x = all[i] })
		})
}
