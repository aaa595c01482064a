// Package tables describes tables as data: each column defines its cells for people and
// for programs. Terminal text, CSV, JSON and the window's tables all come from one list of
// columns.
package tables

import (
	"math"
	"strconv"
	"strings"

	"ashlar/app/core/tabular"
	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
	"ashlar/render/units"
)

// Column is a column of a table with rows of type T.
type Column[T any] struct {
	Name string
	Unit string // unit of exact numbers, "" for none
	// Number is true if exact cells are numbers or empty. In text they are right-aligned.
	Number bool
	// Text returns the cell for people, Exact the cell for programs.
	Text, Exact func(*T) string
}

// Named returns a column of texts.
func Named[T any](name string, of func(*T) string) Column[T] {
	return Column[T]{Name: name, Text: of, Exact: of}
}

// Numbered returns a column of numbers with the same form for people and programs.
func Numbered[T any](name string, of func(*T) string) Column[T] {
	return Column[T]{Name: name, Number: true, Text: of, Exact: of}
}

// Value returns a column of a metric's values.
func Value[T any](name string, m *recording.Metric, of func(*T) int64) Column[T] {
	return Column[T]{Name: name, Unit: units.Unit(m), Number: true,
		Text:  func(r *T) string { return units.Value(of(r), m) },
		Exact: func(r *T) string { return recording.Decimal{Mantissa: of(r), Scale: m.Decimals}.String() }}
}

// Time returns a column of times in picoseconds; exact cells are in nanoseconds.
func Time[T any](name string, of func(*T) int64) Column[T] {
	return Column[T]{Name: name, Unit: "ns", Number: true,
		Text:  func(r *T) string { return units.Duration(of(r)) },
		Exact: func(r *T) string { return recording.Decimal{Mantissa: of(r), Scale: 3}.String() }}
}

// Count returns a column of counts.
func Count[T any](name string, of func(*T) int64) Column[T] {
	return Column[T]{Name: name, Number: true,
		Text:  func(r *T) string { return units.Count(of(r)) },
		Exact: func(r *T) string { return strconv.FormatInt(of(r), 10) }}
}

// Amounts returns the columns for self cost, total cost and the number of records behind
// them.
func Amounts[T any](m *recording.Metric, of func(*T) (self, total, count int64)) []Column[T] {
	return []Column[T]{
		Value("self", m, func(r *T) int64 { v, _, _ := of(r); return v }),
		Value("total", m, func(r *T) int64 { _, v, _ := of(r); return v }),
		Count("count", func(r *T) int64 { _, _, v := of(r); return v }),
	}
}

// Share returns a column of percentages of a whole, to follow the column with the values.
func Share[T any](whole int64, of func(*T) int64) Column[T] {
	return Column[T]{Number: true, Text: func(r *T) string { return units.Percent(of(r), whole) }}
}

// Fraction returns a column of fractions of one, or of differences between fractions; NaN
// gives an empty cell.
func Fraction[T any](name string, of func(*T) float64) Column[T] {
	return Numbered(name, func(r *T) string {
		if f := of(r); !math.IsNaN(f) {
			return strconv.FormatFloat(f, 'f', 6, 64)
		}
		return ""
	})
}

// Where returns the column with empty cells in the rows for which is returns false.
func (c Column[T]) Where(is func(*T) bool) Column[T] {
	only := func(cell func(*T) string, none string) func(*T) string {
		return func(r *T) string {
			if is(r) {
				return cell(r)
			}
			return none
		}
	}
	c.Text, c.Exact = only(c.Text, "–"), only(c.Exact, "")
	return c
}

// Write writes rows for people below the column names. Numbers are right-aligned, and
// texts shortened. Each line begins with indent.
func Write[T any](b *strings.Builder, indent string, cs []Column[T], rows []T) {
	align, lines := "", make([][]string, len(rows)+1)
	for k := range cs {
		c, short := &cs[k], safetext.Short
		if align += "l"; c.Number {
			align, short = align[:k]+"r", func(s string) string { return s }
		}
		lines[0] = append(lines[0], safetext.Short(c.Name))
		for i := range rows {
			lines[i+1] = append(lines[i+1], short(c.Text(&rows[i])))
		}
	}
	tabular.Columns(b, indent, align, lines)
}
