package command

import (
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// spreadRuns writes folded stacks of four runs a side, to the folders a and b below the one
// it returns. In B, main.key newly calls fmt.Sprintf, whose cost spreads over forty library
// functions that all of the program calls. It returns the samples by stack of each run too.
func spreadRuns(t *testing.T) (dir string, runs [2][]map[string]int) {
	t.Helper()
	dir = t.TempDir()
	r := rand.New(rand.NewPCG(42, 4))
	for side, name := range []string{"a", "b"} {
		if err := os.Mkdir(filepath.Join(dir, name), 0o700); err != nil {
			t.Fatal(err)
		}
		for run := range 4 {
			stacks := map[string]int{}
			add := func(stack string, n int) { stacks[stack] += n + r.IntN(1+n/50) }
			add("main.main;main.serve;main.key", 700)
			add("main.main;main.serve;main.compare", 3000)
			for leaf := range 40 {
				f := fmt.Sprintf("lib.f%02d", leaf)
				add("main.main;main.load;"+f, 100+r.IntN(60))
				add("main.main;main.serve;main.log;fmt.Fprint;"+f, 10)
				if side == 1 {
					add("main.main;main.serve;main.key;fmt.Sprintf;"+f, 20)
				}
			}
			var text strings.Builder
			for stack, n := range stacks {
				fmt.Fprintf(&text, "%s %d\n", stack, n)
			}
			path := filepath.Join(dir, name, fmt.Sprintf("%d.folded", run))
			if err := os.WriteFile(path, []byte(text.String()), 0o600); err != nil {
				t.Fatal(err)
			}
			runs[side] = append(runs[side], stacks)
		}
	}
	return dir, runs
}

// samplesOf returns the samples of a run that end in a function, and those with it anywhere.
func samplesOf(run map[string]int, name string) (self, total int) {
	for stack, n := range run {
		functions := strings.Split(stack, ";")
		if functions[len(functions)-1] == name {
			self += n
		}
		if slices.Contains(functions, name) {
			total += n
		}
	}
	return self, total
}

// TestDiffCallers checks the member callers: the one function whose total changed.
func TestDiffCallers(t *testing.T) {
	dir, runs := spreadRuns(t)
	ran := run("diff", "--a", filepath.Join(dir, "a"), "--b", filepath.Join(dir, "b"), "--json")
	var v struct {
		Verdict string
		Callers []struct {
			Function   string
			Delta      float64 `json:"delta_total"`
			Confidence struct{ Confidence float64 }
			Calls      []struct {
				Function, Status string
				Delta            float64
			}
		}
	}
	if err := json.Unmarshal([]byte(ran.stdout), &v); err != nil {
		t.Fatalf("%v: %s", err, ran.stderr)
	}
	want := 0.0
	for side, sign := range []float64{-.25, .25} {
		for _, run := range runs[side] {
			_, total := samplesOf(run, "main.key")
			want += sign * float64(total)
		}
	}
	if len(v.Callers) != 1 || v.Callers[0].Function != "main.key" || v.Callers[0].Confidence.Confidence < .95 || v.Callers[0].Delta < want-1 || v.Callers[0].Delta > want+1 {
		t.Fatalf("callers %+v, want main.key with %g", v.Callers, want)
	}
	if c := v.Callers[0].Calls; len(c) != 1 || c[0].Function != "fmt.Sprintf" || c[0].Status != "new" {
		t.Errorf("main.key calls %+v, want only fmt.Sprintf, new", c)
	}
	if !strings.HasPrefix(v.Verdict, "main.key total +") || !strings.Contains(v.Verdict, "(newly calls fmt.Sprintf; ") {
		t.Errorf("verdict %q", v.Verdict)
	}
}

// TestDiffSortTotal checks the order of rows and the costs of each run with --sort total and
// --per-run against sums over the stacks.
func TestDiffSortTotal(t *testing.T) {
	dir, runs := spreadRuns(t)
	args := []string{"diff", "--a", filepath.Join(dir, "a"), "--b", filepath.Join(dir, "b"), "--sort", "total", "--per-run"}
	type cost struct{ Self, Total float64 }
	var v struct {
		Rows []struct {
			Name       string
			Delta      float64 `json:"delta_total"`
			Confidence *float64
			Total      struct{ Confidence float64 } `json:"total_confidence"`
			A          []cost                       `json:"a_runs"`
			B          []cost                       `json:"b_runs"`
		}
	}
	ran := run(append(args, "--json")...)
	if err := json.Unmarshal([]byte(ran.stdout), &v); err != nil || len(v.Rows) < 40 {
		t.Fatalf("%v: %s%s", err, ran.stdout, ran.stderr)
	}
	last := math.Inf(1)
	for _, row := range v.Rows {
		if math.Abs(row.Delta) > last {
			t.Errorf("%s, %g, comes after %g", row.Name, row.Delta, last)
		}
		last = math.Abs(row.Delta)
		if row.Confidence == nil || *row.Confidence != row.Total.Confidence {
			t.Errorf("%s has a confidence of %v, not that of its total, %v", row.Name, row.Confidence, row.Total)
		}
		for side, got := range [][]cost{row.A, row.B} {
			var want []cost
			for _, run := range runs[side] {
				self, total := samplesOf(run, row.Name)
				want = append(want, cost{float64(self), float64(total)})
			}
			if !slices.Equal(got, want) {
				t.Errorf("%s has %v in the runs of side %d, want %v", row.Name, got, side, want)
			}
		}
	}
	ran = run(append(args, "-n", "0")...)
	for i, line := range strings.Split(ran.stdout, "\n") {
		if columns := strings.Fields(line); strings.HasPrefix(line, "Δ total") {
			if want := "Δ total A total B total confidence Δ self confidence A1 total A2 total A3 total A4 total B1 total B2 total B3 total B4 total function module"; strings.Join(columns, " ") != want {
				t.Errorf("line %d: %q, want %q", i, columns, want)
			}
			return
		}
	}
	t.Errorf("no table in %s%s", ran.stdout, ran.stderr)
}

// TestDiffConfidences checks that the table has a confidence for self and one for total.
func TestDiffConfidences(t *testing.T) {
	dir, _ := spreadRuns(t)
	args := []string{"diff", "--a", filepath.Join(dir, "a"), "--b", filepath.Join(dir, "b"), "-n", "0"}
	for _, line := range strings.Split(run(args...).stdout, "\n") {
		columns := strings.Fields(line)
		if n := len(columns); n > 2 && columns[n-1] == "main.key" && strings.Contains(line, "<50 %") && strings.HasSuffix(strings.TrimSpace(strings.TrimSuffix(line, "main.key")), "9 %") {
			return
		}
	}
	t.Errorf("main.key does not have a low confidence in self and a high one in total: %s", run(args...).stdout)
}

// TestDiffSlowOwnCode compares slow calls of a function with the rest. The first sentence must
// name what in the function is slow, or say that its own code is.
func TestDiffSlowOwnCode(t *testing.T) {
	for _, test := range []struct {
		name             string
		own, lookup, lib int // µs by which a slow call takes longer: itself, in one callee, in each of forty
		begins           string
	}{
		{"callee", 0, 400, 0, "lookup +"},
		{"own", 400, 0, 0, "quote's own code +"},
		{"spread", 300, 0, 10, "quote's own code +"},
	} {
		r := rand.New(rand.NewPCG(4, 4))
		var events []string
		sums := [2][2]float64{} // by fast and slow: own code and all else
		calls := [2]float64{}
		at := 0
		span := func(name string, took int) int {
			events = append(events, fmt.Sprintf(`{"ph":"X","name":%q,"ts":%d,"dur":%d,"pid":1,"tid":1}`, name, at, took))
			return took
		}
		for i := range 200 {
			slow := 0
			if i%20 == 7 {
				slow = 1
			}
			start, own, below := at, 100+r.IntN(10)+slow*test.own, 0
			at += own
			for leaf := range 40 {
				took := span(fmt.Sprintf("lib%02d", leaf), 5+r.IntN(3)+slow*test.lib)
				at, below = at+took, below+took
			}
			took := span("lookup", 50+r.IntN(5)+slow*test.lookup)
			at, below = at+took, below+took
			events = append(events, fmt.Sprintf(`{"ph":"X","name":"quote","ts":%d,"dur":%d,"pid":1,"tid":1}`, start, at-start))
			at += 20
			calls[slow]++
			sums[slow][0], sums[slow][1] = sums[slow][0]+float64(own), sums[slow][1]+float64(below)
		}
		path := filepath.Join(t.TempDir(), "t.json")
		if err := os.WriteFile(path, []byte("["+strings.Join(events, ",")+"]"), 0o600); err != nil {
			t.Fatal(err)
		}
		ran := run("diff", path, "--slow", "quote")
		first, _, _ := strings.Cut(ran.stdout, ". ")
		t.Log(first)
		if !strings.HasPrefix(first, test.begins) {
			t.Errorf("%s: %q does not begin with %q: %s", test.name, first, test.begins, ran.stderr)
		}
		change := func(k int) string { return fmt.Sprintf("+%.1f µs", sums[1][k]/calls[1]-sums[0][k]/calls[0]) }
		if test.own > 0 && !strings.Contains(first, "code "+change(0)+" per call") {
			t.Errorf("%s: %q, want %s", test.name, first, change(0))
		}
		if says := change(1) + " in its callees: lib"; strings.Contains(first, says) != (test.lib > 0) {
			t.Errorf("%s: %q, want %q only if it is so", test.name, first, says)
		}
	}
}

// TestDiffMine checks that --mine counts library code as part of the caller of the program.
func TestDiffMine(t *testing.T) {
	dir, runs := spreadRuns(t)
	ran := run("diff", "--a", filepath.Join(dir, "a"), "--b", filepath.Join(dir, "b"), "--mine", `/^main\./`, "--per-run", "--all", "--json")
	var v struct {
		Verdict string
		Rows    []struct {
			Name string
			A    []struct{ Self float64 } `json:"a_runs"`
			B    []struct{ Self float64 } `json:"b_runs"`
		}
	}
	if err := json.Unmarshal([]byte(ran.stdout), &v); err != nil {
		t.Fatal(err, ran.stderr)
	}
	if !strings.HasPrefix(v.Verdict, "main.key +") {
		t.Errorf("verdict %q", v.Verdict)
	}
	own := func(run map[string]int, name string) (sum float64) {
		for stack, n := range run {
			functions := slices.DeleteFunc(strings.Split(stack, ";"), func(f string) bool { return !strings.HasPrefix(f, "main.") })
			if functions[len(functions)-1] == name {
				sum += float64(n)
			}
		}
		return sum
	}
	if len(v.Rows) != 6 {
		t.Errorf("%d rows, want the six functions of main", len(v.Rows))
	}
	for _, row := range v.Rows {
		for side, got := range [][]struct{ Self float64 }{row.A, row.B} {
			for i, run := range runs[side] {
				if want := own(run, row.Name); got[i].Self != want {
					t.Errorf("%s has %v in run %d of side %d, want %v", row.Name, got[i].Self, i, side, want)
				}
			}
		}
	}
}
