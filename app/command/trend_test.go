package command

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// trendFolder writes runs of a program of which hash takes half as much again from a run
// on, and sort is noise. It returns what was written, by function and run.
func trendFolder(t *testing.T, dir string, runs, at int) map[string][]int {
	t.Helper()
	r := rand.New(rand.NewPCG(8, 9))
	self := map[string][]int{}
	for i := range runs {
		hash := 1000 + r.IntN(60)
		if i >= at {
			hash += 500
		}
		var text strings.Builder
		for name, v := range map[string]int{"hash": hash, "sort": 2000 + r.IntN(200), "main": 10 + r.IntN(5)} {
			stack := "main;" + name
			if name == "main" {
				stack = name
			}
			fmt.Fprintf(&text, "%s %d\n", stack, v)
			self[name] = append(self[name], v)
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("run-%d.folded", i+1)), []byte(text.String()), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return self
}

// TestTrend: every value is the file's own, the planted change is found at its run in the
// total and in the function that has it, and nowhere else; its command runs and names the
// cause.
func TestTrend(t *testing.T) {
	dir := t.TempDir()
	self := trendFolder(t, dir, 30, 18)
	if err := os.WriteFile(filepath.Join(dir, "notes.txt"), []byte("not a recording at all\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	r := run("trend", dir, "--json")
	var v struct {
		Runs, Skipped []string
		Total         trendSeries
		Functions     []trendSeries
	}
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
		t.Fatal(err, r.stdout, r.stderr)
	}
	if len(v.Runs) != 30 || filepath.Base(v.Runs[9]) != "run-10.folded" || len(v.Skipped) != 1 || !strings.Contains(r.stderr, "notes.txt") {
		t.Errorf("the runs are %q without %q: %s", v.Runs, v.Skipped, r.stderr)
	}
	for i, total := range v.Total.Values {
		if want := self["hash"][i] + self["sort"][i] + self["main"][i]; total != float64(want) {
			t.Errorf("run %d has the total %v, want %d", i, total, want)
		}
	}
	if len(v.Functions) != 3 || v.Functions[0].Name != "hash" {
		t.Fatalf("the functions are %+v", v.Functions)
	}
	for _, f := range v.Functions {
		for i, got := range f.Values {
			if got != float64(self[f.Name][i]) {
				t.Errorf("run %d of %s is %v, want %d", i, f.Name, got, self[f.Name][i])
			}
		}
		if f.Name != "hash" && len(f.Changes) != 0 {
			t.Errorf("%s changes: %+v", f.Name, f.Changes)
		}
	}
	for _, s := range []trendSeries{v.Total, v.Functions[0]} {
		if len(s.Changes) != 1 || s.Changes[0].At != 18 || filepath.Base(s.Changes[0].Run) != "run-19.folded" || s.Changes[0].P > .01 {
			t.Fatalf("%q changes at %+v", s.Name, s.Changes)
		}
	}
	words := strings.Fields(v.Total.Changes[0].Command)
	out := textOf(t, words[1:]...)
	if first, _, _ := strings.Cut(out, "\n"); !strings.HasPrefix(first, "hash ") {
		t.Errorf("the command of the change says %s", first)
	}
	text := textOf(t, "trend", dir)
	if !strings.Contains(text, "run-19.folded on: ") || !strings.Contains(text, "▁") {
		t.Errorf("as text:\n%s", text)
	}
}

type trendSeries struct {
	Name    string
	Values  []float64
	Changes []struct {
		At           int
		Run, Command string
		P            float64
	}
}

// TestTrendMisuse: what is no series says so.
func TestTrendMisuse(t *testing.T) {
	dir := t.TempDir()
	trendFolder(t, dir, 1, 0)
	for _, args := range [][]string{{"trend"}, {"trend", dir}, {"trend", t.TempDir()}, {"trend", dir, "--order", "size"}} {
		if r := run(args...); r.code != 2 || r.stderr == "" {
			t.Errorf("%q: exit %d: %s", args, r.code, r.stderr)
		}
	}
	still := t.TempDir()
	trendFolder(t, still, 12, 100)
	if text := textOf(t, "trend", still); !strings.Contains(text, "No lasting change.") {
		t.Errorf("noise:\n%s", text)
	}
}
