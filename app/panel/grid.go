package panel

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"

	"ashlar/ingest/plain"
)

// grid is a table on its way out of the window: exact values, for programs.
type Grid struct {
	Name string
	Head []string
	Rows [][]string
	// Number tells which columns hold numbers.
	Number []bool
}

// Separated is the grid with a character between columns.
func (g *Grid) Separated(comma rune) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Comma = comma
	line := make([]string, len(g.Head))
	for _, row := range append([][]string{g.Head}, g.Rows...) {
		for i, cell := range row {
			line[i] = plain.Cell(cell)
		}
		w.Write(line)
	}
	w.Flush()
	return b.String()
}

// Json is a list of objects by the columns' names, in their order.
func (g *Grid) Json() string {
	var b bytes.Buffer
	text := func(s string) {
		j, err := json.Marshal(s)
		if err != nil {
			j = []byte(`""`) // no text is refused
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
