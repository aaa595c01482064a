package manual

import (
	"strings"
	"unicode/utf8"
)

// Plain lays blocks out for a terminal with that many columns, as plain text with lists,
// code and tables. Code is never wrapped.
func Plain(blocks []Block, width int) string {
	var b strings.Builder
	for i, block := range blocks {
		if i > 0 && !(block.Kind == Item && blocks[i-1].Kind == Item) {
			b.WriteByte('\n')
		}
		block.plain(&b, max(width, 20))
	}
	return b.String()
}

// The indent of a list's content, and the gap between a table's columns.
const (
	indent = "  "
	gap    = "  "
)

func (block *Block) plain(b *strings.Builder, width int) {
	margin := strings.Repeat(indent, block.Depth)
	text := block.Text.plain("`")
	switch block.Kind {
	case Heading:
		b.WriteString(text + "\n")
		if rule := map[int]string{1: "=", 2: "-"}[block.Level]; rule != "" {
			b.WriteString(strings.Repeat(rule, utf8.RuneCountInString(text)) + "\n")
		}
	case Item:
		first := strings.Repeat(indent, block.Depth-1) + block.Mark + " "
		margin := strings.Repeat(" ", utf8.RuneCountInString(first))
		for i, line := range wrap(text, width-len(margin)) {
			if i > 0 {
				first = margin
			}
			b.WriteString(first + line + "\n")
		}
	case Code:
		for _, line := range block.Lines {
			b.WriteString(strings.TrimRight(margin+indent+line, " ") + "\n")
		}
	case Table:
		block.plainTable(b, margin, width-len(margin))
	default:
		for _, line := range wrap(text, width-len(margin)) {
			b.WriteString(margin + line + "\n")
		}
	}
}

// plain returns the text with code in quotes, followed by link targets that are not
// already in the link's text.
func (t Text) plain(quote string) string {
	var b strings.Builder
	for _, r := range t {
		if r.Code {
			b.WriteString(quote + r.Text + quote)
		} else {
			b.WriteString(r.Text)
		}
		if topic, ok := strings.CutSuffix(r.Link, ".md"); ok && topic != r.Text {
			b.WriteString(" (ashlar help " + topic + ")")
		} else if !ok && r.Link != "" && r.Link != r.Text {
			b.WriteString(" (" + r.Link + ")")
		}
	}
	return b.String()
}

// wrap splits text into lines of at most width characters, unless a single word is
// longer. It returns at least one line.
func wrap(text string, width int) []string {
	lines := []string{""}
	for _, word := range strings.Fields(text) {
		last := &lines[len(lines)-1]
		switch {
		case *last == "":
			*last = word
		case utf8.RuneCountInString(*last)+1+utf8.RuneCountInString(word) <= width:
			*last += " " + word
		default:
			lines = append(lines, word)
		}
	}
	return lines
}

// plainTable writes a table with aligned columns. If it is too wide, the widest columns
// are narrowed and their cells wrapped.
func (block *Block) plainTable(b *strings.Builder, margin string, width int) {
	cells := make([][]string, len(block.Rows))
	for i, row := range block.Rows {
		for _, cell := range row {
			cells[i] = append(cells[i], cell.plain(""))
		}
	}
	widths := columnWidths(cells, width)
	rule := ""
	for i, w := range widths {
		if i > 0 {
			rule += gap
		}
		rule += strings.Repeat("-", w)
	}
	for i, row := range cells {
		if i == 0 && strings.Join(row, "") == "" {
			continue // no head
		}
		wrapped, height := make([][]string, len(row)), 0
		for j, cell := range row {
			wrapped[j] = wrap(cell, widths[j])
			height = max(height, len(wrapped[j]))
		}
		for y := range height {
			line := margin
			for j, lines := range wrapped {
				cell := ""
				if y < len(lines) {
					cell = lines[y]
				}
				pad := strings.Repeat(" ", max(0, widths[j]-utf8.RuneCountInString(cell)))
				if j > 0 {
					line += gap
				}
				if block.Right[j] {
					line += pad + cell
				} else {
					line += cell + pad
				}
			}
			b.WriteString(strings.TrimRight(line, " ") + "\n")
		}
		if i == 0 {
			b.WriteString(margin + rule + "\n")
		}
	}
}

// columnWidths returns the width of each column in characters. Together they fit width if
// possible, but no column is narrower than the longest word of its head.
func columnWidths(rows [][]string, width int) []int {
	widths, least := make([]int, len(rows[0])), make([]int, len(rows[0]))
	sum := len(gap) * (len(widths) - 1)
	for i := range widths {
		for _, row := range rows {
			widths[i] = max(widths[i], utf8.RuneCountInString(row[i]))
		}
		sum += widths[i]
		least[i] = 8
		for _, word := range strings.Fields(rows[0][i]) {
			least[i] = max(least[i], utf8.RuneCountInString(word))
		}
	}
	for ; sum > width; sum-- {
		widest := -1
		for i, w := range widths {
			if w > least[i] && (widest < 0 || w > widths[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			break
		}
		widths[widest]--
	}
	return widths
}
