package command

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestMissingData checks that a question that a file cannot answer fails with one sentence that
// says what is missing and how to record it, and that other questions are answered.
func TestMissingData(t *testing.T) {
	dir := t.TempDir()
	stacks, trace := filepath.Join(dir, "run.folded"), filepath.Join(dir, "trace.json")
	for path, text := range map[string]string{stacks: "main;parse 3\n", trace: `[{"name":"work","ph":"X","pid":1,"tid":1,"ts":0,"dur":5}]`} {
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"top", stacks, "--metric", "cpu"}, "no off-CPU data. Record .*perf sched record"},
		{[]string{"top", stacks, "--metric", "wall"}, "no off-CPU data"},
		{[]string{"top", trace, "--metric", "waiting"}, "no off-CPU data. Record with thread clocks"},
		{[]string{"top", trace, "--metric", "blocked"}, "no off-CPU data"},
		{[]string{"top", stacks, "--metric", "alloc_space"}, "no memory data. Record a heap profile"},
		{[]string{"top", trace, "--by", "state"}, "no off-CPU data"},
		{[]string{"top", stacks, "--calls", "parse"}, "no spans. Record a trace"},
		{[]string{"path", stacks}, "no off-CPU data"},
		{[]string{"path", "testdata/small.spaa"}, "no off-CPU data. Record with"},
		{[]string{"diff", stacks, stacks, "--metric", "memory", "--all"}, "no memory data"},
		{[]string{"source", stacks, "parse"}, "no line numbers. Record .*-g"},
	} {
		r := run(c.args...)
		if r.code != Usage && r.code != Problem || r.stdout != "" || !regexp.MustCompile(c.want).MatchString(r.stderr) || strings.Count(r.stderr, "\n") != 1 {
			t.Errorf("%v: exit code %d, %q%q, want %q", c.args, r.code, r.stdout, r.stderr, c.want)
		}
	}
	if r := run("top", stacks, "--range", "1s.."); r.code != Done || !strings.Contains(r.stderr, "no timestamps. Record with perf record") {
		t.Errorf("exit code %d: %s", r.code, r.stderr)
	}
	for _, args := range [][]string{{"top", trace, "--metric", "time"}, {"path", trace}, {"top", stacks, "--metric", "samples"}} {
		if r := run(args...); r.code != Done {
			t.Errorf("%v is refused: %s", args, r.stderr)
		}
	}
	if r := run("top", stacks, "--metric", "xyz"); strings.Contains(r.stderr, "Record ") {
		t.Errorf("of an unknown metric it says %s", r.stderr)
	}
}
