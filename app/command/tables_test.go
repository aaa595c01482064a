package command

import (
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"

	"ashlar/app/command/dataset"
	"ashlar/testdata/samples"
)

// tableRows returns the rows of a table of a recording in a data set, as texts by column; ""
// for NULL.
func tableRows(t *testing.T, dir, table, name string) (rows []map[string]string) {
	t.Helper()
	path := filepath.Join(dir, table, "recording="+name, "rows.parquet")
	b, err := os.ReadFile(path)
	if os.IsNotExist(err) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	r := parquet.NewReader(strings.NewReader(string(b)))
	columns := r.Schema().Columns()
	batch := make([]parquet.Row, 100)
	for {
		n, err := r.ReadRows(batch)
		for _, row := range batch[:n] {
			cells := map[string]string{}
			for i, v := range row {
				if !v.IsNull() {
					cells[columns[i][0]] = v.String()
				}
			}
			rows = append(rows, cells)
		}
		if err != nil {
			return rows
		}
	}
}

// naiveTop adds up the self and total values of each function by the tables: by the kind of
// records with the event, metric and function.
func naiveTop(t *testing.T, dir, name string) (self, total map[[3]string]*big.Rat) {
	self, total = map[[3]string]*big.Rat{}, map[[3]string]*big.Rat{}
	functions, calls := map[string]string{}, map[string]map[string]string{}
	for _, r := range tableRows(t, dir, "functions", name) {
		functions[r["function_id"]] = r["name"] + "@" + r["module"]
	}
	for _, r := range tableRows(t, dir, "calls", name) {
		calls[r["call_id"]] = r
	}
	metrics, traced := map[string]map[string]string{}, ""
	for _, r := range tableRows(t, dir, "metrics", name) {
		metrics[r["metric_id"]] = r
		if r["basis"] == "spans" {
			traced = r["event"]
		}
	}
	add := func(event, metric, call, value string) {
		v, ok := new(big.Rat).SetString(value)
		if !ok {
			return
		}
		seen := map[string]bool{}
		if call == "" {
			functions[calls[call]["function_id"]] = "[no stack]@"
		}
		for c, first := call, true; first || c != ""; c, first = calls[c]["parent_id"], false {
			f := functions[calls[c]["function_id"]]
			into := []map[[3]string]*big.Rat{total}
			if c == call {
				into = append(into, self)
			}
			for i, m := range into {
				if i == 0 && seen[f] {
					continue
				}
				k := [3]string{event, metric, f}
				if m[k] == nil {
					m[k] = new(big.Rat)
				}
				m[k].Add(m[k], v)
			}
			seen[f] = true
		}
	}
	for _, kind := range []string{"stack", "sample"} {
		records := map[string]map[string]string{}
		for _, r := range tableRows(t, dir, kind+"s", name) {
			records[r[kind+"_id"]] = r
		}
		for _, r := range tableRows(t, dir, kind+"_values", name) {
			m := metrics[r["metric_id"]]
			add(kind+"s/"+m["event"], m["metric"], records[r[kind+"_id"]]["call_id"], scaled(r["value"], m["decimals"]))
		}
	}
	for _, r := range tableRows(t, dir, "spans", name) {
		add("spans/"+traced, "time", r["call_id"], scaled(r["self_ps"], "3"))
	}
	return self, total
}

func scaled(v, decimals string) string {
	if v == "" {
		return ""
	}
	return v + "e-" + decimals
}

// checkTables writes recordings as a data set and compares the sums of its tables, and what
// DuckDB says about them, with the answers of top.
func checkTables(t *testing.T, paths []string) {
	dir := t.TempDir()
	r := ask(append(append([]string{"tables"}, paths...), "-o", dir, "--json")...)
	if r.code != Done {
		t.Fatalf("exit code %d: %s", r.code, r.stderr)
	}
	var set dataset.Result
	if err := json.Unmarshal([]byte(r.stdout), &set); err != nil {
		t.Fatal(err)
	}
	for i, path := range paths {
		if info, err := os.Stat(path); err == nil && info.Size() <= 400<<10 { // adding up rows takes long
			t.Run(set.Recordings[i].Name, func(t *testing.T) { checkSums(t, dir, &set.Recordings[i], path) })
		}
	}
	t.Run("DuckDB", func(t *testing.T) { checkDuckDB(t, dir, &set, paths) })
}

// checkSums compares the sums of a recording's tables with the answers of top.
func checkSums(t *testing.T, dir string, x *dataset.Recording, path string) {
	rows := int64(0)
	for _, table := range x.Tables {
		if n := int64(len(tableRows(t, dir, table.Name, x.Name))); n != table.Rows {
			t.Errorf("%s has %d rows, said to be %d", table.Name, n, table.Rows)
		}
		rows += table.Rows
	}
	if rows != x.Rows {
		t.Errorf("%d rows in all, said to be %d", rows, x.Rows)
	}
	in := infoOf(t, path)
	for table, want := range map[string]int64{"spans": in.Counts.Spans, "samples": in.Counts.Samples, "stacks": in.Counts.Stacks, "functions": in.Counts.Functions, "threads": int64(len(in.Threads))} {
		if got := int64(len(tableRows(t, dir, table, x.Name))); got != want {
			t.Errorf("%d %s, want %d", got, table, want)
		}
	}
	self, total := naiveTop(t, dir, x.Name)
	for _, e := range in.Events {
		for _, m := range e.Metrics {
			args := []string{path, "--metric", m.Name}
			if e.Name != "" {
				args = append(args, "--event", e.Name)
			}
			top := topOf(t, args...)
			if top.Basis == "windows" || top.Basis == "states" || top.Basis == "spans" && m.Name != "time" {
				continue
			}
			for _, row := range top.Rows {
				k := [3]string{top.Basis + "/" + e.Name, m.Name, row.Name + "@" + row.Module}
				for _, x := range []struct {
					what string
					got  *big.Rat
					want json.Number
				}{{"self", self[k], row.Self}, {"total", total[k], row.Total}} {
					if x.got == nil {
						x.got = new(big.Rat)
					}
					if x.got.Cmp(rat(t, x.want)) != 0 {
						t.Errorf("%s of %v is %s, want %s", x.what, k, x.got.FloatString(4), x.want)
					}
				}
			}
		}
	}
}

// TestTables checks that the sums of the tables are those of top, on small recordings.
func TestTables(t *testing.T) {
	checkTables(t, []string{"testdata/small.spaa", "testdata/small.spall", "testdata/small.ftrace", "testdata/diff-a.folded", "testdata/damaged.spaa", "testdata/small-gpu.json"})
}

// TestTablesOfSamples is TestTables for all samples.
func TestTablesOfSamples(t *testing.T) {
	samples.Need(t)
	var paths []string
	for _, path := range samples.Files(t) {
		if ask("info", path).code == Done {
			paths = append(paths, path)
		}
	}
	checkTables(t, paths)
}

// TestTablesAgain checks that a recording in a data set is replaced only with --force, and
// that other files are left alone.
func TestTablesAgain(t *testing.T) {
	dir := t.TempDir()
	if r := ask("tables", "testdata/small.spall", "testdata/small.spaa", "-o", dir); r.code != Done || !strings.Contains(r.stdout, "small.spall: 27 rows in 9 tables") {
		t.Fatalf("%d %s%s", r.code, r.stdout, r.stderr)
	}
	if r := ask("tables", "testdata/small.spall", "-o", dir); r.code != Problem || !strings.Contains(r.stderr, "has this recording already; --force replaces it") {
		t.Errorf("again: %d %s", r.code, r.stderr)
	}
	stale := filepath.Join(dir, "samples", "recording=small.spall", "rows.parquet")
	if err := os.MkdirAll(filepath.Dir(stale), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(stale, []byte("PAR1"), 0o666); err != nil {
		t.Fatal(err)
	}
	if r := ask("tables", "testdata/small.spall", "-o", dir, "--force"); r.code != Done {
		t.Errorf("with --force: %d %s", r.code, r.stderr)
	}
	if _, err := os.Stat(stale); err == nil {
		t.Error("a table that became empty is still there")
	}
	mine := filepath.Join(dir, "spans", "recording=small.spall", "rows.parquet")
	if err := os.WriteFile(mine, []byte("my notes"), 0o666); err != nil {
		t.Fatal(err)
	}
	if r := ask("tables", "testdata/small.spall", "-o", dir, "--force"); r.code != Problem || !strings.Contains(r.stderr, "not a Parquet file") {
		t.Errorf("a file of another kind: %d %s", r.code, r.stderr)
	}
	for _, wrong := range [][]string{{"tables"}, {"tables", "testdata/small.spall"}} {
		if r := ask(wrong...); r.code != Usage {
			t.Errorf("%v: %d %s", wrong, r.code, r.stderr)
		}
	}
}

// sqlRows returns the answer to a query as JSON.
func sqlRows(t *testing.T, args ...string) sqlAnswer {
	t.Helper()
	r := ask(append([]string{"sql", "--json"}, args...)...)
	if r.code != Done {
		t.Fatalf("sql %v: exit code %d: %s", args, r.code, r.stderr)
	}
	var a sqlAnswer
	d := json.NewDecoder(strings.NewReader(r.stdout))
	d.UseNumber()
	if err := d.Decode(&a); err != nil {
		t.Fatal(err)
	}
	return a
}

// TestSQLAgrees checks answers in SQL against those of top and stats.
func TestSQLAgrees(t *testing.T) {
	top := topOf(t, "testdata/small.spall", "--event", "")
	a := sqlRows(t, "testdata/small.spall", "SELECT function, sum(self_ps), count(*) FROM spans GROUP BY 1")
	self := map[string]json.Number{}
	for _, r := range a.Rows {
		self[r[0].(string)] = r[1].(json.Number)
	}
	for _, r := range top.Rows {
		if got := rat(t, self[r.Name]); got.Mul(got, big.NewRat(1, 1000)).Cmp(rat(t, r.Self)) != 0 {
			t.Errorf("self of %s is %s ns, want %s", r.Name, got.FloatString(3), r.Self)
		}
	}
	if len(a.Rows) != len(top.Rows) {
		t.Errorf("%d functions, want %d", len(a.Rows), len(top.Rows))
	}
}

// TestSQLStates checks the sums of states by thread against those of top.
func TestSQLStates(t *testing.T) {
	const file = "testdata/small.ftrace"
	for metric, state := range map[string]string{"blocked": "blocked", "runnable": "runnable", "cpu": "running"} {
		top := topOf(t, file, "--event", "states", "--metric", metric)
		a := sqlRows(t, file, "SELECT sum(duration_ps) FROM states WHERE state = '"+state+"'")
		if got := rat(t, a.Rows[0][0]); got.Mul(got, big.NewRat(1, 1000)).Cmp(rat(t, top.Total)) != 0 {
			t.Errorf("%s for %s ns, want %s", state, got.FloatString(3), top.Total)
		}
	}
}

// TestSQL checks the forms of the answer, and errors.
func TestSQL(t *testing.T) {
	const file = "testdata/small.spall"
	if r := ask("sql", file, "--query", "testdata/functions.sql"); r.code != Done || !strings.HasPrefix(r.stdout, "function  self_ps  mean_ps\nserve     4500000  5500000\n") {
		t.Errorf("text: %d %s%s", r.code, r.stdout, r.stderr)
	}
	if r := ask("sql", file, "SELECT 'a,b' AS x, NULL AS y, 1.5 AS z", "--csv"); r.stdout != "x,y,z\n\"a,b\",,1.5\n" {
		t.Errorf("CSV: %s%s", r.stdout, r.stderr)
	}
	if a := sqlRows(t, file, "SELECT 9007199254740993, NULL, 'ä', 2.5, 1e999"); fmt.Sprint(a.Rows) != "[[9007199254740993 <nil> ä 2.5 +Inf]]" || a.More {
		t.Errorf("JSON: %v", a.Rows)
	}
	if r := ask("sql", file, "SELECT span_id FROM spans ORDER BY 1", "-n", "2"); r.stdout != "span_id\n      0\n      1\n" || !strings.Contains(r.stderr, "only the first 2 rows are shown; -n 0 prints all") {
		t.Errorf("two rows: %q %s", r.stdout, r.stderr)
	}
	if r := ask("sql", file, "testdata/small.spaa", "SELECT recording, count(*) FROM functions GROUP BY 1"); !strings.Contains(r.stdout, "small.spaa ") || !strings.Contains(r.stdout, "small.spall") {
		t.Errorf("two recordings: %s%s", r.stdout, r.stderr)
	}
	if r := ask("sql", file, "SELECT nosuch FROM threads WHERE thread_id > 9"); r.code != Usage || !strings.Contains(r.stderr, "no such column: nosuch (line 1, column 8: nosuch FROM threads WHERE thre…); threads has ") {
		t.Errorf("an error: %d %s", r.code, r.stderr)
	}
	if r := ask("sql", file, "SELECT name FROM threads WHERE thread_id > 9"); r.stdout != "No rows (name).\n" {
		t.Errorf("no rows: %s", r.stdout)
	}
	if r := ask("sql", "--demo", "SELECT recording FROM recordings"); !strings.Contains(r.stdout, "demo") {
		t.Errorf("the demo: %s%s", r.stdout, r.stderr)
	}
	if r := ask("sql", file, "SELECT a.span_id FROM spans a, spans b, spans c, spans d, spans e, spans f, spans g, spans h, spans i, spans j, spans k", "--timeout", "1ms", "--csv"); r.code != Usage || !strings.Contains(r.stderr, "took longer than 1ms") {
		t.Errorf("a long one: %d %s", r.code, r.stderr)
	}
	for _, wrong := range [][]string{{"sql", file}, {"sql"}, {"sql", file, "SELECT 1", "--timeout", "0s"}, {"sql", file, "SELECT 1", "--csv", "--json"}, {"sql", file, "DROP TABLE spans"}} {
		if r := ask(wrong...); r.code != Usage {
			t.Errorf("%v: %d %s", wrong, r.code, r.stderr)
		}
	}
}
