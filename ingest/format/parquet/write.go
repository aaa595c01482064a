package parquet

import (
	"cmp"
	"context"
	"io"
	"runtime"
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress/zstd"

	"ashlar/ingest/input/source"
	"ashlar/ingest/model/relation"
)

const (
	// groupRows is the number of rows of a row group, which is in memory while it is written.
	groupRows = 1 << 18
	// batchRows is the number of rows passed to the columns at once; it divides groupRows.
	batchRows = 1 << 14
	// dictionaryBytes is the size from which a column chunk is written without a dictionary.
	dictionaryBytes = 1 << 20
	// tableKey is the key of the metadata with the name of the table.
	tableKey = "ashlar.table"
)

// inOrder is a group with its columns in the order of the table instead of by name.
type inOrder struct {
	parquet.Group
	columns []relation.Column
}

func (o inOrder) Fields() []parquet.Field {
	by := map[string]parquet.Field{}
	for _, f := range o.Group.Fields() {
		by[f.Name()] = f
	}
	fields := make([]parquet.Field, len(o.columns))
	for i := range o.columns {
		fields[i] = by[o.columns[i].Name]
	}
	return fields
}

// node returns the Parquet type of a column.
func node(c *relation.Column) parquet.Node {
	n := parquet.Int(64)
	switch c.Type {
	case relation.Text:
		n = parquet.String()
	case relation.Real:
		n = parquet.Leaf(parquet.DoubleType)
	}
	switch {
	case c.Few:
		n = parquet.Encoded(n, &parquet.RLEDictionary)
	case c.Rising && c.Type == relation.Integer:
		n = parquet.Encoded(n, &parquet.DeltaBinaryPacked)
	}
	if c.Null {
		n = parquet.Optional(n)
	}
	return n
}

// Schema returns the Parquet schema of a table.
func Schema(t *relation.Table) *parquet.Schema {
	g := parquet.Group{}
	for i := range t.Columns {
		g[t.Columns[i].Name] = node(&t.Columns[i])
	}
	return parquet.NewSchema(t.Name, inOrder{g, t.Columns})
}

// Write writes a table of a recording and returns the number of rows. Memory does not grow
// with the number of rows. If progress is not nil, it is called with the rows written so far.
func Write(ctx context.Context, out io.Writer, set *relation.Set, t *relation.Table, progress func(rows, of int64)) (int64, error) {
	options := []parquet.WriterOption{
		Schema(t), parquet.Compression(&zstd.Codec{Level: zstd.SpeedFastest}), parquet.DictionaryMaxBytes(dictionaryBytes), parquet.CreatedBy("ashlar", "1", ""),
		parquet.KeyValueMetadata("ashlar.tables", strconv.Itoa(relation.Version)), parquet.KeyValueMetadata(tableKey, t.Name),
	}
	var sorted []parquet.SortingColumn
	for _, name := range t.Sorted {
		sorted = append(sorted, parquet.Ascending(name))
	}
	if sorted != nil {
		options = append(options, parquet.SortingWriterConfig(parquet.SortingColumns(sorted...)))
	}
	w := parquet.NewWriter(out, options...)
	columns := w.ColumnWriters()
	readers := make([]relation.Rows, runtime.GOMAXPROCS(0)) // each reads a part of a batch
	for k := range readers {
		readers[k] = set.Open(t)
	}
	batch := make([][]parquet.Value, len(columns))
	for c := range batch {
		batch[c] = make([]parquet.Value, batchRows)
	}
	errs := make([]error, len(columns))
	of := readers[0].Len()
	for first := int64(0); first < of; first += batchRows {
		n := int(min(batchRows, of-first))
		each(len(readers), func(k int) {
			rows := readers[k]
			for i := n * k / len(readers); i < n*(k+1)/len(readers); i++ {
				rows.Move(first + int64(i))
				for c := range batch {
					batch[c][i] = stored(rows.Value(c), c, t.Columns[c].Null)
				}
			}
		})
		err := ctx.Err()
		each(len(columns), func(c int) {
			_, errs[c] = columns[c].WriteRowValues(batch[c][:n])
		})
		for _, e := range errs {
			err = cmp.Or(err, e)
		}
		if done := first + int64(n); err == nil && (done%groupRows == 0 || done == of) {
			err = w.Flush()
			if progress != nil {
				progress(done, of)
			}
		}
		if err != nil {
			return first, err
		}
	}
	return of, w.Close()
}

// stored returns a value of column c.
func stored(v relation.Value, c int, optional bool) (p parquet.Value) {
	switch {
	case v.Null:
		return parquet.NullValue().Level(0, 0, c)
	case v.Type == relation.Text:
		p = parquet.ByteArrayValue(unsafe.Slice(unsafe.StringData(v.Text), len(v.Text)))
	case v.Type == relation.Real:
		p = parquet.DoubleValue(v.Real)
	default:
		p = parquet.Int64Value(v.Int)
	}
	level := 0
	if optional {
		level = 1
	}
	return p.Level(0, level, c)
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
