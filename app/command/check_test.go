package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestCheck checks files with errors: SPAA, whose rules are checked, and other formats.
func TestCheck(t *testing.T) {
	dir := t.TempDir()
	file := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	bad := file("bad.spaa", `{"type":"header","format":"spaa","version":"1.0","source_tool":"perf","frame_order":"leaf_to_root","events":[],"stack_id_mode":"local"}
{"type":"frame","id":1,"func":"f","dso":9,"kind":"user"}
{"type":"stack","id":1,"frames":[1,2],"context":{"event":"no"},"weights":[]}
`)
	r := run("check", bad)
	if r.code != Problem {
		t.Errorf("exit code %d", r.code)
	}
	for _, want := range []string{
		bad + ":2: error [frame-dso]: the frame references dso 9, which is not in the file\n",
		bad + `:3: error [context-event]: the header has no event "no"` + "\n",
		bad + ":3: error [stack-frame]: the stack references frame 2",
		bad + ":3: warning [exclusive-missing]: ",
		"3 errors and ", " in 1 file\n",
	} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("%q does not say %q", r.stdout, want)
		}
	}
	r.sentence(t, Problem, "bad.spaa")

	other := file("other.folded", "a;b 1\n\na;c 2\n# comment\na;d 3\na 4\nno count here at all\n")
	r = run("check", other)
	if r.code != Problem || !strings.Contains(r.stdout, other+": error [not-a-stack]: Line 7") || !strings.Contains(r.stdout, "only SPAA has a strict check") || !strings.Contains(r.stdout, "note [ledger]: line: 6 read, 4 kept, 0 repaired, 2 left out") {
		t.Errorf("%d %s", r.code, r.stdout)
	}

	heap := file("heap.spaa", `{"format":"heap-diff","x":1,"type":"header"}`+"\n")
	none := filepath.Join(dir, "none.spaa")
	r = run("check", heap, none, other)
	for _, want := range []string{heap + ":1: error [format]: ", none + ": error [unreadable]: there is no such file\n", "3 errors and 1 warning in 3 files\n"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("%q does not say %q", r.stdout, want)
		}
	}
	r.sentence(t, Problem, "3 of 3 files")

	var v struct {
		Errors int64
		Files  []struct {
			Format        string
			Strict, Valid bool
			Findings      []struct {
				Line           int64
				Severity, Rule string
			}
			Records map[string]int64
		}
	}
	r = run("check", "--json", bad, other)
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil || r.code != Problem {
		t.Fatalf("%d %v", r.code, err)
	}
	if v.Errors != 4 || len(v.Files) != 2 || !v.Files[0].Strict || v.Files[0].Valid || v.Files[1].Strict || v.Files[1].Valid || v.Files[0].Records["stack"] != 1 || v.Files[0].Findings[0].Line == 0 {
		t.Errorf("%+v", v)
	}
}

// TestCheckMax checks that findings beyond --max are counted instead of listed.
func TestCheckMax(t *testing.T) {
	var text strings.Builder
	text.WriteString(`{"type":"header","format":"spaa","version":"1.0","source_tool":"perf","frame_order":"leaf_to_root","events":[],"stack_id_mode":"local"}` + "\n")
	for i := range 50 {
		fmt.Fprintf(&text, `{"type":"frame","id":%d,"func":"f","dso":9,"kind":"odd"}`+"\n", i)
	}
	r := runWith([]byte(text.String()), "check", "-", "--max", "3")
	if got := strings.Count(r.stdout, "[frame-kind]: the kind"); got != 3 || !strings.Contains(r.stdout, "error [frame-kind]: 47 more") {
		t.Errorf("%d lines:\n%s", got, r.stdout)
	}
	for says, args := range map[string][]string{
		"name the files": {"check"}, "--max 0": {"check", "x", "--max", "0"}, "leave out x": {"check", "x", "--rules"},
	} {
		r := run(args...)
		r.sentence(t, Usage, says)
	}
}

func TestCheckRules(t *testing.T) {
	r := run("check", "--rules")
	if r.code != Done || !strings.Contains(r.stdout, "primary-metric") || !strings.Contains(r.stdout, "found when a stack has no value for that metric") {
		t.Errorf("%d %.300s", r.code, r.stdout)
	}
	var rules []struct{ ID, Section, Severity, Demand, Found string }
	if err := json.Unmarshal([]byte(run("check", "--rules", "--json").stdout), &rules); err != nil || len(rules) < 60 {
		t.Fatalf("%d rules, %v", len(rules), err)
	}
	for _, x := range rules {
		if x.ID == "" || x.Section == "" || x.Severity != "error" && x.Severity != "warning" || x.Demand == "" || x.Found == "" {
			t.Errorf("%+v", x)
		}
	}
}

// TestCheckOfAPart checks that records outside --range and --thread are neither checked nor
// reported.
func TestCheckOfAPart(t *testing.T) {
	path := filepath.Join(t.TempDir(), "two.json")
	err := os.WriteFile(path, []byte(`[{"ph":"M","pid":1,"tid":7,"name":"thread_name","args":{"name":"net"}},{"ph":"M","pid":1,"tid":8,"name":"thread_name","args":{"name":"disk"}},
{"ph":"X","pid":1,"tid":7,"ts":0,"dur":400,"name":"send"},{"ph":"X","pid":1,"tid":8,"ts":0,"dur":400,"name":"seek"},{"ph":"X","pid":1,"tid":8,"ts":5000,"dur":9,"name":"late"}]`), 0o644)
	if err != nil {
		t.Fatal(err)
	}
	for args, left := range map[string]string{"": "", "--thread net": "left out: 2 records outside of it (spans", "--range ..1ms": "left out: 1 record outside of it (spans", "--range 4ms.. --thread disk": "left out: 2 records outside of it (spans"} {
		r := run(append([]string{"check", path}, strings.Fields(args)...)...)
		if r.code != Done || !strings.Contains(r.stdout, "0 errors and 0 warnings in 1 file") || strings.Contains(r.stdout, ": note [part]: ") != (left != "") || !strings.Contains(r.stdout, left) {
			t.Errorf("check %s: exit code %d, %s%s", args, r.code, r.stdout, r.stderr)
		}
	}
	if r := run("check", "testdata/small.spaa", "--range", "..1ms"); r.code != Problem || !strings.Contains(r.stdout, "leave out --range ..1ms") {
		t.Errorf("SPAA: exit code %d, %s%s", r.code, r.stdout, r.stderr)
	}
}
