package sql

import (
	"context"
	"math"
	"slices"
	"sort"
	"strconv"
	"strings"

	"github.com/ncruces/go-sqlite3"

	"ashlar/ingest/model/relation"
)

// virtual is a table of all recordings for SQLite. Column 0 is relation.Partition, column
// c+1 the table's column c.
type virtual struct {
	ctx     context.Context
	table   *relation.Table
	key     int // column whose value is the row number plus keyBase, -1 for none
	sorted  int // column of integers by which the rows are sorted first, -1 for none
	sources []Source
	indexes map[[2]int]*index // by recording and column
}

// key returns the column that numbers the rows of a table, -1 for none.
func key(t *relation.Table) int {
	if len(t.Columns) > 0 && t.Columns[0].Rising && strings.HasSuffix(t.Columns[0].Name, "_id") && len(t.Sorted) > 0 && strings.HasPrefix(t.Columns[0].Doc, "number of ") && t.Name != "labels" && t.Name != "flows" {
		return 0
	}
	return -1
}

// sorted returns the column of integers by which the rows of a table are sorted first, -1 for
// none. Rows with the same value, such as the spans of a thread, are next to each other.
func sorted(t *relation.Table) int {
	if len(t.Sorted) == 0 {
		return -1
	}
	c := t.Column(t.Sorted[0])
	if c >= 0 && (t.Columns[c].Type != relation.Integer || t.Columns[c].Null) {
		return -1
	}
	return c
}

// keyBase returns the key of the first row.
func (v *virtual) keyBase() int64 {
	if v.table.Name == "calls" {
		return 1
	}
	return 0
}

func (v *virtual) rows() (n int64) {
	for i := range v.sources {
		n += v.sources[i].Open(v.table).Len()
	}
	return n
}

// mostIndexed is the number of rows up to which joins get an index.
const mostIndexed = 1 << 24

// BestIndex implements [sqlite3.VTab]. Of the conditions that compare a column for equality,
// the plan uses the recording, and one of the others: the key, or a column that another
// table's row gives a value for. IdxStr lists the columns in the order of the arguments.
func (v *virtual) BestIndex(x *sqlite3.IndexInfo) error {
	all := v.rows()
	var columns []string
	use := func(i int) {
		columns = append(columns, strconv.Itoa(x.Constraint[i].Column))
		x.ConstraintUsage[i].ArgvIndex = len(columns)
	}
	rows, cost := float64(all), float64(all)
	recording, best, fixed := -1, -1, 0
	for i, c := range x.Constraint {
		if c.Op != sqlite3.INDEX_CONSTRAINT_EQ {
			continue
		}
		_, err := x.RHSValue(i)
		constant := err == nil
		switch {
		case !c.Usable || c.Column < 0 || x.Collation(i) != "BINARY":
		case c.Column == 0:
			recording = i
		case constant && c.Column-1 != v.key && c.Column-1 != v.sorted:
			fixed++ // reading all rows once is as fast as building an index
		case best < 0 || c.Column-1 == v.key || c.Column-1 == v.sorted && x.Constraint[best].Column-1 != v.key && constant:
			best = i
		}
	}
	if recording >= 0 {
		use(recording)
		rows, cost = rows/float64(len(v.sources)), cost/float64(len(v.sources))
	}
	if best >= 0 && (x.Constraint[best].Column-1 == v.key || x.Constraint[best].Column-1 == v.sorted || all < mostIndexed) {
		use(best)
		switch x.Constraint[best].Column - 1 {
		case v.key:
			rows = 1
		case v.sorted:
			rows = max(10, rows/50)
		default:
			rows = 10
		}
		cost = 20 * rows
		if recording < 0 {
			rows, cost = rows*float64(len(v.sources)), cost*float64(len(v.sources))
		}
	}
	for range fixed {
		rows = max(1, rows/10)
	}
	x.IdxStr, x.EstimatedRows, x.EstimatedCost = strings.Join(columns, " "), int64(max(1, rows)), max(1, cost)
	return nil
}

// Open implements [sqlite3.VTab].
func (v *virtual) Open() (sqlite3.VTabCursor, error) {
	return &cursor{v: v, open: make([]relation.Rows, len(v.sources))}, nil
}

// index finds the rows of a recording by the value of a column.
type index struct {
	numbers []numbered
	texts   map[string][]uint32
}

type numbered struct {
	value int64
	row   uint32
}

// index returns the index of a column of integers or texts, nil if the context ended.
func (v *virtual) index(source, column int) *index {
	k := [2]int{source, column}
	if x := v.indexes[k]; x != nil {
		return x
	}
	x := &index{}
	rows := v.sources[source].Open(v.table)
	n := rows.Len()
	text := v.table.Columns[column].Type == relation.Text
	if text {
		x.texts = map[string][]uint32{}
	} else {
		x.numbers = make([]numbered, 0, n)
	}
	for i := range n {
		if i&0xffff == 0 && v.ctx.Err() != nil {
			return nil
		}
		rows.Move(i)
		switch val := rows.Value(column); {
		case val.Null:
		case text:
			x.texts[val.Text] = append(x.texts[val.Text], uint32(i))
		default:
			x.numbers = append(x.numbers, numbered{val.Int, uint32(i)})
		}
	}
	slices.SortStableFunc(x.numbers, func(a, b numbered) int {
		switch {
		case a.value < b.value:
			return -1
		case a.value > b.value:
			return 1
		}
		return 0
	})
	if v.indexes == nil {
		v.indexes = map[[2]int]*index{}
	}
	v.indexes[k] = x
	return x
}

// stretch is a part of a recording's rows that a cursor visits: rows from..to, or the rows in
// list from..to.
type stretch struct {
	source   int
	from, to int64
	numbers  []numbered
	list     []uint32
}

// cursor visits rows.
type cursor struct {
	v    *virtual
	open []relation.Rows
	rows relation.Rows
	runs []stretch
	at   int64
	row  int64
	n    int // counts rows, to look at the context now and then
}

func (c *cursor) of(source int) relation.Rows {
	if c.open[source] == nil {
		c.open[source] = c.v.sources[source].Open(c.v.table)
	}
	return c.open[source]
}

// Filter implements [sqlite3.VTabCursor].
func (c *cursor) Filter(_ int, plan string, args ...sqlite3.Value) error {
	c.runs = c.runs[:0]
	recording, column, value := "", -1, sqlite3.Value{}
	one := false
	for i, name := range strings.Fields(plan) {
		n, err := strconv.Atoi(name)
		if err != nil || i >= len(args) {
			return sqlite3.INTERNAL
		}
		switch {
		case args[i].Type() == sqlite3.NULL:
			return nil // NULL equals nothing
		case n == 0:
			recording, one = args[i].Text(), true
		default:
			column, value = n-1, args[i]
		}
	}
	for s := range c.v.sources {
		if one && c.v.sources[s].Name != recording {
			continue
		}
		if err := c.find(s, column, value); err != nil {
			return err
		}
	}
	c.start()
	return nil
}

// find adds the rows of a recording whose column may have a value, all for column -1.
func (c *cursor) find(s, column int, value sqlite3.Value) error {
	all := stretch{source: s, to: c.of(s).Len()}
	if column < 0 {
		c.runs = append(c.runs, all)
		return nil
	}
	text := c.v.table.Columns[column].Type == relation.Text
	var number int64
	switch t := value.Type(); {
	case text && t == sqlite3.TEXT:
	case !text && t == sqlite3.INTEGER:
		number = value.Int64()
	case !text && t == sqlite3.FLOAT && value.Float() == math.Trunc(value.Float()) && math.Abs(value.Float()) < 1<<53:
		number = int64(value.Float())
	default: // SQLite compares the rows itself
		c.runs = append(c.runs, all)
		return nil
	}
	if column == c.v.key {
		if i := number - c.v.keyBase(); number >= c.v.keyBase() && i < all.to {
			c.runs = append(c.runs, stretch{source: s, from: i, to: i + 1})
		}
		return nil
	}
	if column == c.v.sorted {
		r := stretch{source: s, from: c.first(s, column, number), to: all.to}
		if number < math.MaxInt64 {
			r.to = c.first(s, column, number+1)
		}
		c.runs = append(c.runs, r)
		return nil
	}
	if c.v.table.Columns[column].Type == relation.Real {
		c.runs = append(c.runs, all)
		return nil
	}
	x := c.v.index(s, column)
	if x == nil {
		return sqlite3.INTERRUPT
	}
	r := stretch{source: s}
	if text {
		r.list = x.texts[value.Text()]
		r.to = int64(len(r.list))
	} else {
		r.numbers = x.numbers
		from := sort.Search(len(x.numbers), func(i int) bool { return x.numbers[i].value >= number })
		to := from
		for to < len(x.numbers) && x.numbers[to].value == number {
			to++
		}
		r.from, r.to = int64(from), int64(to)
	}
	c.runs = append(c.runs, r)
	return nil
}

// first returns the first row of a recording whose value of the sorted column is at least a
// number.
func (c *cursor) first(source, column int, number int64) int64 {
	rows := c.of(source)
	return int64(sort.Search(int(rows.Len()), func(i int) bool {
		rows.Move(int64(i))
		return rows.Value(column).Int >= number
	}))
}

// start moves to the first row of the first run that has one.
func (c *cursor) start() {
	for len(c.runs) > 0 && c.runs[0].from >= c.runs[0].to {
		c.runs = c.runs[1:]
	}
	if len(c.runs) > 0 {
		c.at, c.rows = c.runs[0].from, c.of(c.runs[0].source)
		c.move()
	}
}

func (c *cursor) move() {
	r := &c.runs[0]
	switch {
	case r.numbers != nil:
		c.row = int64(r.numbers[c.at].row)
	case r.list != nil:
		c.row = int64(r.list[c.at])
	default:
		c.row = c.at
	}
	c.rows.Move(c.row)
}

// Next implements [sqlite3.VTabCursor].
func (c *cursor) Next() error {
	if c.n++; c.n&0xfff == 0 && c.v.ctx.Err() != nil {
		return sqlite3.INTERRUPT
	}
	if c.at++; c.at < c.runs[0].to {
		c.move()
		return nil
	}
	c.runs = c.runs[1:]
	c.start()
	return nil
}

// EOF implements [sqlite3.VTabCursor].
func (c *cursor) EOF() bool { return len(c.runs) == 0 }

// RowID implements [sqlite3.VTabCursor].
func (c *cursor) RowID() (int64, error) { return int64(c.runs[0].source)<<40 | c.row, nil }

// Column implements [sqlite3.VTabCursor].
func (c *cursor) Column(x sqlite3.Context, n int) error {
	if n == 0 {
		x.ResultText(c.v.sources[c.runs[0].source].Name)
		return nil
	}
	result(x, c.rows.Value(n-1))
	return nil
}

// result makes a value the result of a column.
func result(x sqlite3.Context, v relation.Value) {
	switch {
	case v.Null:
		x.ResultNull()
	case v.Type == relation.Text:
		x.ResultText(v.Text)
	case v.Type == relation.Real:
		x.ResultFloat(v.Real)
	default:
		x.ResultInt64(v.Int)
	}
}
