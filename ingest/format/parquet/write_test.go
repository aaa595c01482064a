package parquet

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"slices"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/format"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/model/relation"
	"ashlar/testdata/rounds"
)

// example returns a recording with spans, samples, stacks, states, counters and flows.
func example(spans int) *recording.Recording {
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	event := b.AddEvent(recording.Event{Name: "cycles", Metrics: []recording.Metric{{Name: "samples", Unit: "count", PerSample: recording.SampleOne}, {Name: "period", PerSample: recording.SampleColumn}}})
	b.SetArgs(func(ref uint64) string { return fmt.Sprintf(`{"n":%d}`, ref) })
	states := b.AddEvent(recording.StateEvent())
	_ = states
	frame := func(name string) recording.FrameID {
		return b.FunctionFrame(b.Function(recording.Function{Name: name, Module: "app"}))
	}
	t := b.Track(recording.TrackKey{PID: 1, TID: 2})
	for i := range spans {
		at := int64(i) * 1000
		t.Begin(at, frame(fmt.Sprintf("outer %d", i%7)), uint64(i%3))
		t.Begin(at+10, frame("inner"), 0)
		t.End(at + 500)
		t.End(at + 900)
		t.State(at, at+700, b.Call(recording.NoCall, b.StateFrame(recording.Blocked, "io")), recording.NoTrack)
	}
	t.Instant(5, "tick", 2)
	stack := b.Call(b.Call(recording.NoCall, frame("main")), frame("work"))
	t.Sample(event, 77, stack, 3, []int64{1, 250})
	t.Sample(event, 78, recording.NoCall, -1, []int64{1, recording.Missing})
	b.AddStack(event, stack, t.Index(), b.Context([]recording.Attr{{Key: "comm", Value: "ä"}, {Key: "cpu", Value: "1"}}), []int64{4, -7})
	b.AddStack(event, stack, recording.NoTrack, 0, []int64{recording.Missing})
	b.AddWindow(event, "w1", 0, 50)
	b.AddWindowStack(event, stack, t.Index(), 0, []int64{9, 10})
	c := b.AddCounter(0, "memory", "rss", "bytes")
	b.CounterPoint(c, 10, 1.5)
	b.AddFlow(recording.Flow{Name: "send", Steps: []recording.FlowStep{{Track: 0, Time: 20}, {Track: 0, Time: 950}}})
	b.Warn("odd", "line 3", "it is %s", "odd")
	return b.Finish()
}

// TestWrite checks that the files hold the rows of the tables, in order, with all types.
func TestWrite(t *testing.T) {
	for _, spans := range []int{0, 1, 10_000, groupRows/2 + 5} {
		set := relation.New(example(spans))
		for _, table := range relation.Tables {
			if spans > 10_000 && table.Name != "spans" {
				continue
			}
			var b bytes.Buffer
			n, err := Write(context.Background(), &b, set, table, nil)
			if err != nil {
				t.Fatal(err)
			}
			if rounds.Raced { // reading the rows back starts no goroutines
				continue
			}
			rows := set.Open(table)
			if n != rows.Len() || n == 0 && spans > 0 && table.Name != "notes" {
				t.Errorf("%s: %d of %d rows", table.Name, n, rows.Len())
			}
			f, err := parquet.OpenFile(bytes.NewReader(b.Bytes()), int64(b.Len()))
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range f.Schema().Columns() {
				if c[0] != table.Columns[i].Name {
					t.Fatalf("%s: column %d is %s", table.Name, i, c[0])
				}
			}
			r := parquet.NewReader(f)
			got := make([]parquet.Row, 1000)
			for at := int64(0); ; {
				n, err := r.ReadRows(got)
				for _, row := range got[:n] {
					rows.Move(at)
					for c := range table.Columns {
						if w := printed(rows.Value(c)); row[c].String() != w {
							t.Fatalf("%s, row %d, %s: got %s, want %s", table.Name, at, table.Columns[c].Name, row[c], w)
						}
					}
					at++
				}
				if err == io.EOF {
					if at != rows.Len() {
						t.Errorf("%s: %d rows of %d", table.Name, at, rows.Len())
					}
					break
				}
				if err != nil {
					t.Fatal(err)
				}
			}
			if table.Name == "spans" && spans > 10_000 {
				if len(f.RowGroups()) != 2 {
					t.Errorf("%d row groups", len(f.RowGroups()))
				}
				statistics(t, f, table)
			}
		}
	}
}

// statistics checks that readers can skip row groups by time, and that functions have
// dictionaries.
func statistics(t *testing.T, f *parquet.File, table *relation.Table) {
	t.Helper()
	for g, group := range f.Metadata().RowGroups {
		if len(group.SortingColumns) != len(table.Sorted) {
			t.Errorf("row group %d is not marked as sorted", g)
		}
		start := group.Columns[table.Column("start_ps")].MetaData
		if len(start.Statistics.MinValue) != 8 || len(start.Statistics.MaxValue) != 8 {
			t.Errorf("row group %d has no statistics of times", g)
		}
		if function := group.Columns[table.Column("function")].MetaData; function.DictionaryPageOffset == 0 || !slices.ContainsFunc(function.Encoding, func(e format.Encoding) bool { return e.String() == "RLE_DICTIONARY" }) {
			t.Errorf("functions of row group %d have no dictionary: %v", g, function.Encoding)
		}
	}
}

// printed formats a value as the library does.
func printed(v relation.Value) string {
	switch {
	case v.Null:
		return parquet.NullValue().String()
	case v.Type == relation.Text:
		return parquet.ValueOf(v.Text).String()
	case v.Type == relation.Real:
		return parquet.ValueOf(v.Real).String()
	}
	return parquet.ValueOf(v.Int).String()
}

func BenchmarkWriteSpans(b *testing.B) {
	set := relation.New(example(1_000_000))
	rows := set.Open(relation.Named("spans"))
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Write(context.Background(), io.Discard, set, relation.Named("spans"), nil); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows.Len())*float64(b.N)/b.Elapsed().Seconds(), "rows/s")
}
