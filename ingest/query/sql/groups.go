package sql

import (
	"cmp"
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"unsafe"

	"github.com/ncruces/go-sqlite3"

	"ashlar/ingest/input/source"
	"ashlar/ingest/model/relation"
)

const (
	// groupTable is the name of the table of groups.
	groupTable = "groups of rows"
	// mostGroups is the maximum number of groups made here; SQLite makes more.
	mostGroups = 1 << 18
	// groupRows is the number of rows that a core takes at once, and batchRows how many of them
	// it reads at once.
	groupRows = 1 << 16
	batchRows = 1 << 11
)

// groups are the groups of some rows.
type groups struct {
	g       *grouping
	keys    []dictionary
	pairs   []map[uint64]int32 // from the second key on: (group of the keys before, key) to group
	firsts  [][]int32          // by key and group: its key; for the first keys, groups are its keys
	columns []int              // that are added up
	sums    []sum              // by group and column
	n       int                // groups
	rows    []int64            // by group
	over    bool               // a sum overflowed

	read    []int            // columns of the table that are read
	batches []relation.Batch // their values
	chosen  []int32          // the rows of a batch that the conditions hold for
	of      []int32          // by chosen row: its group
}

// sum adds up the values of a column in a group.
type sum struct {
	n, sum, min, max int64
	least, most      string
}

// dictionary numbers the values of a key.
type dictionary struct {
	values []relation.Value
	small  []int32 // by number: 1 + its index
	ints   map[int64]int32
	texts  map[string]int32
	same   map[*byte]int32 // by the place of the text, whose length is that of the value
	null   int32
	// numbers has, by number of a text in the current recording, 1 + its index.
	numbers []int32
}

// smallInts is the number of integers from 0 that are found without hashing.
const smallInts = 1 << 16

// samePlaces is the maximum number of texts that are known by their places.
const samePlaces = 1 << 16

func (d *dictionary) index(v relation.Value) int32 {
	switch {
	case v.Null:
		if d.null == 0 {
			d.null = d.add(v) + 1
		}
		return d.null - 1
	case v.Type == relation.Text:
		return d.text(v.Text)
	}
	return d.int(v.Int)
}

func (d *dictionary) text(s string) int32 {
	place := unsafe.StringData(s)
	if i, ok := d.same[place]; ok && len(d.values[i].Text) == len(s) {
		return i
	}
	i, ok := d.texts[s]
	if !ok {
		i = d.add(relation.Value{Type: relation.Text, Text: s})
		d.texts[s] = i
	}
	if len(d.same) < samePlaces {
		d.same[place] = i
	}
	return i
}

func (d *dictionary) int(n int64) int32 {
	if uint64(n) < uint64(len(d.small)) {
		i := &d.small[n]
		if *i == 0 {
			*i = d.add(relation.Value{Int: n}) + 1
		}
		return *i - 1
	}
	i, ok := d.ints[n]
	if !ok {
		i = d.add(relation.Value{Int: n})
		d.ints[n] = i
	}
	return i
}

// numbered returns the index of a text by its number.
func (d *dictionary) numbered(number int64, text func(int64) string) int32 {
	if n := int(number); n >= len(d.numbers) {
		d.numbers = append(d.numbers, make([]int32, n+1-len(d.numbers))...)
	}
	i := &d.numbers[number]
	if *i == 0 {
		*i = d.text(text(number)) + 1
	}
	return *i - 1
}

func (d *dictionary) add(v relation.Value) int32 {
	d.values = append(d.values, v)
	return int32(len(d.values) - 1)
}

func newGroups(g *grouping) *groups {
	x := &groups{g: g, keys: make([]dictionary, len(g.keys)), pairs: make([]map[uint64]int32, len(g.keys)), firsts: make([][]int32, len(g.keys))}
	for i := range x.keys {
		x.keys[i] = dictionary{small: make([]int32, smallInts), ints: map[int64]int32{}, texts: map[string]int32{}, same: map[*byte]int32{}}
		x.pairs[i] = map[uint64]int32{}
	}
	for _, a := range g.sums {
		if a.column >= 0 && !slices.Contains(x.columns, a.column) {
			x.columns = append(x.columns, a.column)
		}
	}
	used := slices.Concat(g.keys, x.columns)
	for _, c := range g.where {
		used = append(used, c.column)
	}
	for _, c := range used {
		if c >= 0 && !slices.Contains(x.read, c) {
			x.read = append(x.read, c)
			x.batches = append(x.batches, g.table.NewBatch(c, batchRows))
		}
	}
	return x
}

// place returns the group of some keys.
func (x *groups) place(key func(k int) relation.Value) int {
	group := int32(0)
	for k := range x.keys {
		i := x.keys[k].index(key(k))
		if k == 0 {
			group = i
		} else {
			group = x.pair(k, group, i)
		}
	}
	x.grow(group)
	return int(group)
}

// pair returns the group of the keys before key k and the index of key k.
func (x *groups) pair(k int, group, i int32) int32 {
	pair := uint64(group)<<32 | uint64(i)
	next, ok := x.pairs[k][pair]
	if !ok {
		next = int32(len(x.firsts[k]) / 2)
		x.pairs[k][pair] = next
		x.firsts[k] = append(x.firsts[k], group, i)
	}
	return next
}

// grow makes room for a group.
func (x *groups) grow(group int32) {
	if n := int(group) + 1; n > x.n {
		x.rows = append(x.rows, make([]int64, n-x.n)...)
		x.sums = append(x.sums, make([]sum, (n-x.n)*len(x.columns))...)
		x.n = n
	}
}

// key returns the value of a key of a group.
func (x *groups) key(group, k int) relation.Value {
	for last := len(x.keys) - 1; last > k; last-- {
		group = int(x.firsts[last][2*group])
	}
	if k > 0 {
		group = int(x.firsts[k][2*group+1])
	}
	return x.keys[k].values[group]
}

func (s *sum) add(o *sum, over *bool) {
	if s.n == 0 {
		*s = *o
		return
	}
	total := s.sum + o.sum
	if (s.sum < 0) == (o.sum < 0) && (total < 0) != (s.sum < 0) {
		*over = true
	}
	s.n, s.sum, s.min, s.max = s.n+o.n, total, min(s.min, o.min), max(s.max, o.max)
	if o.least != s.least || o.most != s.most {
		s.least, s.most = min(s.least, o.least), max(s.most, o.most)
	}
}

// merge adds the groups of other rows.
func (x *groups) merge(o *groups) {
	x.over = x.over || o.over
	for i := range o.n {
		if o.rows[i] == 0 {
			continue
		}
		group := x.place(func(k int) relation.Value { return o.key(i, k) })
		x.rows[group] += o.rows[i]
		for k := range x.columns {
			if s := &o.sums[i*len(x.columns)+k]; s.n > 0 {
				x.sums[group*len(x.columns)+k].add(s, &x.over)
			}
		}
	}
}

// group makes the groups on all cores. It returns nil if there are too many, or if a sum is too
// large: then SQLite has to say so.
func (g *grouping) group(ctx context.Context, sources []Source) *groups {
	type block struct {
		source   int
		from, to int64
	}
	var blocks []block
	for s := range sources {
		n := sources[s].Open(g.table).Len()
		for from := int64(0); from < n; from += groupRows {
			blocks = append(blocks, block{s, from, min(from+groupRows, n)})
		}
	}
	parts := make([]*groups, max(1, min(runtime.GOMAXPROCS(0), len(blocks))))
	var next atomic.Int64
	var all source.Group
	for k := range parts {
		x := newGroups(g)
		parts[k] = x
		all.Go(func() {
			open, last := relation.Rows(nil), -1
			for i := int(next.Add(1)) - 1; i < len(blocks) && ctx.Err() == nil && x.n <= mostGroups && !x.over; i = int(next.Add(1)) - 1 {
				b := blocks[i]
				if b.source != last {
					open, last = sources[b.source].Open(g.table), b.source
					x.begin()
				}
				x.add(sources[b.source].Name, open, b.from, b.to)
			}
		})
	}
	all.Wait()
	for _, x := range parts[1:] {
		parts[0].merge(x)
	}
	if x := parts[0]; ctx.Err() == nil && x.n <= mostGroups && !x.over {
		return x
	}
	return nil
}

// table returns the rows of the table of groups, sorted by the keys.
func (x *groups) table() (rows [][]relation.Value) {
	if len(x.keys) == 0 && x.n == 0 {
		x.rows, x.sums, x.n = []int64{0}, make([]sum, len(x.columns)), 1
	}
	for i := range x.n {
		if x.rows[i] == 0 && len(x.keys) > 0 {
			continue
		}
		row := make([]relation.Value, 0, len(x.keys)+len(x.g.sums))
		for k := range x.keys {
			row = append(row, x.key(i, k))
		}
		for _, a := range x.g.sums {
			row = append(row, x.value(i, a))
		}
		rows = append(rows, row)
	}
	slices.SortFunc(rows, func(a, b []relation.Value) int {
		for k := range x.keys {
			v, w := &a[k], &b[k]
			c := cmp.Or(cmp.Compare(v.Int, w.Int), strings.Compare(v.Text, w.Text))
			if v.Null || w.Null {
				c = 0
				if v.Null != w.Null {
					c = 1
					if v.Null {
						c = -1
					}
				}
			}
			if c != 0 {
				return c
			}
		}
		return 0
	})
	return rows
}

// value returns an aggregate of a group.
func (x *groups) value(group int, a aggregate) relation.Value {
	rows := x.rows[group]
	if a.column < 0 {
		return relation.Value{Int: rows}
	}
	s := &x.sums[group*len(x.columns)+slices.Index(x.columns, a.column)]
	text := x.g.table.Columns[a.column].Type
	switch {
	case a.name == "count":
		return relation.Value{Int: s.n}
	case a.name == "total":
		return relation.Value{Type: relation.Real, Real: float64(s.sum)}
	case s.n == 0:
		return relation.Value{Null: true}
	case a.name == "sum":
		return relation.Value{Int: s.sum}
	case a.name == "avg":
		return relation.Value{Type: relation.Real, Real: float64(s.sum) / float64(s.n)}
	case a.name == "min":
		return relation.Value{Type: text, Int: s.min, Text: s.least}
	}
	return relation.Value{Type: text, Int: s.max, Text: s.most}
}

// made is the table of groups for SQLite.
type made struct{ rows [][]relation.Value }

// register adds the table of groups to a database.
func (g *grouping) register(db *sqlite3.Conn, rows [][]relation.Value) error {
	var b strings.Builder
	b.WriteString("CREATE TABLE groups (")
	for k, column := range g.keys {
		kind := relation.Text
		if column >= 0 {
			kind = g.table.Columns[column].Type
		}
		fmt.Fprintf(&b, "k%d %v, ", k, kind)
	}
	for k := range g.sums {
		fmt.Fprintf(&b, "a%d, ", k)
	}
	//lint:ignore SA1019 the generic method needs Go 1.27
	return sqlite3.CreateModule(db, groupTable, nil, func(db *sqlite3.Conn, _, _, _ string, _ ...string) (*made, error) {
		return &made{rows}, db.DeclareVTab(strings.TrimSuffix(b.String(), ", ") + ")")
	})
}

// BestIndex implements [sqlite3.VTab].
func (m *made) BestIndex(x *sqlite3.IndexInfo) error {
	x.EstimatedRows, x.EstimatedCost = int64(len(m.rows)), float64(len(m.rows))
	return nil
}

// Open implements [sqlite3.VTab].
func (m *made) Open() (sqlite3.VTabCursor, error) { return &madeCursor{rows: m.rows}, nil }

type madeCursor struct {
	rows [][]relation.Value
	at   int
}

// Filter implements [sqlite3.VTabCursor].
func (c *madeCursor) Filter(int, string, ...sqlite3.Value) error { c.at = 0; return nil }

// Next implements [sqlite3.VTabCursor].
func (c *madeCursor) Next() error { c.at++; return nil }

// EOF implements [sqlite3.VTabCursor].
func (c *madeCursor) EOF() bool { return c.at >= len(c.rows) }

// RowID implements [sqlite3.VTabCursor].
func (c *madeCursor) RowID() (int64, error) { return int64(c.at), nil }

// Column implements [sqlite3.VTabCursor].
func (c *madeCursor) Column(x sqlite3.Context, n int) error {
	result(x, c.rows[c.at][n])
	return nil
}
