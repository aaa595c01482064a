package join_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/query/join"
)

func TestShortNames(t *testing.T) {
	for _, x := range [][2]string{
		{"rank0.json rank1.json", "rank0 rank1"},
		{"/tmp/rank0.json /tmp/rank10.json", "rank0 rank10"},
		{"run-rank-0.json run-rank-1.json", "rank-0 rank-1"},
		{"rank0_trace.json.gz rank1_trace.json.gz", "rank0 rank1"},
		{"a/trace.json b/trace.json", "a b"},
		{"jobs/7/r0/trace.json jobs/7/r1/trace.json", "r0 r1"},
		{"a.json a.json", "a a (2)"},
		{"run.json run.2.json", "run run.2"},
		{"server.go.trace client.pftrace", "server.go.trace client.pftrace"},
		{"host1_1234.1700000.pt.trace.json host2_77.1700001.pt.trace.json", "host1_1234.1700000 host2_77.1700001"},
		{"http://h/x?rank=1 http://h/x?rank=2", ""},
		{"one.json", "one"},
	} {
		got := join.Names(strings.Fields(x[0]))
		if x[1] == "" {
			if got[0] == got[1] {
				t.Errorf("%s: both are called %s", x[0], got[0])
			}
		} else if strings.Join(got, " ") != x[1] {
			t.Errorf("%s are called %q, not %s", x[0], got, x[1])
		}
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	for _, f := range []string{"rank0.json", "rank2.json", "rank10.json", "a + b", "x[1].json"} {
		if err := os.WriteFile(filepath.Join(dir, f), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(dir)
	for _, x := range []struct {
		name  string
		files string // separated by |, "" for an error
		title string
	}{
		{"rank0.json", "rank0.json", ""},
		{"a + b", "a + b", ""}, // a file of that name
		{"rank0.json + rank2.json", "rank0.json|rank2.json", "rank0.json + rank2.json"},
		{"rank*.json +", "rank0.json|rank2.json|rank10.json", "rank0.json + 2 more"},
		{"rank1*.json + rank0.json", "rank10.json|rank0.json", "rank10.json + rank0.json"},
		{"x[1].json + rank0.json", "x[1].json|rank0.json", "x[1].json + rank0.json"},
		{"rank0.json +", "rank0.json", "rank0.json"},
		{"gone*.json +", "", "gone*.json"},
		{"http://h/p?seconds=5 + rank0.json", "http://h/p?seconds=5|rank0.json", ""},
	} {
		files, err := join.Files(x.name)
		if got := strings.Join(files, "|"); got != x.files || (err == nil) != (x.files != "") {
			t.Errorf("%q joins %s (%v), not %s", x.name, got, err, x.files)
		}
		if x.title != "" && join.Title(x.name) != x.title {
			t.Errorf("%q is titled %q, not %q", x.name, join.Title(x.name), x.title)
		}
	}
	for _, name := range []string{"", "+", " + ", "a +  + b", " + b", "a+b", "a + b"} {
		if join.IsName(name) {
			t.Errorf("%q is taken for the name of several recordings", name)
		}
	}
	if got := join.Each("r*.json + s.json", func(s string) string { return "/x/" + s }); got != "/x/r*.json + /x/s.json" {
		t.Errorf("each name replaced is %q", got)
	}
	many := strings.Repeat("rank0.json + ", join.Most) + "rank2.json"
	if _, err := join.Files(many); err == nil || !strings.Contains(err.Error(), fmt.Sprint(join.Most)) {
		t.Errorf("too many recordings: %v", err)
	}
}

// FuzzNames checks that names put together come apart again, and that short names are unique
// and not empty.
func FuzzNames(f *testing.F) {
	f.Add("a", "b", "c")
	f.Add("rank-0.json", "rank-1.json", "rank-1.json")
	f.Add("a/b.c", "a/b", "/")
	f.Add("01", "1", "001")
	f.Fuzz(func(t *testing.T, a, b, c string) {
		names := []string{a, b, c}
		join.IsName(a)
		join.Title(a)
		short := join.Names(names)
		for i, s := range short {
			if s == "" && !slices.Contains(names, "") {
				t.Errorf("%q has no name among %q", names[i], names)
			}
			if slices.Contains(short[:i], s) {
				t.Errorf("%q are called %q", names, short)
			}
		}
		for _, n := range names {
			if n == "" || strings.TrimSpace(n) != n || strings.Contains(n, " +") || strings.HasPrefix(n, "+ ") || n == "+" {
				return
			}
		}
		if joined := join.Name(names...); join.IsName(joined) && !slices.Equal(join.Split(joined), names) {
			t.Errorf("%q comes apart as %q", joined, join.Split(joined))
		}
	})
}
