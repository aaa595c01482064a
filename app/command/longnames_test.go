package command

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestLongNames checks that text output stays short even if names are very long.
func TestLongNames(t *testing.T) {
	dir := t.TempDir()
	write := func(file, name string) string {
		path := filepath.Join(dir, file)
		var events []string
		for i, n := range []string{name, "b" + name} {
			s, _ := json.Marshal(n)
			events = append(events, fmt.Sprintf(`{"ph":"X","name":%s,"cat":%[1]s,"pid":1,"tid":1,"ts":%d,"dur":%d}`, s, 10*i, 100-20*i))
		}
		if err := os.WriteFile(path, []byte(`{"traceEvents":[`+strings.Join(events, ",")+`]}`), 0o644); err != nil {
			t.Fatal(err)
		}
		return path
	}
	a, b := write("a.json", strings.Repeat("x", 300_000)), write("b.json", "+1")
	key := strings.Repeat("k", 300_000)
	spaa := filepath.Join(dir, "c.spaa")
	small, err := os.ReadFile("testdata/small.spaa")
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(spaa, []byte(strings.Replace(string(small), `"context":{`, `"context":{"`+key+`":1,`, 1)), 0o644); err != nil {
		t.Fatal(err)
	}
	for _, args := range [][]string{{"diff", a, b}, {"diff", a, b, "--markdown"}, {"top", a}, {"info", a}, {"calls", a, "*"}, {"check", spaa}, {"overview", spaa}} {
		if r := run(args...); len(r.stdout) == 0 || len(r.stdout)+len(r.stderr) > 20_000 {
			t.Errorf("%v prints %d bytes and %d on standard error", args, len(r.stdout), len(r.stderr))
		}
	}
}

// TestLongQuotations checks that errors stay readable if an address or a flag has a long
// text, and keep both ends of it.
func TestLongQuotations(t *testing.T) {
	const file = "testdata/small.spall"
	long := "begin" + strings.Repeat("x", 3000) + "end"
	picture := filepath.Join(t.TempDir(), "x.svg")
	for _, args := range [][]string{
		{"render", "ashlar:1?file=" + file + "&thread=" + long, "-o", picture},
		{"top", file, "--event", long},
		{"top", file, "--range", long},
		{"stats", file, "-f", long},
	} {
		if r := run(args...); r.stderr == "" || len(r.stderr) > 2000 || !strings.Contains(r.stderr, "begin") || !strings.Contains(r.stderr, "end") {
			t.Errorf("%.80q: %d bytes: %.300s", args, len(r.stderr), r.stderr)
		}
	}
}

// TestLateFormat checks that all commands recognise a file whose format only shows after
// its first 64 KiB: folded stacks with a long first line, or JSON with the distinctive key
// last.
func TestLateFormat(t *testing.T) {
	dir := t.TempDir()
	for name, text := range map[string]string{
		"deep.folded": strings.Repeat("function;", 10_000) + "leaf 7\n",
		"late.json":   `{"otherData":{"a":"` + strings.Repeat("x", 100_000) + `"},"traceEvents":[{"ph":"X","name":"leaf","pid":1,"tid":1,"ts":0,"dur":7}]}`,
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
		for _, args := range [][]string{{"top", path, "-n", "1"}, {"check", path}, {"convert", path, path + ".pb"}} {
			if r := run(args...); r.code != 0 {
				t.Errorf("%s: code %d: %.200s%.200s", args[0], r.code, r.stdout, r.stderr)
			}
		}
	}
}
