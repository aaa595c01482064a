package command

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ashlar/app/command/difference"
	"ashlar/app/core/exactnum"
	"ashlar/app/core/verdict"
	"ashlar/ingest"
	"ashlar/ingest/query/compare"
	"ashlar/testdata/eval/pairs"
	"ashlar/testdata/rounds"
	"ashlar/testdata/samples"
)

// TestViewsOfPairsAgree checks that all views of a comparison agree: the verdict, the table,
// the nodes of the flamegraph, and diff --json.
func TestViewsOfPairsAgree(t *testing.T) {
	rounds.Unraced(t)
	t.Parallel()
	for i := range pairs.All {
		p := &pairs.All[i]
		var files [2]string
		var inputs [2][]compare.Input
		for side := range files {
			files[side] = filepath.Join("../../testdata/eval/pairs", p.File(side))
			l := ingest.Open(t.Context(), files[side], ingest.Options{})
			if err := l.Wait(); err != nil {
				t.Fatal(err)
			}
			inputs[side] = []compare.Input{{Rec: l.Snapshot()}}
		}
		c, err := compare.Compare(t.Context(), inputs[0], inputs[1], compare.Options{Normalize: compare.Auto})
		if err != nil {
			t.Fatal(err)
		}
		tables, nodes, err := c.NodeConfidences(t.Context(), compare.ByFunction)
		if err != nil {
			t.Fatal(err)
		}
		var answer difference.JSON
		if err := json.Unmarshal([]byte(textOf(t, "diff", files[0], files[1], "--json", "-n", "100000")), &answer); err != nil {
			t.Fatal(err)
		}
		if want := verdict.Of(c, tables[0]); answer.Verdict != want {
			t.Errorf("%s: JSON says %q, the window %q", files[1], answer.Verdict, want)
		}
		agreeRows(t, files[1], &answer, tables[0])
		agreeNodes(t, files[1], c, tables[0], nodes)
		agreeValues(t, files[1], &answer, c, tables[0])
		for _, part := range verdict.Parts(c, tables[0]) {
			r := part.Row
			if r == nil || part.Name {
				continue
			}
			want := r.DeltaSelf()
			if part.To == verdict.Total {
				want = r.DeltaTotal()
			}
			if part.Text != verdict.Signed(c.Metric, want) {
				t.Errorf("%s: the verdict says %s of %s, the table %d", files[1], part.Text, r.Name, want)
			}
		}
	}
}

// TestNodesOfTracesAgree checks that the flamegraph of two traces is as sure of the cause as
// the table, although few nodes tell how much runs differ.
func TestNodesOfTracesAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(37, 2))
	var inputs [2][]compare.Input
	for side, hash := range [2]int{400, 500} {
		text, ts := "[", 0
		for range 120 {
			for _, call := range []struct {
				name string
				dur  int
			}{{"frame", 1200 + hash - 400}, {"hash", hash}, {"draw", 600}, {"parse", 150}} {
				dur := call.dur * (980 + r.IntN(40)) / 1000
				text += fmt.Sprintf(`{"ph":"X","name":%q,"pid":1,"tid":1,"ts":%d,"dur":%d},`, call.name, ts, dur)
				if ts += dur + 1; call.name == "frame" {
					ts -= dur
				}
			}
			ts += 100
		}
		path := filepath.Join(t.TempDir(), "trace.json")
		if err := os.WriteFile(path, []byte(strings.TrimSuffix(text, ",")+"]"), 0o600); err != nil {
			t.Fatal(err)
		}
		l := ingest.Open(t.Context(), path, ingest.Options{})
		if err := l.Wait(); err != nil {
			t.Fatal(err)
		}
		inputs[side] = []compare.Input{{Rec: l.Snapshot()}}
	}
	c, err := compare.Compare(t.Context(), inputs[0], inputs[1], compare.Options{Normalize: compare.Auto})
	if err != nil {
		t.Fatal(err)
	}
	tables, nodes, err := c.NodeConfidences(t.Context(), compare.ByFunction)
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.Tree.Nodes {
		if c.Tree.Name(i) == "hash" && nodes[i].Level() < .95 {
			t.Errorf("the node of hash has %+v, %s", *nodes[i], verdict.Of(c, tables[0]))
		}
	}
}

// agreeRows compares the rows of the JSON with those of the table, and the confidence of each
// cause that is a single function with its row's.
func agreeRows(t *testing.T, name string, answer *difference.JSON, table *compare.Table) {
	t.Helper()
	sure := map[string]string{}
	at := 0
	for _, row := range answer.Rows {
		for at < len(table.Rows) && table.Rows[at].Name != row.Name { // JSON omits rows without a difference
			if r := &table.Rows[at]; r.DeltaSelf() != 0 || r.DeltaTotal() != 0 {
				t.Errorf("%s: JSON lacks %s", name, r.Name)
			}
			at++
		}
		if at == len(table.Rows) {
			t.Fatalf("%s: the table lacks %s of JSON", name, row.Name)
		}
		r := &table.Rows[at]
		at++
		if (row.Self == nil) != (r.Self == nil) {
			t.Fatalf("%s: %s has a confidence only in one of JSON and table", name, row.Name)
		}
		if r.Self == nil {
			continue
		}
		for text, want := range map[json.Number]float64{row.Self.Confidence: r.Self.Level(), row.Self.P: r.Self.P} {
			if got, _ := text.Float64(); math.Abs(got-want) > 1e-6 {
				t.Errorf("%s: %s has %s in JSON, %g in the table", name, row.Name, text, want)
			}
		}
		sure[row.Name+strconv.FormatInt(r.DeltaSelf(), 10)] = row.Self.Confidence.String()
	}
	for _, cause := range answer.Causes {
		if len(cause.Functions) != 1 || cause.Sure == nil {
			continue
		}
		delta := strings.ReplaceAll(cause.Delta.String(), ".", "")
		if want, ok := sure[cause.Functions[0]+delta]; ok && want != cause.Sure.Confidence.String() {
			t.Errorf("%s: the cause %s is %s sure, its row %s", name, cause.Functions[0], cause.Sure.Confidence, want)
		}
	}
}

// agreeValues compares, to the last digit, the costs of the JSON's rows with those of the
// table, and the table's self costs with the sums of the flamegraph's nodes.
func agreeValues(t *testing.T, name string, answer *difference.JSON, c *compare.Comparison, table *compare.Table) {
	t.Helper()
	type key struct{ name, module, nameB string }
	rows := map[key]*difference.Row{}
	for i := range answer.Rows {
		r := &answer.Rows[i]
		rows[key{r.Name, r.Module, r.NameB}] = r
	}
	var sums = map[int32][2]int64{}
	for i := 1; i < len(c.Tree.Nodes); i++ {
		n := &c.Tree.Nodes[i]
		s := sums[n.Func]
		sums[n.Func] = [2]int64{s[0] + n.A.Self, s[1] + n.B.Self}
	}
	for i := range table.Rows {
		r := &table.Rows[i]
		if s := sums[r.Key]; r.Key >= 0 && s != [2]int64{r.ASelf, r.BSelf} {
			t.Errorf("%s: the nodes of %s have %d, its row %d and %d", name, r.Name, s, r.ASelf, r.BSelf)
		}
		is := rows[key{r.Name, r.Module, r.NameB}]
		if is == nil {
			continue // without a difference
		}
		for k, v := range [...]int64{r.ASelf, r.BSelf, r.DeltaSelf(), r.ATotal, r.BTotal, r.DeltaTotal()} {
			got := [...]json.Number{is.ASelf, is.BSelf, is.DeltaSelf, is.ATotal, is.BTotal, is.DeltaTotal}[k]
			if want := exactnum.Value(v, &c.Metric.Common); got != want {
				t.Errorf("%s: %s has %s in JSON, %s in the table (number %d)", name, r.Name, got, want, k)
			}
		}
	}
}

// agreeNodes compares the confidences of functions that have a single node with those of their
// rows.
func agreeNodes(t *testing.T, name string, c *compare.Comparison, table *compare.Table, nodes []*compare.Confidence) {
	t.Helper()
	at := map[int32][]int{}
	for i := 1; i < len(c.Tree.Nodes); i++ {
		at[c.Tree.Nodes[i].Func] = append(at[c.Tree.Nodes[i].Func], i)
	}
	compared := 0
	for i := range table.Rows {
		r := &table.Rows[i]
		if where := at[r.Key]; r.Key >= 0 && len(where) == 1 && r.Total != nil && nodes[where[0]] != nil {
			compared++
			n := nodes[where[0]]
			if n.P != r.Total.P || n.Low != r.Total.Low || n.High != r.Total.High || n.A != r.Total.A || n.B != r.Total.B {
				t.Errorf("%s: the node of %s has %+v, its row %+v", name, r.Name, *n, *r.Total)
			}
		}
	}
	if compared == 0 {
		t.Errorf("%s: no node is compared", name)
	}
}

// TestDiffIsRepeatable checks that a comparison of unlike programs, in which many functions
// come and go at one place, lists them in the same order each time.
func TestDiffIsRepeatable(t *testing.T) {
	a, b := samples.Path(t, "pprof/parca_fgprof.pb.gz"), samples.Path(t, "pprof/parca_fib.pb.gz")
	first := ask("diff", a, b, "--json").stdout
	for range 4 {
		if again := ask("diff", a, b, "--json").stdout; again != first {
			t.Fatal("the same comparison gives another answer")
		}
	}
}
