package tables_test

import (
	"encoding/csv"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"ashlar/app/core/tables"
	"ashlar/ingest/model/recording"
)

type row struct {
	name  string
	bytes int64
	took  int64 // ps
	known bool
}

var rows = []row{{"plain", 1500, 2_500_000, true}, {"=1+1", -20, 0, false}, {"a, \"b\"\nc", 0, 7, true}}

func columns() []tables.Column[row] {
	m := &recording.Metric{Name: "alloc", Unit: "bytes", Decimals: 1}
	return []tables.Column[row]{
		tables.Named("name", func(r *row) string { return r.name }),
		tables.Value("alloc", m, func(r *row) int64 { return r.bytes }),
		tables.Time("took", func(r *row) int64 { return r.took }).Where(func(r *row) bool { return r.known }),
		tables.Share(1500, func(r *row) int64 { return r.bytes }),
	}
}

// TestOneTable compares a table as text, CSV and JSON with rows written by hand.
func TestOneTable(t *testing.T) {
	var b strings.Builder
	if err := tables.CSV(&b, columns()[:3], rows); err != nil {
		t.Fatal(err)
	}
	got, err := csv.NewReader(strings.NewReader(b.String())).ReadAll()
	want := [][]string{{"name", "alloc_bytes", "took_ns"}, {"plain", "150", "2500"}, {"'=1+1", "-2", ""}, {"a, \"b\"\nc", "0", "0.007"}}
	if err != nil || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("CSV has %q (%v), want %q", got, err, want)
	}
	var objects []map[string]any
	if err := json.Unmarshal([]byte(tables.NewGrid("x", columns()[:3], rows).Json()), &objects); err != nil {
		t.Fatal(err)
	}
	if len(objects) != len(rows) {
		t.Fatalf("JSON has %d rows", len(objects))
	}
	for i, o := range objects {
		if line := fmt.Sprint(o["name"], o["alloc (bytes)"], o["took (ns)"]); line != fmt.Sprint(any(rows[i].name), []any{150., -2., 0.}[i], []any{2500., nil, .007}[i]) {
			t.Errorf("JSON has %s for %v", line, rows[i])
		}
	}
	var text strings.Builder
	tables.Write(&text, "> ", columns(), rows)
	const page = `
> name      alloc      took
> plain     150 B  2.500 µs   100 %
> =1+1       −2 B         –  −1.3 %
> a, "b" c    0 B      7 ps     0 %
`
	if text.String() != page[1:] {
		t.Errorf("the text is\n%s", text.String())
	}
}
