package cli

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

// columns writes rows with their columns aligned: by bytes of align, 'l' left
// and 'r' right. Each line begins with indent; nothing follows the last cell.
func columns(b *strings.Builder, indent, align string, rows [][]string) {
	widths := make([]int, len(align))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range rows {
		line := indent
		for i, cell := range row {
			if i > 0 {
				line += "  "
			}
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if align[i] == 'r' {
				line += pad + cell
			} else {
				line += cell + pad
			}
		}
		b.WriteString(strings.TrimRight(line, " ") + "\n")
	}
}

// longestName is how many characters of a name are printed in text.
const longestName = 96

// plainText makes a sentence fit to be printed on a terminal: one line, no
// control characters.
func plainText(s string) string { return strings.Map(printable, s) }

func printable(r rune) rune {
	switch {
	case r == '\n' || r == '\t' || r == '\r':
		return ' '
	case unicode.IsControl(r) || unicode.Is(unicode.Cf, r):
		return '·'
	}
	return r
}

// plain makes a name from a file fit to be printed on a terminal, and not too long.
func plain(s string) string {
	s = plainText(s)
	if n := utf8.RuneCountInString(s); n > longestName {
		r := []rune(s)
		head := longestName * 2 / 3
		s = string(r[:head]) + "…" + string(r[n-(longestName-head-1):])
	}
	return s
}
