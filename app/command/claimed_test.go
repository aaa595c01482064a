package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/app/agent/claims"
	"ashlar/testdata/rounds"
)

// counted is a finding as JSON has it.
type counted struct {
	Rule, Claim string
	Numbers     []struct {
		Text, Unit, Check string
		Value             json.Number
	}
}

// manyFindings returns recordings with findings of all kinds, one or two for each answer.
func manyFindings(t *testing.T) (all [][]string) {
	t.Helper()
	planted, err := filepath.Glob("../../testdata/eval/planted/recordings/*")
	if err != nil || len(planted) < 60 {
		t.Fatalf("%d recordings, %v", len(planted), err)
	}
	for i, path := range planted {
		if !testing.Short() || i%6 == 1 {
			all = append(all, []string{path})
		}
	}
	for _, name := range []string{"small.spall", "small.spaa", "dtrace.spaa", "small-gpu.json", "training-gpu.json", "small.ftrace", "damaged.spaa", "views.folded", "diff-a.folded"} {
		all = append(all, []string{filepath.Join("testdata", name)})
	}
	return append(all, []string{"testdata/diff-a.folded", "testdata/diff-b.folded"})
}

// onlyFindings lists the rules with numbers that no other command prints, and why.
var onlyFindings = map[string]string{
	"gpu":       "how often two streams take turns, and for how long both run",
	"kernel":    "who calls functions without names",
	"library":   "a part of a library without names; who calls a library that looks like the program",
	"leak":      "how many threads wait until the end",
	"lock":      "who waits for locks, if threads also wait for others to end",
	"phase":     "the calls of a loop in a stretch of time that have a callee",
	"poll":      "sleeps at one place, and the time in between",
	"processor": "the waits of all threads for one processor",
	"step":      "the number of a slow step is its place in the list of gpu",
	"turns":     "a lock's part of the time in which its waiters had work",
	"uneven":    "parts of the work of some threads",
	"wakeup":    "waits that end in vain",
}

// TestNumbersOfFindings checks that check-claims confirms every number of a finding, and that
// it rejects one with a changed digit.
func TestNumbersOfFindings(t *testing.T) {
	rounds.Unraced(t)
	dir := t.TempDir()
	held := func(text string) (c claims.Checked, code int) {
		path := filepath.Join(dir, "report.md")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		r := ask("check-claims", path, "--json")
		if err := json.Unmarshal([]byte(r.stdout), &c); err != nil {
			t.Fatalf("%v: %s", err, r.stderr)
		}
		return c, r.code
	}
	found, numbers, own := 0, 0, map[string]int{}
	for i, files := range manyFindings(t) {
		var answer struct{ Findings []counted }
		r := ask(append([]string{"findings", "--json"}, files...)...)
		if err := json.Unmarshal([]byte(r.stdout), &answer); err != nil {
			t.Fatalf("%v: %v, %s", files, err, r.stderr)
		}
		if len(answer.Findings) == 0 {
			continue
		}
		found += len(answer.Findings)
		for _, f := range answer.Findings {
			numbers += len(f.Numbers)
			for _, n := range f.Numbers {
				if strings.HasPrefix(n.Check, "ashlar findings") {
					if own[f.Rule]++; onlyFindings[f.Rule] == "" {
						t.Errorf("%v: no other command prints %q of %s: %s", files, n.Text, f.Rule, f.Claim)
					}
				}
			}
		}
		if c, code := held(quoting(t, answer.Findings, -1, -1)); code != Done || c.Claims == 0 {
			t.Errorf("%v: exit code %d, %+v", files, code, c.Found)
		}
		// Change another number, or its claim, in each report.
		at := i % len(answer.Findings)
		k := i % len(answer.Findings[at].Numbers)
		if c, code := held(quoting(t, answer.Findings, at, k)); code != Failed || c.Wrong == 0 {
			t.Errorf("%v: a changed digit of number %d in %q gives exit code %d", files, k, answer.Findings[at].Claim, code)
		}
	}
	t.Logf("%d numbers in %d findings; only by findings: %v", numbers, found, own)
	if testing.Short() {
		return
	}
	if found < 60 || numbers < 250 {
		t.Errorf("%d numbers in %d findings", numbers, found)
	}
	for rule := range onlyFindings {
		if own[rule] == 0 {
			t.Errorf("other commands print all numbers of %s", rule)
		}
	}
}

// quoting returns a report that quotes findings, with their numbers in bold and a claim for
// each. The claim of number k of finding at has a wrong digit.
func quoting(t *testing.T, all []counted, at, k int) string {
	t.Helper()
	var b strings.Builder
	for i, f := range all {
		rest := strings.NewReplacer("*", `\*`, "`", "'").Replace(f.Claim)
		var checks strings.Builder
		for j, n := range f.Numbers {
			before, after, ok := strings.Cut(rest, n.Text)
			if !ok {
				t.Fatalf("%q lacks the number %q after those before it", f.Claim, n.Text)
			}
			check := n.Check
			if i == at && j == k {
				last := check[len(check)-1]
				check = check[:len(check)-1] + string('0'+(last-'0'+1)%10)
			}
			fmt.Fprintf(&b, "%s**%s**", before, n.Text)
			fmt.Fprintf(&checks, " ``%s``", check)
			rest = after
		}
		fmt.Fprintf(&b, "%s%s\n", rest, &checks)
	}
	return b.String()
}
