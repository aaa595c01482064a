package parquet

import (
	"context"
	"encoding/binary"
	"io"
	"runtime"
	"slices"
	"strconv"
	"sync/atomic"

	"ashlar/ingest/input/source"
	"ashlar/ingest/model/relation"
)

const (
	// groupRows is the number of rows of a row group, whose pages are in memory until it is
	// written.
	groupRows = 1 << 18
	// batchRows is the number of rows of a page; it divides groupRows.
	batchRows = 1 << 14
	// tableKey is the key of the metadata with the name of the table.
	tableKey = "ashlar.table"
)

// writer writes a table into a file.
type writer struct {
	table    *relation.Table
	out      io.Writer
	at       int64 // bytes written
	encoders []encoder
	groups   []byte // the metadata of the row groups
	n        int    // row groups
}

func (w *writer) write(b []byte) error {
	n, err := w.out.Write(b)
	w.at += int64(n)
	return err
}

// Write writes a table of a recording and returns the number of rows. Memory does not grow
// with the number of rows. If progress is not nil, it is called with the rows written so far.
func Write(ctx context.Context, out io.Writer, set *relation.Set, t *relation.Table, progress func(rows, of int64)) (int64, error) {
	w := &writer{table: t, out: out, encoders: make([]encoder, len(t.Columns))}
	columns := make([]int, len(t.Columns))
	for c := range w.encoders {
		w.encoders[c] = encoder{column: &t.Columns[c], codec: codecZstd, batch: t.NewBatch(c, batchRows)}
		columns[c] = c
	}
	readers := make([]relation.Rows, runtime.GOMAXPROCS(0)) // each reads a part of a batch
	for k := range readers {
		readers[k] = set.Open(t)
	}
	parts := make([][]relation.Batch, len(readers))
	of := readers[0].Len()
	err := w.write([]byte(magic))
	for first := int64(0); first < of && err == nil; first += batchRows {
		n := int(min(batchRows, of-first))
		if first%groupRows == 0 {
			for c := range w.encoders {
				w.encoders[c].begin()
			}
		}
		each(len(readers), func(k int) {
			from, to := n*k/len(readers), n*(k+1)/len(readers)
			into := make([]relation.Batch, len(columns))
			for c := range into {
				into[c] = w.encoders[c].batch.Part(from, to)
			}
			readers[k].Read(first+int64(from), to-from, columns, into)
			parts[k] = into
		})
		for _, into := range parts {
			for c := range into {
				if into[c].Text != nil { // a part may be empty
					w.encoders[c].batch.Text = into[c].Text
				}
			}
		}
		each(len(w.encoders), func(c int) { w.encoders[c].encode(n) })
		if err = ctx.Err(); err != nil {
			return first, err
		}
		if done := first + int64(n); done%groupRows == 0 || done == of {
			err = w.group()
			if progress != nil {
				progress(done, of)
			}
		}
	}
	if err == nil {
		err = w.footer(of)
	}
	return of, err
}

// physical returns the type of a column.
func physical(c *relation.Column) int64 {
	switch c.Type {
	case relation.Text:
		return physicalBytes
	case relation.Real:
		return physicalDouble
	}
	return physicalInt64
}

// group writes a row group.
func (w *writer) group() error {
	t := thrift{b: w.groups}
	var err error
	t.structure(0, func() {
		start, size := w.at, int64(0)
		t.list(1, thriftStruct, len(w.encoders))
		for c := range w.encoders {
			e := &w.encoders[c]
			pages, dictionary := e.finish()
			t.structure(0, func() {
				t.number(2, thriftI64, w.at)
				t.structure(3, func() { w.chunk(&t, e, int64(len(pages)), int64(dictionary)) })
			})
			size += e.size
			if err == nil {
				err = w.write(pages)
			}
		}
		t.number(2, thriftI64, size)
		t.number(3, thriftI64, w.encoders[0].rows)
		if len(w.table.Sorted) > 0 {
			t.list(4, thriftStruct, len(w.table.Sorted))
			for _, name := range w.table.Sorted {
				t.structure(0, func() {
					t.number(1, thriftI32, int64(w.table.Column(name)))
					t.flag(2, false)
					t.flag(3, false)
				})
			}
		}
		t.number(5, thriftI64, start)
		t.number(6, thriftI64, w.at-start)
		t.number(7, thriftI16, int64(w.n))
	})
	w.groups = t.b
	w.n++
	return err
}

// chunk describes the pages of a column, which are written at w.at.
func (w *writer) chunk(t *thrift, e *encoder, size, dictionary int64) {
	t.number(1, thriftI32, physical(e.column))
	var encodings []int64
	for i, used := range e.encodings {
		if used || i == encodingRLE || i == encodingPlain && dictionary > 0 {
			encodings = append(encodings, int64(i))
		}
	}
	t.list(2, thriftI32, len(encodings))
	for _, n := range encodings {
		t.b = binary.AppendVarint(t.b, n)
	}
	t.list(3, thriftBinary, 1)
	t.bytes([]byte(e.column.Name))
	t.number(4, thriftI32, int64(e.codec))
	t.number(5, thriftI64, e.rows)
	t.number(6, thriftI64, e.size)
	t.number(7, thriftI64, size)
	t.number(9, thriftI64, w.at+dictionary)
	if dictionary > 0 {
		t.number(11, thriftI64, w.at)
	}
	t.structure(12, func() {
		t.number(3, thriftI64, e.nulls)
		if low, high, ok := e.statistics(); ok {
			t.binary(5, high)
			t.binary(6, low)
		}
	})
}

// footer writes the metadata.
func (w *writer) footer(rows int64) error {
	var t thrift
	columns := w.table.Columns
	t.structure(0, func() {
		t.number(1, thriftI32, 1)
		t.list(2, thriftStruct, 1+len(columns))
		t.structure(0, func() {
			t.text(4, w.table.Name)
			t.number(5, thriftI32, int64(len(columns)))
		})
		for i := range columns {
			c := &columns[i]
			t.structure(0, func() {
				t.number(1, thriftI32, physical(c))
				repetition := int64(0)
				if c.Null {
					repetition = 1
				}
				t.number(3, thriftI32, repetition)
				t.text(4, c.Name)
				if c.Type == relation.Text {
					t.number(6, thriftI32, 0)
					t.structure(10, func() { t.structure(1, func() {}) })
				}
			})
		}
		t.number(3, thriftI64, rows)
		t.list(4, thriftStruct, w.n)
		t.b = append(t.b, w.groups...)
		t.list(5, thriftStruct, 2)
		for _, kv := range [][2]string{{"ashlar.tables", strconv.Itoa(relation.Version)}, {tableKey, w.table.Name}} {
			t.structure(0, func() {
				t.text(1, kv[0])
				t.text(2, kv[1])
			})
		}
		t.text(6, "ashlar")
		t.list(7, thriftStruct, len(columns))
		for range columns {
			t.structure(0, func() { t.structure(1, func() {}) })
		}
	})
	b := binary.LittleEndian.AppendUint32(slices.Clip(t.b), uint32(len(t.b)))
	return w.write(append(b, magic...))
}

// each calls do for 0 to n-1, on all cores.
func each(n int, do func(i int)) {
	var next atomic.Int64
	var group source.Group
	for range min(n, runtime.GOMAXPROCS(0)) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n; i = int(next.Add(1)) - 1 {
				do(i)
			}
		})
	}
	group.Wait()
}
