package command

import (
	"encoding/json"
	"fmt"
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
