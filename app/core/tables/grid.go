package tables

import (
	"bytes"
	"cmp"
	"encoding/csv"
	"encoding/json"
	"io"
	"strings"

	"ashlar/ingest/input/safetext"
)

// Grid is a table for export to other programs, with exact values.
type Grid struct {
	Name string
	Head []string
	Rows [][]string
	// Number tells, for each column, whether it holds numbers.
	Number []bool
}

// NewGrid returns the table of rows. Column names include the unit in parentheses.
func NewGrid[T any](name string, cs []Column[T], rows []T) *Grid {
	g := &Grid{Name: name, Rows: make([][]string, len(rows))}
	for i := range cs {
		head := cs[i].Name
		if cs[i].Unit != "" {
			head += " (" + cs[i].Unit + ")"
		}
		g.Head, g.Number = append(g.Head, head), append(g.Number, cs[i].Number)
	}
	for i := range rows {
		g.Rows[i] = cells(cs, &rows[i])
	}
	return g
}

// cells returns the exact cells of a row.
func cells[T any](cs []Column[T], r *T) []string {
	out := make([]string, len(cs))
	for i := range cs {
		out[i] = cs[i].Exact(r)
	}
	return out
}

// CSV writes rows for programs. Column names end with the unit: start_ns. A name that a
// spreadsheet would take for a formula gets a ' in front.
func CSV[T any](out io.Writer, cs []Column[T], rows []T) error {
	w := csv.NewWriter(out)
	head := make([]string, len(cs))
	for i := range cs {
		if head[i] = safetext.Formula(cs[i].Name); cs[i].Unit != "" {
			head[i] += "_" + cs[i].Unit
		}
	}
	err := w.Write(head)
	for i := 0; i < len(rows) && err == nil; i++ {
		line := cells(cs, &rows[i])
		for k := range line {
			if !cs[k].Number {
				line[k] = safetext.Formula(line[k])
			}
		}
		err = w.Write(line)
	}
	w.Flush()
	return cmp.Or(err, w.Error())
}

// Separated returns the grid as text with a separator between columns.
func (g *Grid) Separated(comma rune) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Comma = comma
	line := make([]string, len(g.Head))
	for _, row := range append([][]string{g.Head}, g.Rows...) {
		for i, cell := range row {
			line[i] = safetext.Cell(cell)
		}
		w.Write(line)
	}
	w.Flush()
	return b.String()
}

// Json returns the grid as a JSON list of objects with the columns' names as keys, in
// order.
func (g *Grid) Json() string {
	var b bytes.Buffer
	text := func(s string) {
		j, err := json.Marshal(s)
		if err != nil {
			j = []byte(`""`) // every string can be encoded
		}
		b.Write(j)
	}
	b.WriteString("[")
	for i, row := range g.Rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n  {")
		for k, cell := range row {
			if k > 0 {
				b.WriteString(", ")
			}
			text(g.Head[k])
			b.WriteString(": ")
			switch {
			case g.Number[k] && cell == "":
				b.WriteString("null")
			case g.Number[k] && json.Valid([]byte(cell)):
				b.WriteString(cell)
			default:
				text(cell)
			}
		}
		b.WriteByte('}')
	}
	b.WriteString("\n]\n")
	return b.String()
}
