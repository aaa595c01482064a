// Package tabular lays out numbers on a terminal, in columns and as small bars.
package tabular

import (
	"math"
	"strings"
	"unicode/utf8"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/query/spans"
	"ashlar/render/units"
)

// Columns writes rows with aligned columns. Each byte of align stands for a column: 'l'
// left or 'r' right. Each line begins with indent and has no trailing blanks.
func Columns(b *strings.Builder, indent, align string, rows [][]string) {
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

// barWidth is the width of a text histogram's longest bar.
const barWidth = 40

func Histogram(b *strings.Builder, bins []spans.Bin) {
	var most int64
	for _, bin := range bins {
		most = max(most, bin.Count)
	}
	rows := [][]string{}
	for _, bin := range bins {
		n := int(math.Ceil(float64(bin.Count) / float64(most) * barWidth))
		rows = append(rows, []string{units.Duration(bin.From), "..", units.Duration(bin.To), units.Count(bin.Count), strings.Repeat("█", n)})
	}
	Columns(b, "  ", "rlrrl", rows)
}

// Sparks draws counts as little bars in a line of text.
func Sparks(bins []spans.Bin) string {
	const levels = "▁▂▃▄▅▆▇█"
	var most int64
	for _, b := range bins {
		most = max(most, b.Count)
	}
	var out strings.Builder
	for _, b := range bins {
		switch r := []rune(levels); {
		case b.Count == 0:
			out.WriteByte(' ')
		default:
			out.WriteRune(r[b.Count*int64(len(r)-1)/most])
		}
	}
	return strings.TrimRight(out.String(), " ")
}

// Dash formats a count, or returns a dash for zero.
func Dash(n int64) string {
	if n == 0 {
		return "–"
	}
	return units.Count(n)
}

// Often formats a frequency: "once", "2 times".
func Often(n int64) string {
	if n == 1 {
		return "once"
	}
	return units.Count(n) + " times"
}

// Calls describes a set of calls: their number and functions.
func Calls(n int, of string) string {
	return units.Plural(int64(n), "call") + " of " + safetext.Short(of)
}
