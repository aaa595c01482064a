// Package relation describes a recording as tables of a relational database and reads their
// rows: the one description behind "ashlar help tables", the Parquet files of "ashlar tables"
// and the queries of "ashlar sql".
//
// Rows are computed from the recording's columns when they are read, so that nothing is
// copied and memory does not grow with the number of rows.
package relation

import (
	"cmp"
	"fmt"
	"math"
	"sort"
	"strconv"
	"strings"
	"unicode/utf8"

	"ashlar/ingest/model/recording"
)

// Version is the version of the tables. It grows when a column is removed or changes its
// meaning; new tables and columns may appear without a new version.
const Version = 1

// Type is the type of a column.
type Type uint8

// Types of columns. Integers have 64 bits.
const (
	Integer Type = iota
	Real
	Text
)

// String returns the type as in SQL.
func (t Type) String() string {
	switch t {
	case Real:
		return "REAL"
	case Text:
		return "TEXT"
	}
	return "INTEGER"
}

// Column describes a column.
type Column struct {
	Name string
	Type Type
	// Null is set if some rows may have no value.
	Null bool
	// Few is set if the column repeats few distinct values, so that a dictionary of them is
	// smaller. Rising is set if its values mostly grow from row to row.
	Few, Rising bool
	// Unit is the unit of the values, "" for texts, identifiers and counts.
	Unit string
	// Doc describes the values; "refers to table.column" for references.
	Doc string

	numbered bool // batches have numbers of texts: see Batch.Text
}

// Value is the value of a column in a row.
type Value struct {
	Type Type
	Null bool
	Int  int64
	Real float64
	Text string
}

// Compare returns the order of two values in SQL: NULL first, then numbers, then texts by
// their bytes.
func (v Value) Compare(w Value) int {
	switch c := cmp.Compare(v.class(), w.class()); {
	case c != 0 || v.Null:
		return c
	case v.Type == Text:
		return strings.Compare(v.Text, w.Text)
	case v.Type == Integer && w.Type == Integer:
		return cmp.Compare(v.Int, w.Int)
	}
	return cmp.Compare(v.number(), w.number())
}

// class returns 0 for NULL, 1 for numbers and 2 for texts.
func (v Value) class() int {
	switch {
	case v.Null:
		return 0
	case v.Type == Text:
		return 2
	}
	return 1
}

func (v Value) number() float64 {
	if v.Type == Real {
		return v.Real
	}
	return float64(v.Int)
}

// String returns the value in full, "" for NULL.
func (v Value) String() string {
	switch {
	case v.Null:
		return ""
	case v.Type == Text:
		return v.Text
	case v.Type == Real && math.Abs(v.Real) < 1e15:
		return strconv.FormatFloat(v.Real, 'f', -1, 64)
	case v.Type == Real:
		return strconv.FormatFloat(v.Real, 'g', -1, 64)
	}
	return strconv.FormatInt(v.Int, 10)
}

// A Table is a table of every recording, perhaps without rows.
type Table struct {
	Name, Doc string
	Columns   []Column
	// Sorted are the columns by which the rows are sorted, in this order.
	Sorted []string
	of     func(*Set) Rows
}

// Column returns the index of a column, -1 if there is none with this name.
func (t *Table) Column(name string) int {
	for i := range t.Columns {
		if t.Columns[i].Name == name {
			return i
		}
	}
	return -1
}

// Partition is the name of the column that tells recordings apart where there are several.
// It comes before the columns of each table. IDs are unique within a recording only.
const Partition = "recording"

// Create returns the SQL statement that declares the table with the column Partition.
func (t *Table) Create() string {
	var b strings.Builder
	fmt.Fprintf(&b, "CREATE TABLE %s (%s TEXT NOT NULL", t.Name, Partition)
	for i := range t.Columns {
		c := &t.Columns[i]
		fmt.Fprintf(&b, ", %s %s", c.Name, c.Type)
		if !c.Null {
			b.WriteString(" NOT NULL")
		}
	}
	return b.String() + ")"
}

// Rows reads the rows of a table of one recording. It belongs to one goroutine.
type Rows interface {
	// Len returns the number of rows.
	Len() int64
	// Move moves to a row. Moving to the next row is fastest.
	Move(row int64)
	// Value returns the value of a column, by its index in Table.Columns.
	Value(column int) Value
	// Read reads n rows from a row on: the columns with these indexes into batches of at least
	// n rows, made by [Table.NewBatch]. Many rows are read faster than by Move and Value.
	Read(row int64, n int, columns []int, into []Batch)
}

// Set holds the tables of a recording.
type Set struct {
	rec *recording.Recording
	// spans lists the lanes of spans in the order of the rows, and firstSpan the row of the
	// first span of each lane, by track and lane.
	spans     []lanePart
	firstSpan [][]int64
	// metrics are the metrics of all events; firstMetric is the index of each event's first.
	metrics     []metricRow
	firstMetric []int
}

// New returns the tables of a recording that is Done.
func New(rec *recording.Recording) *Set {
	s := &Set{rec: rec}
	s.layout()
	for e := range rec.Events {
		s.firstMetric = append(s.firstMetric, len(s.metrics))
		for m := range rec.Events[e].Metrics {
			s.metrics = append(s.metrics, metricRow{rec: rec, event: e, metric: m, id: len(s.metrics)})
		}
	}
	return s
}

// Open returns the rows of a table.
func (s *Set) Open(t *Table) Rows { return t.of(s) }

// column is a column with the functions that read it from a row and, where parts have blocks,
// from all rows of a block.
type column[T any] struct {
	Column
	get func(*T) Value
	all func(*T, *Batch)
}

// part is a sequence of rows, such as the spans of a lane; move makes x row i of it. block, if
// set, makes x the block of at most most rows from row i on, and returns their number.
type part[T any] struct {
	rows  int
	move  func(x *T, i int)
	block func(x *T, i, most int) int
}

// rows implements Rows over parts.
type rows[T any] struct {
	columns []column[T]
	parts   []part[T]
	first   []int64 // first row of each part, and the number of rows
	at      int     // current part
	row     T
	batch   Batch // of a block
}

func (r *rows[T]) Len() int64 { return r.first[len(r.first)-1] }

// find moves to the part with a row.
func (r *rows[T]) find(row int64) {
	if row < r.first[r.at] || row >= r.first[r.at+1] {
		r.at = sort.Search(len(r.parts), func(i int) bool { return r.first[i+1] > row })
	}
}

func (r *rows[T]) Move(row int64) {
	r.find(row)
	r.parts[r.at].move(&r.row, int(row-r.first[r.at]))
}

func (r *rows[T]) Value(column int) Value { return r.columns[column].get(&r.row) }

// table returns a table whose rows are read by columns from parts.
func table[T any](name, doc, sorted string, columns []column[T], parts func(*Set) []part[T]) *Table {
	t := &Table{Name: name, Doc: doc, Sorted: strings.Fields(sorted)}
	for i := range columns {
		t.Columns = append(t.Columns, columns[i].Column)
	}
	t.of = func(s *Set) Rows {
		r := &rows[T]{columns: columns, first: []int64{0}}
		for _, p := range parts(s) {
			if p.rows > 0 {
				r.parts, r.first = append(r.parts, p), append(r.first, r.Len()+int64(p.rows))
			}
		}
		return r
	}
	return t
}

// list returns the parts of a table with n rows.
func list[T any](n int, move func(x *T, i int)) []part[T] {
	return []part[T]{{rows: n, move: move}}
}

func integer[T any](name, unit, doc string, get func(*T) int64) column[T] {
	return column[T]{Column: Column{Name: name, Unit: unit, Doc: doc}, get: func(x *T) Value { return Value{Int: get(x)} }}
}

func maybe[T any](name, unit, doc string, get func(*T) (int64, bool)) column[T] {
	return column[T]{Column: Column{Name: name, Unit: unit, Doc: doc, Null: true}, get: func(x *T) Value {
		v, ok := get(x)
		return Value{Int: v, Null: !ok}
	}}
}

func flag[T any](name, doc string, get func(*T) bool) column[T] {
	return few(integer(name, "", "1 if "+doc+", otherwise 0", func(x *T) int64 {
		if get(x) {
			return 1
		}
		return 0
	}))
}

func text[T any](name, doc string, get func(*T) string) column[T] {
	return column[T]{Column: Column{Name: name, Type: Text, Few: true, Doc: doc}, get: func(x *T) Value { return Value{Type: Text, Text: get(x)} }}
}

// maybeText is a column of texts that is NULL instead of empty.
func maybeText[T any](name, doc string, get func(*T) string) column[T] {
	return column[T]{Column: Column{Name: name, Type: Text, Null: true, Few: true, Doc: doc}, get: func(x *T) Value {
		s := get(x)
		return Value{Type: Text, Text: s, Null: s == ""}
	}}
}

func few[T any](c column[T]) column[T] { c.Few = true; return c }

func rising[T any](c column[T]) column[T] { c.Rising = true; return c }

// fact returns v for a column that may lack it.
func fact[N ~int | ~int32 | ~int64 | ~uint32 | ~uint64](v N, known bool) (int64, bool) {
	return int64(v), known
}

// Describe returns the description of all tables as text: their columns with types and units.
func Describe() string {
	var b strings.Builder
	for i, t := range Tables {
		if i > 0 {
			b.WriteByte('\n')
		}
		wrap(&b, t.Name+": "+t.Doc, 0)
		for k := range t.Columns {
			c := &t.Columns[k]
			what := strings.ToLower(c.Type.String())
			if c.Unit != "" {
				what += ", " + c.Unit
			}
			if c.Null {
				what += ", or NULL"
			}
			wrap(&b, "  "+c.Name+" ("+what+"): "+c.Doc, 6)
		}
	}
	return b.String()
}

// describeWidth is the width of the lines of Describe.
const describeWidth = 80

// wrap writes a paragraph and indents all its lines but the first.
func wrap(b *strings.Builder, s string, indent int) {
	line := 0
	for i, word := range strings.Split(s, " ") {
		switch n := utf8.RuneCountInString(word); {
		case i == 0:
			line = n
		case line+1+n > describeWidth:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			line = indent + n
		default:
			b.WriteByte(' ')
			line += 1 + n
		}
		b.WriteString(word)
	}
	b.WriteByte('\n')
}
