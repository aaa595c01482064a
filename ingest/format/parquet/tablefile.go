package parquet

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"os"

	"ashlar/ingest/input/source"
	"ashlar/ingest/model/relation"
)

// tableFile reads the rows of a table of a recording in a data set.
type tableFile struct {
	d     *tables
	table *relation.Table
	in    *source.Input // nil if the table has no rows
	f     *file
	cells []cell
	group int
	left  int64 // rows left in the row group
	row   int64 // index of the current row
}

// cell is a column with its value in the current row; NULL if the file lacks the column.
type cell struct {
	*leaf
	index int
	r     *reader
	value
}

func (c *cell) int() (int64, bool) { return c.i, !c.null }

// or returns the integer, or what stands for NULL.
func (c *cell) or(none int64) int64 {
	if c.null {
		return none
	}
	return c.i
}

func (c *cell) real() float64 {
	if c.null {
		return 0
	}
	return c.f
}

func (c *cell) is() bool { return c.or(0) != 0 }

func (c *cell) string() string {
	if c.null {
		return ""
	}
	return c.leaf.text(&c.value)
}

// open opens the file of a table to read some of its columns.
func (d *tables) open(name string, columns ...string) *tableFile {
	t := &tableFile{d: d, table: relation.Named(name), cells: make([]cell, len(columns)), row: -1}
	path := Place(d.dir, name, d.name)
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) || d.err != nil {
		return t
	}
	err := source.Regular(path)
	if err == nil {
		t.in, err = source.Open(path)
	}
	if err != nil {
		d.fail(err)
		return t
	}
	d.bytes += t.in.Bytes
	content, err := t.in.All(math.MaxInt64)
	if err == nil {
		t.f, err = openFile(content)
	}
	if err != nil {
		d.fail(fmt.Errorf("%s: %w", path, err))
		return t
	}
	for i := range t.cells {
		c := &t.cells[i]
		c.null = true
		for k := range t.f.leaves {
			if l := &t.f.leaves[k]; l.name() == columns[i] && l.maxRep == 0 && suitsType(l, t.table.Columns[t.table.Column(columns[i])].Type) {
				c.leaf, c.index = l, k
			}
		}
	}
	return t
}

// suitsType reports whether a leaf can hold a column of a table.
func suitsType(l *leaf, as relation.Type) bool {
	switch as {
	case relation.Text:
		return isText(l)
	case relation.Real:
		return l.physical == physicalDouble
	}
	return (l.physical == physicalInt32 || l.physical == physicalInt64) && l.means == asStored
}

// next moves to the next row. It returns false at the end, or with d.err.
func (t *tableFile) next() bool {
	if t.f == nil || t.d.err != nil {
		return false
	}
	for t.left == 0 {
		if t.group == len(t.f.groups) {
			return false
		}
		g := &t.f.groups[t.group]
		t.group++
		for i := range t.cells {
			if c := &t.cells[i]; c.leaf != nil {
				r, err := newReader(t.f, c.leaf, &g.chunks[c.index])
				if err != nil {
					return t.fail(err)
				}
				c.r = r
			}
		}
		t.left = g.rows
	}
	t.left--
	if t.row++; t.row%256 == 0 {
		t.d.b.Progress()
		if err := t.d.ctx.Err(); err != nil {
			return t.d.fail(err)
		}
	}
	for i := range t.cells {
		if c := &t.cells[i]; c.leaf != nil && !c.r.next(&c.value) {
			return t.fail(cmp.Or(c.r.err, fmt.Errorf("the column %q has too few values", c.leaf.name())))
		}
	}
	return true
}

// number checks that the rows are numbered by the first column, from a base on.
func (t *tableFile) number(base int64) bool {
	if id, ok := t.cells[0].int(); !ok || id != t.row+base {
		return t.fail(fmt.Errorf("its rows are not sorted by %s", t.table.Columns[0].Name))
	}
	return true
}

// fail ends reading.
func (t *tableFile) fail(err error) bool {
	return t.d.fail(fmt.Errorf("the table %s is damaged at row %d: %w", t.table.Name, max(0, t.row)+1, err))
}

// close releases the file.
func (t *tableFile) close() {
	if t.in != nil {
		t.in.Close()
	}
}
