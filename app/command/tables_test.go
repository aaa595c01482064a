package command

import (
	"encoding/json"
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

// checkTables compares the sums of a recording's tables with the answers of top.
func checkTables(t *testing.T, path string) {
	dir := t.TempDir()
	r := ask("tables", path, "-o", dir, "--json")
	if r.code != Done {
		t.Fatalf("exit code %d: %s", r.code, r.stderr)
	}
	var result dataset.Result
	if err := json.Unmarshal([]byte(r.stdout), &result); err != nil {
		t.Fatal(err)
	}
	name := result.Recordings[0].Name
	rows := int64(0)
	for _, x := range result.Recordings[0].Tables {
		if n := int64(len(tableRows(t, dir, x.Name, name))); n != x.Rows {
			t.Errorf("%s has %d rows, said to be %d", x.Name, n, x.Rows)
		}
		rows += x.Rows
	}
	if rows != result.Recordings[0].Rows {
		t.Errorf("%d rows in all, said to be %d", rows, result.Recordings[0].Rows)
	}
	in := infoOf(t, path)
	for table, want := range map[string]int64{"spans": in.Counts.Spans, "samples": in.Counts.Samples, "stacks": in.Counts.Stacks, "functions": in.Counts.Functions, "threads": int64(len(in.Threads))} {
		if got := int64(len(tableRows(t, dir, table, name))); got != want {
			t.Errorf("%d %s, want %d", got, table, want)
		}
	}
	self, total := naiveTop(t, dir, name)
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
	for _, name := range []string{"small.spaa", "small.spall", "small.ftrace", "diff-a.folded", "damaged.spaa", "small-gpu.json"} {
		t.Run(name, func(t *testing.T) { checkTables(t, "testdata/"+name) })
	}
}

// TestTablesOfSamples is TestTables for all samples of moderate size.
func TestTablesOfSamples(t *testing.T) {
	samples.Need(t)
	for _, path := range samples.Files(t) {
		info, err := os.Stat(path)
		if err != nil || info.Size() > 400<<10 || ask("info", path).code != Done {
			continue
		}
		t.Run(samples.Name(path), func(t *testing.T) { checkTables(t, path) })
	}
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
	if r := ask("tables", "testdata/small.spall", "-o", dir, "--force"); r.code != Problem || !strings.Contains(r.stderr, "it is no Parquet file") {
		t.Errorf("a file of another kind: %d %s", r.code, r.stderr)
	}
	for _, wrong := range [][]string{{"tables"}, {"tables", "testdata/small.spall"}} {
		if r := ask(wrong...); r.code != Usage {
			t.Errorf("%v: %d %s", wrong, r.code, r.stderr)
		}
	}
}
