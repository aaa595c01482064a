package command

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
)

// foldedRun maps stacks to their weights.
var foldedRun = map[string]int{"a;b;c": 5, "a;b": 3, "a;d;b": 7, "a;b;c;e f": 2, "z;b;c": 11, "z": 1}

func topFolded(t *testing.T, args ...string) (rows []topRow, more int) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "run.folded")
	var text strings.Builder
	for s, n := range foldedRun {
		fmt.Fprintln(&text, s, n)
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if code := Main(append([]string{"top", path, "--json"}, args...), nil, &out, &errs, Runner{}); code != Done {
		t.Fatalf("top %q: exit %d: %s", args, code, errs.String())
	}
	var got struct {
		Rows []topRow
		More int
	}
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	return got.Rows, got.More
}

// TestTopZoom compares the tree below a path with the sums of the stacks that begin with it.
func TestTopZoom(t *testing.T) {
	for _, path := range [][]string{{"a"}, {"a", "b"}, {"a", "b", "c", "e f"}, {"z"}, {"z", "b"}} {
		var args []string
		for _, f := range path {
			args = append(args, "--zoom", f)
		}
		want := map[string]int{} // by stack
		for s, n := range foldedRun {
			frames := strings.Split(s, ";")
			if len(frames) < len(path) || !slices.Equal(frames[:len(path)], path) {
				continue
			}
			for d := len(path); d <= len(frames); d++ {
				want[strings.Join(frames[:d], ";")] += n
			}
		}
		rows, more := topFolded(t, args...)
		if len(rows) != len(want) || more != 0 {
			t.Errorf("%q prints %d rows and %d more, not %d", path, len(rows), more, len(want))
		}
		at := slices.Clone(path[:len(path)-1])
		for _, r := range rows {
			at = append(at[:r.Depth-1], r.Name)
			if stack := strings.Join(at, ";"); r.Total.String() != fmt.Sprint(want[stack]) {
				t.Errorf("%q has the total %s, not %d", stack, r.Total, want[stack])
			}
		}
		if rows, more = topFolded(t, append(args, "-n", "1")...); len(rows) != 1 || rows[0].Name != path[len(path)-1] || more != len(want)-1 {
			t.Errorf("one row of %q is %v and %d more", path, rows, more)
		}
	}
}

func TestTopZoomMisses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.folded")
	if err := os.WriteFile(path, []byte("a;b 3\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	for want, args := range map[string][]string{
		"no call path begins with b":                             {"--zoom", "b"},
		"a does not call c on this path":                         {"--zoom", "a", "--zoom", "c"},
		"--tree has its own order; leave out --sort":             {"--zoom", "a", "--sort", "name"},
		"self, total, count":                                     {"--sort", "weight"},
		"has no spans, so it has no durations; leave out --sort": {"--sort", "most"},
		"--sort -least works only for functions":                 {"--sort", "-least", "--by", "module"},
	} {
		var out, errs bytes.Buffer
		if code := Main(append([]string{"top", path}, args...), nil, &out, &errs, Runner{}); code == Done || !strings.Contains(errs.String(), want) {
			t.Errorf("%q: exit %d: %s", args, code, errs.String())
		}
	}
}

func TestTopSort(t *testing.T) {
	plain, _ := topFolded(t)
	for by, compare := range map[string]func(a, b topRow) int{
		"self":  func(a, b topRow) int { return number(t, b.Self) - number(t, a.Self) },
		"total": func(a, b topRow) int { return number(t, b.Total) - number(t, a.Total) },
		"count": func(a, b topRow) int { return cmp.Compare(b.Count, a.Count) },
		"name":  func(a, b topRow) int { return strings.Compare(a.Name, b.Name) },
	} {
		rows, _ := topFolded(t, "--sort", by)
		want := slices.Clone(plain)
		slices.SortStableFunc(want, compare)
		if !slices.EqualFunc(rows, want, func(a, b topRow) bool { return reflect.DeepEqual(a, b) }) {
			t.Errorf("by %s: %v, not %v", by, rows, want)
		}
	}
}

func number(t *testing.T, n json.Number) int {
	t.Helper()
	v, err := n.Int64()
	if err != nil {
		t.Fatal(err)
	}
	return int(v)
}
