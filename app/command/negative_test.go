package command

import (
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"ashlar/testdata/rounds"
)

// TestNegativeAndTooLarge checks that negative parts are shown beside the total, and that sums
// stop at the limit of 64 bits.
func TestNegativeAndTooLarge(t *testing.T) {
	rounds.Unraced(t)
	dir := t.TempDir()
	write := func(name, text string) string {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		return path
	}
	delta := write("delta.folded", "main;grow 100\nmain;shrink -40\nmain -3\n")
	if out := said(t, "top", delta); !strings.Contains(out, "total 57, including −43 from negative values") {
		t.Errorf("%s", out)
	}
	if out := said(t, "top", "--json", delta); !strings.Contains(out, `"negative": -43`) {
		t.Errorf("%s", out)
	}
	for _, c := range []struct{ args, want string }{
		{"top --by thread", "total 57, including −43 from negative values"}, {"info", ", including −43 from negative values"}, {"info --json", `"negative": -43`},
		{"stats --function main", "total 57, including −43 from negative values"}, {"stats --function main --json", `"negative": -43`},
		{"diff --metric samples --all B", "negative values: −43 in A and −40 in B"}, {"diff --json B", `"negative": -43`},
	} {
		args := strings.Fields(strings.Replace(c.args, "B", write("less.folded", "main;grow 100\nmain;shrink -40\nmain 2\n"), 1))
		args = append(args[:1:1], append([]string{delta}, args[1:]...)...)
		if out := said(t, args...); !strings.Contains(out, c.want) {
			t.Errorf("%v: %s", args, out)
		}
	}
	var long strings.Builder
	long.WriteString("[")
	for i := range 1000 {
		for k := range 5 {
			long.WriteString(strings.NewReplacer("T", strconv.Itoa(i), "N", strconv.Itoa(k), "S", strconv.Itoa(2*k)).Replace(`{"ph":"X","pid":1,"tid":T,"name":"fN","ts":S,"dur":4579200000000},` + "\n"))
		}
	}
	path := write("long.json", long.String()+"{}]")
	for _, args := range [][]string{{"top", path}, {"top", "--tree", path}, {"top", "--by", "thread", path}, {"top", "--range", "1us..10us", path}, {"stats", "--function", "f0", path}} {
		if out := said(t, args...); strings.Contains(out, "−") {
			t.Errorf("%v: %s", args, out)
		}
	}
	if out := said(t, "top", path); !strings.Contains(out, "total ≥ 106") {
		t.Errorf("%s", out)
	}
	if out := said(t, "top", "--range", "1us..10us", path); !strings.Contains(out, "total 29.00 ms") { // 9, 8, 6, 4 and 2 µs on each of 1,000 threads
		t.Errorf("%s", out)
	}
	fails(t, []string{"diff", path, path}, Problem, "the values are too large to compare")
	if out := said(t, "info", path); !strings.Contains(out, "exceeds 2^63 of its smallest unit (for times, 106 days); sums are limited to that") {
		t.Errorf("%s", out)
	}
}

func said(t *testing.T, args ...string) string {
	t.Helper()
	r := run(args...)
	if r.code != 0 {
		t.Fatalf("%v ends with %d: %s", args, r.code, r.stderr)
	}
	return r.stdout
}
