package sql

import (
	"context"
	"fmt"
	"math"
	"strings"
	"testing"
	"time"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/model/relation"
	"ashlar/testdata/rounds"
)

// example returns a recording of n rounds on two threads.
func example(n int) *recording.Recording {
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	b.SetArgs(func(ref uint64) string { return fmt.Sprintf(`{"n":%d}`, ref) })
	frame := func(name string) recording.FrameID {
		return b.FunctionFrame(b.Function(recording.Function{Name: name, Module: "app"}))
	}
	for tid := range int64(2) {
		t := b.Track(recording.TrackKey{PID: 1, TID: tid + 1})
		for i := range n {
			at := int64(i) * 1000
			t.Begin(at, frame(fmt.Sprintf("outer%d", i%7)), uint64(i%3))
			t.Begin(at+10, frame("inner"), 0)
			t.End(at + 500)
			t.End(at + 900)
		}
	}
	return b.Finish()
}

func ask(t testing.TB, sources []Source, query string) string {
	t.Helper()
	r, err := Run(context.Background(), sources, query, Limits{})
	if err != nil {
		return "error: " + err.Error()
	}
	var lines []string
	for _, row := range r.Rows {
		var cells []string
		for _, v := range row {
			switch {
			case v.Null:
				cells = append(cells, "NULL")
			case v.Type == relation.Text:
				cells = append(cells, v.Text)
			case v.Type == relation.Real:
				cells = append(cells, fmt.Sprint(v.Real))
			default:
				cells = append(cells, fmt.Sprint(v.Int))
			}
		}
		lines = append(lines, strings.Join(cells, " "))
	}
	return strings.Join(lines, "\n")
}

// TestQueries checks answers, with joins by keys, by other columns, and over recordings.
func TestQueries(t *testing.T) {
	sources := []Source{{"a", relation.New(example(14))}, {"b", relation.New(example(7))}}
	for _, c := range [][2]string{
		{"SELECT recording, count(*), sum(self_ps) FROM spans GROUP BY 1", "a 56 25200\nb 28 12600"},
		{"SELECT count(*) FROM spans s JOIN spans p ON p.recording = s.recording AND p.span_id = s.parent_id AND p.start_ps + 10 = s.start_ps", "42"},
		{"SELECT f.name, sum(s.duration_ps) FROM functions f JOIN spans s ON s.recording = f.recording AND s.function_id = f.function_id WHERE f.recording = 'b' AND f.name < 'outer' GROUP BY 1", "inner 6860"},
		{"SELECT count(*) FROM functions f JOIN spans s ON s.function = f.name WHERE f.recording = 'b' AND f.name = 'outer3'", "6"},
		{"SELECT count(*) FROM spans WHERE call_id = 1.0 AND recording = 'a'", "4"},
		{"SELECT count(*) FROM calls WHERE call_id = 3", "2"},
		{"SELECT call_id FROM calls WHERE call_id = 0", ""},
		{"SELECT sum(self_ps), max(self_ps + 0) FROM spans s WHERE self_ps > 450 AND self_ps < 500", "20580 490"},
		{"SELECT DISTINCT self_ps, self_ps + 0 FROM spans WHERE self_ps <> duration_ps AND depth = 1", "410 410"},
		{"SELECT count(*) FROM calls WHERE call_id = '3'", "2"},
		{"SELECT count(*) FROM spans WHERE parent_id = NULL", "0"},
		{"SELECT sum(args ->> '$.n') FROM spans WHERE recording = 'b'", "12"},
		{"SELECT percentile_disc(duration_ps, 0.5) FROM spans", "490"},
		{"WITH RECURSIVE up(id) AS (SELECT max(span_id) FROM spans WHERE recording = 'b' UNION ALL SELECT s.parent_id FROM up JOIN spans s ON s.span_id = up.id WHERE s.recording = 'b' AND s.parent_id IS NOT NULL) SELECT count(*) FROM up", "2"},
		{"SELECT name, type, unit FROM columns WHERE recording = 'a' AND table_name = 'counter_values'", "counter_id integer NULL\ntime_ps integer ps\nvalue real of the counter"},
		{"SELECT kind FROM threads WHERE thread_id IN (0, 1) AND recording = 'a' -- both\n;", "thread\nthread"},
	} {
		if got := ask(t, sources, c[0]); got != c[1] {
			t.Errorf("%s:\n%s\nwant\n%s", c[0], got, c[1])
		}
	}
}

// TestRefused checks that queries can only read the tables.
func TestRefused(t *testing.T) {
	sources := []Source{{"a", relation.New(example(3))}}
	const reading = "only reading these tables is allowed"
	for _, c := range [][2]string{
		{"ATTACH '/etc/passwd' AS x", reading},
		{"VACUUM INTO '/tmp/x'", "only"},
		{"CREATE TABLE x(a)", reading},
		{"CREATE TEMP TABLE x AS SELECT 1", reading},
		{"CREATE VIRTUAL TABLE x USING spans", reading},
		{"INSERT INTO spans(span_id) VALUES (1)", reading},
		{"DELETE FROM spans", "may not be modified"},
		{"PRAGMA temp_store = file", reading},
		{"SELECT * FROM pragma_database_list", reading},
		{"SELECT * FROM sqlite_schema", reading},
		{"SELECT load_extension('x')", ""},
		{"SELECT readfile('/etc/passwd')", "no such function: readfile (line 1, column 8: readfile('/etc/passwd'))"},
		{"BEGIN", reading},
		{"SAVEPOINT a", reading},
		{"ANALYZE", reading},
		{"SELECT 1; SELECT 2", "only one statement is allowed (line 1, column 11: SELECT 2)"},
		{"SELECT 1; SELEC", "only one statement"},
		{"", "the query is empty"},
		{"SELECT ?", "parameter"},
		{"EXPLAIN SELECT 1", ""},
		{"SELECT count(*)\nFROM spanz", "no such table: spanz; tables: recordings, "},
		{"SELECT 1,\n  start\nFROM spans", "no such column: start (line 2, column 3: start); spans has span_id, "},
		{"SELECT s.nosuch FROM spans s, threads, states", "; threads has "},
		{"SELECT nosuch", "no such column: nosuch (line 1, column 8: nosuch)"},
		{"SELECT \x00", "not valid UTF-8"},
		{"SELECT zeroblob(1000000000)", "too long"},
		{"SELECT " + strings.Repeat("(", 5000) + "1" + strings.Repeat(")", 5000), ""},
		{"SELECT printf('%.*c', 100000000, 'x')", "too long"},
	} {
		if got := ask(t, sources, c[0]); c[1] != "" && (!strings.HasPrefix(got, "error: ") || !strings.Contains(got, c[1])) {
			t.Errorf("%.60s: %.200s, want %s", c[0], got, c[1])
		}
	}
}

// TestBounded checks the limits of time, memory, and the size of the result.
func TestBounded(t *testing.T) {
	sources := []Source{{"a", relation.New(example(2000))}}
	for _, c := range [][2]string{
		{"SELECT count(*) FROM spans a, spans b, spans c, spans d", "took longer than 300ms"},
		{"WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT max(n) FROM x", "took longer than 300ms"},
		{"SELECT count(*) FROM spans a, spans b WHERE a.args LIKE '%' || b.args || '%x'", "took longer than 300ms"},
	} {
		began := time.Now()
		_, err := Run(context.Background(), sources, c[0], Limits{Time: 300 * time.Millisecond})
		if err == nil || !strings.Contains(err.Error(), c[1]) {
			t.Errorf("%s: %v, want %s", c[0], err, c[1])
		}
		if d := time.Since(began); d > time.Minute {
			t.Errorf("%s ended after %v", c[0], d)
		}
	}
	most := sqliteBytes
	sqliteBytes = 8 << 20
	large := []string{"SELECT a.span_id FROM spans a, spans b ORDER BY a.span_id * b.span_id", "SELECT a.function, b.function FROM spans a, spans b ORDER BY 1, 2"}
	for _, query := range large[:rounds.Size(len(large), 1)] {
		if _, err := Run(context.Background(), sources, query, Limits{}); err == nil || !strings.Contains(err.Error(), "needs more than 8 MB of memory") {
			t.Errorf("%s: %v", query, err)
		}
	}
	sqliteBytes = most
	r, err := Run(context.Background(), sources, "SELECT * FROM spans", Limits{Rows: 10})
	if err != nil || len(r.Rows) != 10 || !r.Cut {
		t.Errorf("10 rows: %v", err)
	}
	r, err = Run(context.Background(), sources, "WITH RECURSIVE x(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM x) SELECT printf('%.*c', 1000000, 'x') FROM x", Limits{Bytes: 3 << 20})
	if err != nil || len(r.Rows) > 5 || !r.Cut {
		t.Errorf("long texts: %v", err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := Run(ctx, sources, "SELECT 1", Limits{}); err != context.Canceled {
		t.Errorf("cancelled: %v", err)
	}
}

// TestSortedColumns compares the rows that a condition on the first sorted column of a table
// finds with those that SQLite finds in all rows.
func TestSortedColumns(t *testing.T) {
	x, y := newShop(1), newShop(2)
	sources := []Source{{"a", x.set}, {"b", y.set}}
	tested := 0
	for _, table := range relation.Tables {
		c := sorted(table)
		if c < 0 {
			continue
		}
		name := table.Columns[c].Name
		for _, set := range []*relation.Set{x.set, y.set} {
			rows, last := set.Open(table), int64(math.MinInt64)
			for i := range rows.Len() {
				rows.Move(i)
				if v := rows.Value(c); v.Int < last {
					t.Fatalf("%s: row %d of %s is not in order", table.Name, i, name)
				} else {
					last = v.Int
				}
			}
		}
		for _, v := range []string{"-1", "0", "1", "2", "3.0", "1.5", "'1'", "9223372036854775807", "-9223372036854775808", "NULL"} {
			got := ask(t, sources, fmt.Sprintf("SELECT recording, count(*), total(%s) FROM %s WHERE %s = %s GROUP BY 1 ORDER BY 1", name, table.Name, name, v))
			want := ask(t, sources, fmt.Sprintf("SELECT recording, count(*), total(%s) FROM %s WHERE +%s = CAST(%s AS NUMERIC) GROUP BY 1 ORDER BY 1", name, table.Name, name, v))
			if got != want {
				t.Errorf("%s.%s = %s: %s, want %s", table.Name, name, v, got, want)
			}
			tested += len(got)
		}
	}
	if tested == 0 {
		t.Error("no row was found")
	}
	if got, want := ask(t, sources, "SELECT count(*) FROM threads t JOIN spans s ON s.thread_id = t.thread_id AND s.recording = t.recording"), ask(t, sources, "SELECT count(*) FROM spans"); got != want {
		t.Errorf("a join finds %s spans of %s", got, want)
	}
}

// TestValuesAreOrderedAsInSQL checks [relation.Value.Compare] against ORDER BY.
func TestValuesAreOrderedAsInSQL(t *testing.T) {
	r, err := Run(context.Background(), []Source{{"a", relation.New(example(1))}}, `SELECT column1 FROM (VALUES (''), (3), ('10'), (NULL), (-2.5), ('B'), (10), ('a'), (2.5), (-3), ('é'),
		(9007199254740993), (9007199254740992), (1e300)) ORDER BY column1`, Limits{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range len(r.Rows) - 1 {
		if a, b := r.Rows[i][0], r.Rows[i+1][0]; a.Compare(b) >= 0 || b.Compare(a) <= 0 || a.Compare(a) != 0 {
			t.Errorf("%q is before %q in SQL", a, b)
		}
	}
	if len(r.Rows) != 14 {
		t.Errorf("%d rows", len(r.Rows))
	}
}
