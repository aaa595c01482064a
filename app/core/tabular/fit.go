package tabular

import (
	"slices"
	"strings"
	"unicode/utf8"

	"ashlar/ingest/input/safetext"
)

// Fit wraps a text to the width of a terminal: it shortens cells of tables in the middle,
// and continues sentences on the next line. It also continues commands, after a
// backslash, so that a shell still accepts them.
func Fit(text string, width int) string {
	var b strings.Builder
	lines := strings.Split(strings.TrimSuffix(text, "\n"), "\n")
	for i := 0; i < len(lines); {
		n := 1
		for isRow(lines[i]) && i+n < len(lines) && isRow(lines[i+n]) {
			n++
		}
		for _, line := range fitRows(lines[i:i+n], width) {
			fold(&b, line, width)
		}
		i += n
	}
	return b.String()
}

func columns(s string) int { return utf8.RuneCountInString(s) }

// isRow reports whether a line is a row of a table: its cells are two blanks apart.
func isRow(line string) bool { return strings.Contains(strings.TrimSpace(line), "  ") }

// narrowest is the smallest width that a cell is shortened to.
const narrowest = 10

// cell is a column of a table, with its start and end in each line.
type cell struct{ from, to int }

// fitRows shortens the widest columns of a table until its lines fit.
func fitRows(lines []string, width int) []string {
	rows, widest := make([][]rune, len(lines)), 0
	for i, l := range lines {
		rows[i] = []rune(l)
		widest = max(widest, len(rows[i]))
	}
	if widest <= width || !isRow(lines[0]) {
		return lines
	}
	cells := cellsOf(rows, widest)
	order := make([]int, len(cells))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return (cells[b].to - cells[b].from) - (cells[a].to - cells[a].from) })
	now := make([]int, len(cells))
	over := widest - width
	for i, c := range cells {
		now[i] = c.to - c.from
	}
	for _, i := range order {
		if take := min(over, now[i]-narrowest); take > 0 {
			now[i] -= take
			over -= take
		}
	}
	out := make([]string, len(rows))
	for r, row := range rows {
		var b strings.Builder
		at := 0
		for i, c := range cells {
			if at < len(row) {
				b.WriteString(string(row[at:min(c.from, len(row))]))
			}
			at = c.to
			text := ""
			if c.from < len(row) {
				text = string(row[c.from:min(c.to, len(row))])
			}
			if now[i] < c.to-c.from {
				bare := strings.TrimRight(text, " ")
				lead := len(bare) - len(strings.TrimLeft(bare, " "))
				if columns(bare) > now[i] && lead > 0 && columns(bare)-lead <= now[i] {
					bare = strings.Repeat(" ", now[i]-(columns(bare)-lead)) + bare[lead:] // a right-aligned number
				}
				text = safetext.Middle(bare, now[i])
				text += strings.Repeat(" ", now[i]-columns(text))
			}
			b.WriteString(text)
		}
		out[r] = strings.TrimRight(b.String(), " ")
	}
	return out
}

// cellsOf finds the columns. They are separated by at least two positions that are blank
// in all lines.
func cellsOf(rows [][]rune, widest int) (cells []cell) {
	blank := make([]bool, widest+2)
	for p := range blank {
		blank[p] = !slices.ContainsFunc(rows, func(r []rune) bool { return p < len(r) && r[p] != ' ' })
	}
	for p := 0; p < widest; {
		for p < widest && blank[p] {
			p++
		}
		from := p
		for p < widest && !(blank[p] && blank[p+1]) {
			p++
		}
		if p > from {
			cells = append(cells, cell{from, p})
		}
	}
	return cells
}

// fold writes a line. If the line is too long, it continues, indented, on the following
// lines.
func fold(b *strings.Builder, line string, width int) {
	bare := strings.TrimLeft(line, " ")
	indent := len(line) - len(bare)
	if columns(line) <= width {
		b.WriteString(line + "\n")
		return
	}
	words, end := strings.Split(bare, " "), ""
	if strings.HasPrefix(bare, "ashlar ") {
		words, end = commandWords(bare), ` \`
	}
	at := strings.Repeat(" ", indent)
	room := width - len(end)
	for i, w := range words {
		switch {
		case i == 0:
			at += w
		case columns(at)+1+columns(w) <= room || i == len(words)-1 && columns(at)+1+columns(w) <= width:
			at += " " + w
		default:
			b.WriteString(at + end + "\n")
			at = strings.Repeat(" ", min(indent+4, width/4)) + w
		}
		if end == "" {
			at = safetext.Middle(at, width)
		}
	}
	b.WriteString(at + "\n")
}

// commandWords splits a command line at blanks outside quotes, where a shell allows it to
// continue on the next line.
func commandWords(s string) (words []string) {
	from, quoted := 0, false
	for i := 0; i < len(s); i++ {
		switch {
		case s[i] == '\'':
			quoted = !quoted
		case s[i] == '\\' && i+1 < len(s):
			i++
		case s[i] == ' ' && !quoted:
			words = append(words, s[from:i])
			from = i + 1
		}
	}
	return append(words, s[from:])
}
