package command

import (
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestLargeExpressions: a regular expression that would take minutes is refused in one short
// sentence, wherever it comes from.
func TestLargeExpressions(t *testing.T) {
	large := strings.Repeat(".*", 5000)
	const file, spans = "testdata/small.spaa", "testdata/small.spall"
	out := filepath.Join(t.TempDir(), "out.svg")
	claims := filepath.Join(t.TempDir(), "report.md")
	if err := os.WriteFile(claims, []byte("x `ashlar top "+file+" --focus /"+large+"/ # total = 1`\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	ways := [][]string{
		{"top", file, "--search", "/" + large + "/"},
		{"top", file, "--search", "thread:/" + large + "/"},
		{"top", file, "--search", "arg:/" + large + "/"},
		{"top", file, "--where", "pid~" + large},
		{"top", file, "--where", "pid!~" + large},
		{"top", file, "--zoom", "/" + large + "/"},
		{"top", spans, "--calls", "/" + large + "/"},
		{"calls", spans, "/" + large + "/"},
		{"calls", spans, `*[found "/` + large + `/"]`},
		{"calls", spans, "*[url~" + large + "]"},
		{"stats", spans, "--function", "/" + large + "/"},
		{"source", file, "/" + large + "/"},
		{"diff", file, file, "--focus", "/" + large + "/"},
		{"diff", spans, spans, "--calls", "/" + large + "/"},
		{"diff", spans, "--slow", "/" + large + "/"},
		{"render", file, "--focus", "/" + large + "/", "-o", out},
	}
	for _, flag := range []string{"focus", "only", "hide", "drop", "callers-of", "callees-of", "show-from", "mine", "collapse-recursion-of", "collapse-module"} {
		ways = append(ways, []string{"top", file, "--" + flag, "/" + large + "/"})
	}
	for _, args := range ways {
		r := run(args...)
		if r.code == 0 || !strings.Contains(r.stderr, "too complex (10000 wildcards") || len(r.stderr) > 1000 {
			t.Errorf("%.80v: exit code %d, standard error of %d bytes: %.300s", args, r.code, len(r.stderr), r.stderr)
		}
	}
	// An address whose search or transform is wrong opens without it.
	for _, args := range [][]string{
		{"render", "ashlar:1?file=" + file + "&transform=" + url.QueryEscape("focus /"+large+"/"), "-o", out},
		{"render", "ashlar:1?file=" + file + "&find=" + url.QueryEscape("/"+large+"/"), "-o", out},
		{"render", "ashlar:1?file=" + spans + "&calls=" + url.QueryEscape("/"+large+"/"), "-o", out},
		{"bundle", "ashlar:1?file=" + spans + "&calls=" + url.QueryEscape("/"+large+"/"), "-o", out + ".ashlar"},
	} {
		began := time.Now()
		if r := run(args...); time.Since(began) > 20*time.Second || len(r.stderr) > 1000 {
			t.Errorf("%.80v: %s, standard error of %d bytes: %.300s", args, time.Since(began), len(r.stderr), r.stderr)
		}
	}
	if r := run("check-claims", claims); r.code == 0 || !strings.Contains(r.stdout+r.stderr, "too complex") {
		t.Errorf("check-claims: exit code %d: %.300s %.300s", r.code, r.stdout, r.stderr)
	}
}
