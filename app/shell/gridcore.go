package shell

import (
	"ashlar/ingest/plain"
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
)

// grid is a table on its way out of the window: exact values, for programs.
type Grid struct {
	name string
	head []string
	rows [][]string
	// number tells which columns hold numbers.
	number []bool
}

// separated is the grid with a character between columns.
func (g *Grid) separated(comma rune) string {
	var b strings.Builder
	w := csv.NewWriter(&b)
	w.Comma = comma
	line := make([]string, len(g.head))
	for _, row := range append([][]string{g.head}, g.rows...) {
		for i, cell := range row {
			line[i] = plain.Cell(cell)
		}
		w.Write(line)
	}
	w.Flush()
	return b.String()
}

// json is a list of objects by the columns' names, in their order.
func (g *Grid) json() string {
	var b bytes.Buffer
	text := func(s string) {
		j, err := json.Marshal(s)
		if err != nil {
			j = []byte(`""`) // no text is refused
		}
		b.Write(j)
	}
	b.WriteString("[")
	for i, row := range g.rows {
		if i > 0 {
			b.WriteByte(',')
		}
		b.WriteString("\n  {")
		for k, cell := range row {
			if k > 0 {
				b.WriteString(", ")
			}
			text(g.head[k])
			b.WriteString(": ")
			switch {
			case g.number[k] && cell == "":
				b.WriteString("null")
			case g.number[k] && json.Valid([]byte(cell)):
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
