package command

import (
	"bufio"
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"ashlar/app/command/dataset"
)

// duckDB runs queries in DuckDB in the folder of a data set, after its views were created, and
// returns their rows. DuckDB is installed once, in the version of testdata/duckdb, by npm. If
// that fails, the test fails; ASHLAR_DUCKDB=none skips it.
func duckDB(t *testing.T, dir string, queries ...string) (results [][][]any) {
	t.Helper()
	if testing.Short() {
		t.Skip("it installs DuckDB: make check runs this test")
	}
	if os.Getenv("ASHLAR_DUCKDB") == "none" {
		t.Skip("ASHLAR_DUCKDB=none: nothing checks that DuckDB reads the tables")
	}
	home := installDuckDB(t)
	script, err := filepath.Abs("testdata/duckdb/query.js")
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("node", append([]string{script, "duckdb.sql"}, queries...)...)
	cmd.Dir = dir
	cmd.Env = append(os.Environ(), "NODE_PATH="+filepath.Join(home, "node_modules"))
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("DuckDB: %v\n%s", err, stderr.String())
	}
	lines := bufio.NewScanner(bytes.NewReader(out))
	lines.Buffer(nil, len(out)+1)
	for lines.Scan() {
		d := json.NewDecoder(bytes.NewReader(lines.Bytes()))
		d.UseNumber()
		var rows [][]any
		if err := d.Decode(&rows); err != nil {
			t.Fatal(err)
		}
		results = append(results, rows)
	}
	if len(results) != len(queries) {
		t.Fatalf("DuckDB answered %d of %d queries", len(results), len(queries))
	}
	return results
}

// installDuckDB returns the folder with DuckDB.
func installDuckDB(t *testing.T) string {
	t.Helper()
	cache, err := os.UserCacheDir()
	if err != nil {
		t.Fatal(err)
	}
	lock, err := os.ReadFile("testdata/duckdb/package-lock.json")
	if err != nil {
		t.Fatal(err)
	}
	home := filepath.Join(cache, "ashlar", "duckdb")
	installed := filepath.Join(home, "installed")
	if have, err := os.ReadFile(installed); err == nil && bytes.Equal(have, lock) {
		return home
	}
	if err := os.MkdirAll(home, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"package.json", "package-lock.json"} {
		b, err := os.ReadFile(filepath.Join("testdata/duckdb", name))
		if err == nil {
			err = os.WriteFile(filepath.Join(home, name), b, 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	cmd := exec.Command("npm", "ci", "--no-audit", "--no-fund", "--ignore-scripts")
	cmd.Dir = home
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("npm cannot install DuckDB: %v\n%s\nASHLAR_DUCKDB=none skips this test.", err, out)
	}
	if err := os.WriteFile(installed, lock, 0o644); err != nil {
		t.Fatal(err)
	}
	return home
}

// duckTop adds up the self values of functions, as top does.
const duckTop = `
	WITH records AS (
	  SELECT s.recording, 'samples' AS basis, v.metric_id, s.function_id, v.value::HUGEINT AS value
	  FROM sample_values v JOIN samples s USING (recording, sample_id)
	  UNION ALL
	  SELECT s.recording, 'stacks', v.metric_id, s.function_id, v.value::HUGEINT
	  FROM stack_values v JOIN stacks s USING (recording, stack_id)
	  UNION ALL
	  SELECT s.recording, 'spans', m.metric_id, s.function_id, CASE m.metric WHEN 'time' THEN s.self_ps ELSE 1 END
	  FROM spans s JOIN metrics m ON m.recording = s.recording AND m.basis = 'spans')
	SELECT r.recording, r.basis, coalesce(m.event, ''), m.metric, coalesce(f.name, '[no stack]'), coalesce(f.module, ''), m.decimals, sum(r.value)::VARCHAR
	FROM records r JOIN metrics m USING (recording, metric_id) LEFT JOIN functions f USING (recording, function_id)
	WHERE r.value IS NOT NULL GROUP BY ALL`

// duckCalls describes the durations of the calls of each function, as stats and calls do.
const duckCalls = `
	SELECT recording, function, count(*), sum(unfinished), CAST(sum(duration_ps) AS TEXT), min(duration_ps), max(duration_ps),
	  quantile_disc(duration_ps, 0.5), quantile_disc(duration_ps, 0.9), quantile_disc(duration_ps, 0.99)
	FROM spans GROUP BY 1, 2 ORDER BY 3 DESC, 2`

// duckAlike are queries for which DuckDB must answer as ashlar sql does.
var duckAlike = []string{
	"SELECT recording, state, name, count(*), CAST(sum(duration_ps) AS TEXT), min(start_ps), max(end_ps) FROM states GROUP BY 1, 2, 3",
	"SELECT recording, function, count(*), CAST(sum(duration_ps) AS TEXT), min(duration_ps), max(duration_ps), CAST(sum(self_ps) AS TEXT), sum(unfinished), count(parent_id), count(args) FROM spans GROUP BY 1, 2",
	"SELECT recording, count(*), CAST(sum(value) AS TEXT), count(waker_thread_id) FROM (SELECT recording, state_id AS value, waker_thread_id FROM states) AS s GROUP BY 1",
	"SELECT recording, name, step, count(*), CAST(sum(time_ps) AS TEXT) FROM flows GROUP BY 1, 2, 3",
	"SELECT recording, counter_id, count(*), min(time_ps), max(time_ps) FROM counter_values GROUP BY 1, 2",
	"SELECT recording, function, count(*), CAST(sum(value) AS TEXT), count(cpu) FROM samples GROUP BY 1, 2",
}

// checkDuckDB compares what DuckDB says about a data set with the answers of top, ashlar sql,
// stats and calls about its recordings.
func checkDuckDB(t *testing.T, dir string, set *dataset.Result, paths []string) {
	answers := duckDB(t, dir, append([]string{duckTop, duckCalls}, duckAlike...)...)
	self, totals := map[string]*big.Rat{}, map[string]*big.Rat{}
	for _, row := range answers[0] {
		v, ok := new(big.Rat).SetString(scaled(row[7].(string), fmt.Sprint(row[6])))
		if !ok {
			t.Fatalf("%v is no number", row[7])
		}
		self[key(row[:6]...)] = v
		of := key(row[:4]...)
		totals[of] = new(big.Rat).Add(cmp.Or(totals[of], new(big.Rat)), v)
	}
	compared := 0
	for i, x := range set.Recordings {
		path := paths[i]
		for _, e := range infoOf(t, path).Events {
			for _, m := range e.Metrics {
				args := []string{path, "--metric", m.Name}
				if e.Name != "" {
					args = append(args, "--event", e.Name)
				}
				top := topOf(t, args...)
				if top.Basis == "windows" || top.Basis == "states" || top.Basis == "spans" && m.Name != "time" && m.Name != "count" {
					continue // the tables have these in other columns
				}
				if got := cmp.Or(totals[key(x.Name, top.Basis, e.Name, m.Name)], new(big.Rat)); got.Cmp(rat(t, top.Total)) != 0 {
					t.Errorf("%s: the total of %s is %s in DuckDB, %s in top", path, m.Name, got.FloatString(4), top.Total)
				}
				for _, row := range top.Rows {
					got := cmp.Or(self[key(x.Name, top.Basis, e.Name, m.Name, row.Name, row.Module)], new(big.Rat))
					if got.Cmp(rat(t, row.Self)) != 0 {
						t.Errorf("%s: self %s of %s is %s in DuckDB, %s in top", path, m.Name, row.Name, got.FloatString(4), row.Self)
					}
					compared++
				}
			}
		}
		compared += checkCalls(t, path, x.Name, answers[1])
		for k, query := range duckAlike {
			var got, want []string
			for _, row := range answers[k+2] {
				if row[0] == x.Name {
					got = append(got, key(row[1:]...))
				}
			}
			for _, row := range sqlRows(t, "-n", "0", path, query).Rows {
				want = append(want, key(row[1:]...))
			}
			slices.Sort(got)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %s:\n%d rows in DuckDB, %d in SQLite; %q, want %q", path, query, len(got), len(want), got[:min(3, len(got))], want[:min(3, len(want))])
			}
			compared += len(want)
		}
	}
	if t.Logf("%d recordings, %d rows", len(paths), compared); compared == 0 {
		t.Error("nothing was compared")
	}
}

// plainName matches names that mean nothing else on a command line.
var plainName = regexp.MustCompile(`^[A-Za-z_][A-Za-z0-9_]*$`)

// checkCalls compares what DuckDB says about the calls of a recording's most called functions
// with stats and calls. It returns the number of functions.
func checkCalls(t *testing.T, path, name string, rows [][]any) (compared int) {
	const most = 2
	for _, row := range rows {
		function := fmt.Sprint(row[1])
		if row[0] != name || compared == most || !plainName.MatchString(function) {
			continue
		}
		compared++
		var stats struct {
			Count, Unfinished          int64
			Min, Max, Median, P90, P99 json.Number
		}
		var calls struct {
			Count int64
			Sum   json.Number
		}
		for _, x := range []struct {
			args []string
			into any
		}{{[]string{"stats", path, "--function", function, "--json"}, &stats}, {[]string{"calls", path, function, "--json", "-n", "1"}, &calls}} {
			r := ask(x.args...)
			if err := json.Unmarshal([]byte(r.stdout), x.into); err != nil {
				t.Fatalf("%q: %v %s", x.args, err, r.stderr)
			}
		}
		got := []any{stats.Count, calls.Count, stats.Unfinished}
		if want := []any{row[2], row[2], row[3]}; key(got...) != key(want...) {
			t.Errorf("%s: %s has %v calls and unfinished ones, %v in DuckDB", path, function, got, want)
		}
		for i, v := range []json.Number{calls.Sum, stats.Min, stats.Max, stats.Median, stats.P90, stats.P99} {
			if want, ok := new(big.Rat).SetString(fmt.Sprint(row[4+i]) + "e-3"); !ok || want.Cmp(rat(t, v)) != 0 {
				t.Errorf("%s: number %d of %s is %s, %s in DuckDB", path, i, function, v, want.FloatString(4))
			}
		}
	}
	return compared
}

func key(cells ...any) string {
	var texts []string
	for _, c := range cells {
		texts = append(texts, fmt.Sprint(c))
	}
	return strings.Join(texts, "\x00")
}

// TestDuckDBAndBack opens the result of a query in DuckDB as a recording.
func TestDuckDBAndBack(t *testing.T) {
	const path = "testdata/small.spall"
	dir := t.TempDir()
	if r := ask("tables", path, "-o", dir); r.code != Done {
		t.Fatalf("exit code %d: %s", r.code, r.stderr)
	}
	duckDB(t, dir,
		"COPY (SELECT recording, function, start_ps, duration_ps, thread_id, args FROM spans) TO 'spans.parquet'",
		"COPY (SELECT function, sum(self_ps) AS self_ps FROM spans GROUP BY 1) TO 'sums.parquet'")
	want := topOf(t, path)
	for _, name := range []string{"spans.parquet", "sums.parquet"} {
		got := topOf(t, filepath.Join(dir, name))
		if len(got.Rows) != len(want.Rows) || len(want.Rows) == 0 {
			t.Fatalf("%s: %d functions, want %d", name, len(got.Rows), len(want.Rows))
		}
		for i, row := range want.Rows {
			if r := got.Rows[i]; r.Name != row.Name || rat(t, r.Self).Cmp(rat(t, row.Self)) != 0 {
				t.Errorf("%s: self of %s is %s, want %s of %s", name, r.Name, r.Self, row.Self, row.Name)
			}
		}
	}
}
