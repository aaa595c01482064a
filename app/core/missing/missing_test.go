package missing_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"ashlar/app/command"
	"ashlar/app/core/missing"
	"ashlar/ingest"
	"ashlar/ingest/model/recording"
)

func run(args ...string) (code int, out, said string) {
	var o, e bytes.Buffer
	code = command.Main(args, nil, &o, &e, command.Runner{})
	return code, o.String(), e.String()
}

// TestRefused checks that a question that a file cannot answer fails with one sentence that
// says what is missing and how to record it, and that other questions are answered.
func TestRefused(t *testing.T) {
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
		{[]string{"path", "../../command/testdata/small.spaa"}, "no off-CPU data. Record with"},
		{[]string{"diff", stacks, stacks, "--metric", "memory", "--all"}, "no memory data"},
		{[]string{"source", stacks, "parse"}, "no line numbers. Record .*-g"},
	} {
		code, out, said := run(c.args...)
		if code != command.Usage && code != command.Problem || out != "" || !regexp.MustCompile(c.want).MatchString(said) || strings.Count(said, "\n") != 1 {
			t.Errorf("%v: exit code %d, %q%q, want %q", c.args, code, out, said, c.want)
		}
	}
	if code, _, said := run("top", stacks, "--range", "1s.."); code != command.Done || !strings.Contains(said, "no timestamps. Record with perf record") {
		t.Errorf("exit code %d: %s", code, said)
	}
	for _, args := range [][]string{{"top", trace, "--metric", "time"}, {"path", trace}, {"top", stacks, "--metric", "samples"}} {
		if code, _, said := run(args...); code != command.Done {
			t.Errorf("%v is refused: %s", args, said)
		}
	}
	if _, _, said := run("top", stacks, "--metric", "xyz"); strings.Contains(said, "Record ") {
		t.Errorf("of an unknown metric it says %s", said)
	}
}

// TestFormats checks that advice names only formats that exist.
func TestFormats(t *testing.T) {
	known := map[string]bool{"": true}
	for _, f := range ingest.Formats {
		known[f.Name] = true
	}
	for format := range missing.Formats() {
		if !known[format] {
			t.Errorf("there is no format %q", format)
		}
	}
	for k := missing.OffCPU; k <= missing.Lines; k++ {
		for format := range known {
			text := missing.Reason(k, &recording.Recording{Source: recording.Source{Format: format}})
			if b, err := json.Marshal(text); err != nil || len(b) < 40 || strings.Contains(text, "with ;") || strings.HasSuffix(text, "with ") {
				t.Errorf("of %s it says %q", format, text)
			}
		}
	}
}
