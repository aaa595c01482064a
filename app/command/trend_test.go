package command

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/testdata/rounds"
)

// trendFolder writes recordings of runs. From run at on, hash takes about 50 % longer; sort is
// noise. It returns the written values by function and run.
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

// TestTrend checks that every value is the file's, that the planted change is found at its
// run, in the total and in hash only, and that the suggested command runs and names the cause.
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
		if want := self["hash"][i] + self["sort"][i] + self["main"][i]; total == nil || *total != float64(want) {
			t.Errorf("run %d has the total %v, want %d", i, total, want)
		}
	}
	if len(v.Functions) != 3 || v.Functions[0].Name != "hash" {
		t.Fatalf("the functions are %+v", v.Functions)
	}
	for _, f := range v.Functions {
		for i, got := range f.Values {
			if got == nil || *got != float64(self[f.Name][i]) {
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
	if lines := strings.Split(text, "\n"); !strings.HasPrefix(lines[1], "Total +") || !strings.Contains(lines[1], " from run-19.folded on: ") || !strings.Contains(lines[1], " Largest change of a function: hash +") || !strings.Contains(text, "▁") {
		t.Errorf("as text:\n%s", text)
	}
}

type trendSeries struct {
	Name     string
	Mean     float64
	Values   []*float64
	From, To *int
	Changes  []struct {
		At           int
		Run, Command string
		P            float64
	}
}

// TestTrendOfRepairedRegression checks that a cost that rose and fell again is two changes,
// each with the runs up to the next one.
func TestTrendOfRepairedRegression(t *testing.T) {
	dir := t.TempDir()
	for i := range 30 {
		hash := 3000 + 31*i%97
		if i >= 10 && i < 20 {
			hash += 500
		}
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("run-%d.folded", i+1)), fmt.Appendf(nil, "main;hash %d\nmain;sort %d\n", hash, 2000+53*i%89), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	text := textOf(t, "trend", dir)
	for _, want := range []string{" from run-11.folded to run-20.folded: ", " from run-21.folded on: ", ", and 1 more change."} {
		if !strings.Contains(text, want) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
}

// TestTrendOfMissingFunctions checks functions that some runs lack. In a profile without a
// sample of it, a function's cost is unknown and does not affect means; in a trace it is 0,
// since traces are complete. A function that first appears at a run is reported as new.
func TestTrendOfMissingFunctions(t *testing.T) {
	dir, traces := t.TempDir(), t.TempDir()
	for i := range 12 {
		stacks := fmt.Sprintf("main;hash %d\n", 1000+i%3)
		spans := `{"ph":"X","name":"hash","pid":1,"tid":1,"ts":0,"dur":100}`
		if i%2 == 0 {
			stacks += "main;rare 7\n"
			spans += `,{"ph":"X","name":"rare","pid":1,"tid":1,"ts":200,"dur":7}`
		}
		if i >= 5 {
			stacks += "main;fresh 50\n"
		}
		for path, text := range map[string]string{filepath.Join(dir, fmt.Sprintf("run-%d.folded", i)): stacks, filepath.Join(traces, fmt.Sprintf("run-%d.json", i)): "[" + spans + "]"} {
			if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
	of := func(dir string) map[string]trendSeries {
		var v struct{ Functions []trendSeries }
		if r := run("trend", dir, "--json"); json.Unmarshal([]byte(r.stdout), &v) != nil {
			t.Fatal(r.stdout, r.stderr)
		}
		all := map[string]trendSeries{}
		for _, f := range v.Functions {
			all[f.Name] = f
		}
		return all
	}
	sampled, traced := of(dir), of(traces)
	for i := range 12 {
		if v := sampled["rare"].Values[i]; (v == nil) != (i%2 == 1) {
			t.Errorf("run %d of samples: rare is %v", i, v)
		}
		if v := traced["rare"].Values[i]; v == nil || (*v == 0) != (i%2 == 1) {
			t.Errorf("run %d of traces: rare is %v", i, v)
		}
	}
	if m := sampled["rare"].Mean; m != 7 {
		t.Errorf("rare has the mean %v", m)
	}
	if f := sampled["fresh"]; f.From == nil || *f.From != 5 || *f.To != 12 || sampled["rare"].From != nil {
		t.Errorf("fresh is from %v to %v", f.From, f.To)
	}
	if text := textOf(t, "trend", dir); !strings.Contains(text, "only from ") {
		t.Errorf("as text:\n%s", text)
	}
}

// TestTrendMisuse checks the errors for arguments that are not a series of runs.
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

// TestTrendIsTheSameEachTime checks that the order in which damaged recordings happen to be
// read does not show in the answer.
func TestTrendIsTheSameEachTime(t *testing.T) {
	dir := t.TempDir()
	for i := range 6 {
		blanks := "" // some take longer to read
		if i%2 == 0 {
			blanks = strings.Repeat(" ", rounds.Size(1<<20, 1<<17))
		}
		text := fmt.Sprintf(`[{"ph":"X","name":"f","pid":1,"tid":1,"ts":0,"dur":%d},%s{"ph":`, 5+i, blanks)
		if err := os.WriteFile(filepath.Join(dir, fmt.Sprintf("%d.json", i)), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	first := textOf(t, "trend", dir, "--json")
	if !strings.Contains(first, `"damage"`) {
		t.Fatalf("no damage is listed: %s", first)
	}
	for range rounds.Size(10, 3) {
		if again := textOf(t, "trend", dir, "--json"); again != first {
			t.Fatalf("another answer:\n%s\nand\n%s", first, again)
		}
	}
}
