package command

import (
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ashlar/app/agent/overview"
	"ashlar/testdata/rounds"
	"ashlar/testdata/samples"
)

// everySample returns the recordings in testdata and the small samples.
func everySample(t *testing.T) []string {
	t.Helper()
	writeSmallSpall(t)
	return append(slices.DeleteFunc(samples.Below(t, "testdata"), func(path string) bool { return filepath.Ext(path) == ".txt" }), samples.Small(1<<20, samples.Files(t))...)
}

// within fails the test if an answer exceeds its budget.
func within(t *testing.T, r *ran, tokens int, what string) {
	t.Helper()
	if n := (len(r.stdout) + 3) / 4; n > tokens {
		t.Errorf("%s has %d tokens, more than %d", what, n, tokens)
	}
}

// TestBudgets checks that each command keeps its budget on all recordings, and that shortened
// answers say what was left out.
func TestBudgets(t *testing.T) {
	read := 0
	for _, path := range everySample(t) {
		r := ask("overview", path)
		if r.code != Done {
			continue
		}
		read++
		within(t, &r, overview.Most, "overview "+path)
		for _, args := range [][]string{{"overview"}, {"top"}, {"top", "--tree"}, {"info"}, {"findings"}} {
			args = append([]string{args[0], path}, args[1:]...)
			line := strings.Join(args, " ")
			var all map[string]any
			if err := json.Unmarshal([]byte(ask(append(args, "--json")...).stdout), &all); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			tokens := []int{200, 700}[read%2] // one budget per recording, since reading takes the time
			r := ask(append(args, "--json", fmt.Sprintf("--budget=%d", tokens))...)
			if r.code != Done {
				if !strings.Contains(r.stderr, "larger --budget") || tokens > 500 {
					t.Errorf("%s in %d: %s", line, tokens, r.stderr)
				}
				continue
			}
			within(t, &r, tokens, line)
			var got map[string]any
			if err := json.Unmarshal([]byte(r.stdout), &got); err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			left := map[string]float64{}
			for _, l := range elements(got["left_out"]) {
				left[l["list"].(string)] = l["left"].(float64)
			}
			for name, v := range all {
				a, ok := v.([]any)
				b, _ := got[name].([]any)
				if ok && len(a) != len(b)+int(left[name]) && args[0] != "overview" && !strings.Contains(line, "--tree") {
					t.Errorf("%s in %d: %s has %d of %d, and %v are said to be left out", line, tokens, name, len(b), len(a), left[name])
				}
			}
		}
		if r := ask("top", path, "--budget", "200"); r.code == Done {
			within(t, &r, 200, "top "+path)
		}
	}
	if read < 5 {
		t.Errorf("only %d recordings were tried", read)
	}
}

func elements(v any) (all []map[string]any) {
	l, _ := v.([]any)
	for _, x := range l {
		all = append(all, x.(map[string]any))
	}
	return all
}

// TestBudgetSays checks that text names the share of the cost that was left out and the
// command that shows everything.
func TestBudgetSays(t *testing.T) {
	rounds.Unraced(t)
	r := run("top", "--demo", "--budget", "300")
	if !strings.Contains(r.stdout, "left out: ") || !strings.Contains(r.stdout, "% of the sum of self; all: ashlar top --demo -n 0\n") {
		t.Error(r.stdout)
	}
	small := run("top", "--demo", "--budget", "10")
	small.sentence(t, Usage, "too small", "200")
	for _, args := range [][]string{{"stats", "testdata/small.spall", "-f", "/./"}, {"diff", "testdata/diff-a.folded", "testdata/diff-b.folded"}, {"calls", "testdata/small.spall", "*"}, {"info", "--demo"}} {
		for _, tokens := range []int{250, 400, 2000} {
			for _, form := range [][]string{nil, {"--json"}} {
				line := append(append(append([]string{}, args...), "--budget", fmt.Sprint(tokens)), form...)
				r := run(line...)
				if r.code != Done && !strings.Contains(r.stderr, "larger --budget") {
					t.Errorf("%v: %s", line, r.stderr)
				}
				within(t, &r, tokens, strings.Join(line, " "))
			}
		}
	}
}

// TestFindingsCanBeFollowed checks that the commands of findings run and their addresses can
// be read.
func TestFindingsCanBeFollowed(t *testing.T) {
	for _, path := range everySample(t) {
		r := ask("findings", path, "--json")
		var got struct {
			Findings []struct{ Rule, Claim, Command, Address string }
		}
		if r.code != Done {
			continue
		}
		if err := json.Unmarshal([]byte(r.stdout), &got); err != nil {
			t.Fatalf("%s: %v", path, err)
		}
		for _, f := range got.Findings {
			if _, err := new(call).address(f.Address, ""); err != nil {
				t.Errorf("%s: %s: %v", path, f.Rule, err)
			}
			if strings.ContainsAny(f.Command, "'$") { // needs a shell to split
				continue
			}
			if r := ask(strings.Fields(f.Command)[1:]...); r.code != Done && !strings.HasPrefix(f.Command, "ashlar check") {
				t.Errorf("%s: %s: %s", path, f.Command, r.stderr)
			}
		}
	}
}
