package parquet

import (
	"bytes"
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
	"github.com/parquet-go/parquet-go/compress"

	"ashlar/ingest/format/decode"
	"ashlar/ingest/format/decode/decodetest"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/model/relation"
	"ashlar/testdata/rounds"
)

// written returns a file that DuckDB wrote: see testdata/duckdb.sql.
func written(t testing.TB, name string) []byte {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("testdata", name+".parquet"))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// TestDuckDB checks files of DuckDB against the rows that the statements give.
func TestDuckDB(t *testing.T) {
	const spans = `web / main
  GET / 0..10000 {"n":1,"request.tenant":"a","request.bytes":12,"category":"http"}
    parse 1000..4000
db / [unnamed]
  query 2000..3001 {"args":"not JSON","request.tenant":"b","category":"sql"}`
	var units strings.Builder
	units.WriteString(" / thread 0")
	for i := 0; i < 200; i += 10 {
		fmt.Fprintf(&units, "\n  f%d %d..%d {\"share\":%g,\"day\":\"2024-05-01\",\"price\":%d.00,\"even\":true}", i%3, i, i+5, float64(i)/4, i/10)
	}
	for _, c := range []struct {
		name, spans, stacks, warnings string
	}{
		{"spans", spans, "", "Rows have no end and were left out, first row 4"},
		{"units", units.String(), "", ""},
		{"samples", " / t0\n / t1", "", ""},
		{"stacks", "", " {tenant=x} main;work 10 1.5\n {tenant=y} main;work;inner 20 -\n {} main -3 0.25", ""},
		{"structs", "", " {} main;work 0\n {} main;work 1\n {} main;work 2", ""},
	} {
		r, err := decodetest.Bytes(t, Decode, written(t, c.name), 0)
		if err != nil {
			t.Fatal(c.name, err)
		}
		if got := strings.Join(decodetest.Spans(r), "\n"); got != c.spans {
			t.Errorf("%s: spans\n%s\nwant\n%s", c.name, got, c.spans)
		}
		if got := strings.Join(decodetest.Stacks(r), "\n"); got != c.stacks {
			t.Errorf("%s: stacks\n%s\nwant\n%s", c.name, got, c.stacks)
		}
		var warnings []string
		for _, w := range r.Warnings {
			warnings = append(warnings, w.Text)
		}
		if got := strings.Join(warnings, "\n"); got != c.warnings {
			t.Errorf("%s: warnings %q", c.name, got)
		}
		switch c.name {
		case "spans":
			if got := r.Clock.Text(r.Start); got != "1714557600000001001" || r.Clock.Unit != "ns" {
				t.Errorf("starts at %s %s", got, r.Clock.Unit)
			}
		case "samples":
			if got := r.Clock.Text(r.Start); got != "1714557600000000" || r.Clock.Unit != "us" {
				t.Errorf("starts at %s %s", got, r.Clock.Unit)
			}
			var got []string
			for _, track := range r.Tracks {
				for _, s := range track.Samples {
					for i := range s.Len() {
						m := &r.Events[s.Event].Metrics[0]
						got = append(got, fmt.Sprintf("%s %d %d %g", track.Name, (s.Time(i)-r.Start)/1e9, r.Calls.Depth(s.Call(i)), float64(s.Value(i, m, 0))/math.Pow10(m.Decimals)))
					}
				}
			}
			var want []string
			for _, parity := range []int{0, 1} {
				for i := parity; i < 9; i += 2 {
					want = append(want, fmt.Sprintf("t%d %d %d %g", parity, i, []int{2, 3, 0}[i%3], float64(i)*0.5))
				}
			}
			if !slices.Equal(got, want) {
				t.Errorf("samples %q\nwant %q", got, want)
			}
		case "stacks":
			if m := r.Events[0].Metrics; m[0].Unit != "bytes" || m[1].Name != "self" || m[1].Unit != "ms" {
				t.Errorf("metrics %+v", m)
			}
		}
	}
}

// mixed has a column for each encoding of each type.
type mixed struct {
	Plain    int64     `parquet:"plain"`
	Dict     int32     `parquet:"dict,dict"`
	Delta    int64     `parquet:"delta,delta"`
	Delta32  int32     `parquet:"delta32,delta"`
	Double   float64   `parquet:"double,split"`
	Float    float32   `parquet:"float"`
	Flag     bool      `parquet:"flag"`
	Text     string    `parquet:"text"`
	DictText string    `parquet:"dict_text,dict"`
	Lengths  string    `parquet:"lengths,delta"`
	Maybe    *int64    `parquet:"maybe,optional"`
	Fixed    [5]byte   `parquet:"fixed"`
	List     []string  `parquet:"list,list"`
	Repeated []float64 `parquet:"repeated"`
}

func random(r *rand.Rand, n int) (rows []mixed) {
	for i := range n {
		m := mixed{
			Plain: r.Int64(), Dict: int32(r.IntN(7)), Delta: r.Int64() >> r.IntN(64), Delta32: int32(r.Uint32()), Double: r.NormFloat64(), Float: r.Float32(), Flag: r.IntN(3) == 0,
			Text: strings.Repeat("x", r.IntN(4)), DictText: fmt.Sprint("name ", r.IntN(300)), Lengths: fmt.Sprint("prefix/", i>>r.IntN(8)),
		}
		if r.IntN(10) > 0 {
			m.Delta = int64(i) * 1000
			v := int64(i)
			m.Maybe = &v
		}
		binary.LittleEndian.PutUint32(m.Fixed[:], r.Uint32())
		for range r.IntN(4) {
			m.List = append(m.List, fmt.Sprint(r.IntN(1000)))
		}
		for range r.IntN(3) {
			m.Repeated = append(m.Repeated, r.Float64())
		}
		rows = append(rows, m)
	}
	return rows
}

// TestEncodings reads what parquet-go wrote in all encodings and compressions.
func TestEncodings(t *testing.T) {
	rounds.Unraced(t)
	r := rand.New(rand.NewPCG(1, 2))
	for k, codec := range []compress.Codec{&parquet.Uncompressed, &parquet.Snappy, &parquet.Gzip, &parquet.Zstd, &parquet.Lz4Raw} {
		for version := 1; version <= 2; version++ {
			rows := random(r, []int{1, 3000, 700}[(k+version)%3])
			var out bytes.Buffer
			w := parquet.NewGenericWriter[mixed](&out, parquet.Compression(codec), parquet.DataPageVersion(version), parquet.PageBufferSize(1000), parquet.MaxRowsPerRowGroup(1100))
			if _, err := w.Write(rows); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			f, err := openFile(out.Bytes())
			if err != nil {
				t.Fatal(err)
			}
			at := 0
			for g := range f.groups {
				var columns []column
				for i := range f.leaves {
					reader, err := newReader(f, &f.leaves[i], &f.groups[g].chunks[i])
					if err != nil {
						t.Fatal(err)
					}
					columns = append(columns, column{leaf: &f.leaves[i], r: reader})
				}
				for range f.groups[g].rows {
					m := &rows[at]
					want := []any{m.Plain, m.Dict, m.Delta, m.Delta32, m.Double, float64(m.Float), m.Flag, m.Text, m.DictText, m.Lengths, "", string(m.Fixed[:]), fmt.Sprint(m.List), fmt.Sprint(m.Repeated)}
					if m.Maybe != nil {
						want[10] = *m.Maybe
					}
					for i := range columns {
						c := &columns[i]
						c.row = append(c.row[:0], value{})
						if err := c.move(); err != nil {
							t.Fatalf("%s, version %d, row %d: %v", codec, version, at, err)
						}
						if got := show(c); got != fmt.Sprint(want[i]) {
							t.Fatalf("%s, version %d, row %d, %s: %s, want %v", codec, version, at, c.leaf.name(), got, want[i])
						}
					}
					at++
				}
			}
			if at != len(rows) {
				t.Errorf("%d rows of %d", at, len(rows))
			}
		}
	}
}

func show(c *column) string {
	one := func(v *value) any {
		switch {
		case v.null:
			return ""
		case c.physical == physicalBool:
			return v.i != 0
		case c.physical == physicalDouble || c.physical == physicalFloat:
			return v.f
		case c.physical == physicalBytes || c.physical == physicalFixed:
			return string(v.b)
		}
		return v.i
	}
	if c.maxRep == 0 {
		return fmt.Sprint(one(&c.row[0]))
	}
	list := []any{}
	for i := range c.row {
		if c.row[i].def >= c.listDef {
			list = append(list, one(&c.row[i]))
		}
	}
	return fmt.Sprint(list)
}

// spanRows lists the spans of a recording.
func spanRows(r *recording.Recording) (list []string) {
	table := relation.Named("spans")
	rows := relation.New(r).Open(table)
	for at := range rows.Len() {
		rows.Move(at)
		s := ""
		for _, c := range []string{"function", "start_ps", "end_ps", "self_ps", "depth", "unfinished", "args"} {
			s += rows.Value(table.Column(c)).String() + " "
		}
		list = append(list, s)
	}
	slices.Sort(list)
	return list
}

// TestTables checks that the tables of a recording give its spans and the weights of its
// innermost functions back.
func TestTables(t *testing.T) {
	rec := example(500)
	set := relation.New(rec)
	read := func(name string) *recording.Recording {
		var out bytes.Buffer
		if _, err := Write(context.Background(), &out, set, relation.Named(name), nil); err != nil {
			t.Fatal(err)
		}
		r, err := decodetest.Bytes(t, Decode, out.Bytes(), 0)
		if err != nil {
			t.Fatal(name, err)
		}
		return r
	}
	spans := read("spans")
	if w := spans.Warnings; len(w) != 1 || w[0].Code != "threads-by-number" || !w[0].Minor {
		t.Errorf("spans: %v", w)
	}
	if got, want := spanRows(spans), spanRows(rec); !slices.Equal(got, want) {
		t.Errorf("%d spans, want %d; first %q, want %q", len(got), len(want), got[:1], want[:1])
	}
	samples := read("samples")
	if got := samples.Events[0].Metrics[0].Total; got != 2 || samples.Counts.Samples != 2 || len(samples.Warnings) != 1 {
		t.Errorf("samples: total %d of %d, %v", got, samples.Counts.Samples, samples.Warnings)
	}
	if got := read("stacks").Events[0].Metrics[0].Total; got != 4 {
		t.Errorf("stacks: total %d", got)
	}
}

// build writes rows of a struct.
func build[T any](t *testing.T, rows ...T) []byte {
	t.Helper()
	var out bytes.Buffer
	w := parquet.NewGenericWriter[T](&out)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return out.Bytes()
}

func TestOddFiles(t *testing.T) {
	type other struct {
		City string `parquet:"city"`
		Year int64  `parquet:"year"`
	}
	type named struct {
		Name string `parquet:"name"`
	}
	type span struct {
		Name  string  `parquet:"name"`
		Start float64 `parquet:"start_ms"`
		End   float64 `parquet:"end_ms"`
	}
	whole := written(t, "spans")
	huge := slices.Clone(whole)
	binary.LittleEndian.PutUint32(huge[len(huge)-8:], 1<<31)
	var functions bytes.Buffer
	if _, err := Write(context.Background(), &functions, relation.New(example(1)), relation.Named("threads"), nil); err != nil {
		t.Fatal(err)
	}
	var packed bytes.Buffer
	w := parquet.NewGenericWriter[span](&packed, parquet.Compression(&parquet.Brotli))
	if _, err := w.Write([]span{{"f", 1, 2}}); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name, place, want string
		content           []byte
	}{
		{"cut", "", "the Parquet file is truncated: its metadata, which ends it, is missing", whole[:len(whole)-1]},
		{"only a beginning", "", "the Parquet file is truncated: its metadata, which ends it, is missing", []byte("PAR1")},
		{"huge metadata", "", "the metadata of the Parquet file is damaged: it claims to be 2147483648 bytes long", huge},
		{"encrypted", "", errEncrypted.Error(), []byte("PARE1234123412341234PARE")},
		{"other columns", "", `the Parquet file has no column "name", "function" or "stack" of spans, samples or stacks. Its columns: "city", "year"`, build(t, other{"Ulm", 1900})},
		{"only names", "", `the Parquet file has names, but neither times (such as "start" and "duration") nor values. Its columns: "name"`, build(t, named{"f"})},
		{"no rows", "", "the Parquet file has no rows", build[span](t)},
		{"another table", "", `this is the table "threads" of a recording, without spans, samples or stacks. Open the table spans, or the recording itself`, functions.Bytes()},
		{"Brotli", "", `the page at byte 4 of the column "name" cannot be read: its compression, Brotli, is not supported. Write it with Zstandard or Snappy`, packed.Bytes()},
		{"ends early", "row 2", "Rows end before they start and were left out, first row 2", build(t, span{"f", 1, 2}, span{"g", 3, 2.5})},
		{"no number", "row 1", "Rows have no time and were left out, first row 1", build(t, span{"f", math.NaN(), 2}, span{"g", 3, 4})},
		{"far", "row 2", "Rows are too far in time from the others and were left out, first row 2", build(t, span{"f", 1, 2}, span{"g", 1e15, 1e15}, span{"h", 2, 3})},
	} {
		r, err := decodetest.Bytes(t, Decode, c.content, 0)
		decodetest.Sentence(t, c.name, r, err, c.place, c.want)
	}
	decodetest.Sniffs(t, sniff, true, map[string]decode.Confidence{"PAR1": decode.Certain, "": decode.No, "PAR": decode.No, "PARE": decode.No, "[]": decode.No})
}

// TestBombs checks that small files that claim to hold much are refused.
func TestBombs(t *testing.T) {
	rounds.Unraced(t)
	zeros := make([]byte, 200<<20)
	for name, codec := range map[string]compress.Codec{"zstd": &parquet.Zstd, "gzip": &parquet.Gzip, "snappy": &parquet.Snappy, "lz4": &parquet.Lz4Raw} {
		packed, err := codec.Encode(nil, zeros)
		if err != nil {
			t.Fatal(err)
		}
		id := map[string]int{"zstd": codecZstd, "gzip": codecGzip, "snappy": codecSnappy, "lz4": codecLZ4}[name]
		if got, err := unpack(id, packed, 1000); err == nil {
			t.Errorf("%s: %d bytes", name, len(got))
		}
	}
	// A list of 2³¹ row groups in a few bytes.
	meta := []byte{0x49, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07}
	content := append([]byte("PAR1"), meta...)
	content = append(binary.LittleEndian.AppendUint32(content, uint32(len(meta))), "PAR1"...)
	if _, err := openFile(content); err == nil {
		t.Error("a list longer than the file was accepted")
	}
}

// TestDamage changes bytes at random: reading must end, with a balanced ledger.
func TestDamage(t *testing.T) {
	rounds.Unraced(t)
	r := rand.New(rand.NewPCG(3, 4))
	for _, name := range []string{"spans", "units", "samples", "stacks", "structs"} {
		whole := written(t, name)
		for range 300 {
			b := slices.Clone(whole)
			for range 1 + r.IntN(3) {
				b[4+r.IntN(len(b)-8)] = byte(r.Uint32())
			}
			decodetest.Bytes(t, Decode, b, 0)
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, name := range []string{"spans", "units", "samples", "stacks", "structs"} {
		f.Add(written(f, name))
	}
	decodetest.Fuzz(f, Decode, sniff)
}
