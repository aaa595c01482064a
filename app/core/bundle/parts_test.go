package bundle_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/app/command"
	"ashlar/app/core/bundle"
	"ashlar/app/core/view"
	"ashlar/app/window/shell"
	"ashlar/render/theme"
)

// rows returns a command's JSON without the fields that name files.
func rows(t *testing.T, args ...string) string {
	t.Helper()
	out, _ := run(t, command.Done, append(args, "--json")...)
	var v map[string]any
	if err := json.Unmarshal([]byte(out), &v); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"file", "files", "a", "b", "verdict"} {
		if m, ok := v[key].(map[string]any); ok {
			delete(m, "file")
			delete(m, "files")
			delete(m, "name")
		} else {
			delete(v, key)
		}
	}
	at, err := view.Parse(v["address"].(string))
	if err != nil {
		t.Fatal(err)
	}
	at.Files, at.Contents = nil, nil
	v["address"] = at.String()
	b, err := json.MarshalIndent(v, "", " ")
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// TestTwo checks that a bundle of two recordings, or of parts of them, answers like the
// recordings and opens as their comparison, even after it was moved.
func TestTwo(t *testing.T) {
	a, b := trace(t), trace(t)
	text, err := os.ReadFile(b)
	if err == nil {
		err = os.WriteFile(b, []byte(strings.ReplaceAll(string(text), `"dur":3`, `"dur":4`)), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "x.ashlar")
	run(t, command.Done, "bundle", a, b, "-o", out)
	second := out + "#b"
	if got, want := rows(t, "diff", out, second), rows(t, "diff", a, b); got != want || !strings.Contains(got, "work 3") {
		t.Errorf("the bundle answers\n%s\nand the recordings\n%s", got, want)
	}
	if got, want := rows(t, "top", second), rows(t, "top", b); got != want {
		t.Errorf("the second recording answers\n%s\nand it itself\n%s", got, want)
	}
	if listed, _ := run(t, command.Done, "info", out); !strings.Contains(listed, "file=") || !strings.Contains(listed, "%23b") {
		t.Errorf("info lists %s", listed)
	}
	run(t, command.Done, "bundle", "ashlar:1?file="+a+"&file="+b+"&select=20ms..40ms&select.b=50ms..90ms&tab=table", "-o", out, "--force")
	if got, want := rows(t, "diff", out, second, "--range-a", "20ms..40ms", "--range-b", "50ms..90ms"), rows(t, "diff", a, b, "--range-a", "20ms..40ms", "--range-b", "50ms..90ms"); got != want {
		t.Errorf("parts answer\n%s\nand the recordings\n%s", got, want)
	}
	moved := filepath.Join(t.TempDir(), "y.ashlar")
	if err := os.Rename(out, moved); err != nil {
		t.Fatal(err)
	}
	s := shell.New(theme.Dark)
	defer s.Close()
	s.Open(moved)
	if err := s.Finish(); err != nil {
		t.Fatal(err)
	}
	at := s.Address()
	if s.Versus == nil || at.Tab != "table" || len(at.Files) != 2 || at.Files[0] != moved || at.Sides[0].Select.String() != "20ms..40ms" || at.Sides[1].Select.String() != "50ms..90ms" {
		t.Errorf("opened, it shows %s", at)
	}
	one := filepath.Join(t.TempDir(), "one.ashlar")
	run(t, command.Done, "bundle", a, "-o", one)
	if _, said := run(t, command.Problem, "top", one+"#b"); !strings.Contains(said, "only one recording") {
		t.Errorf("of a bundle of one it says %q", said)
	}
	if _, said := run(t, command.Problem, "top", "none.ashlar#b"); !strings.Contains(said, "no such file") {
		t.Errorf("of none it says %q", said)
	}
}

// nested writes a trace of nested calls on three threads.
func nested(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("[")
	r := rand.New(rand.NewPCG(4, 4))
	for tid := 1; tid <= 3; tid++ {
		fmt.Fprintf(&b, `{"name":"main","ph":"X","pid":1,"tid":%d,"ts":0,"dur":110000},`, tid)
		for i := range 100 {
			at := i * 1000
			fmt.Fprintf(&b, `{"name":"task","ph":"X","pid":1,"tid":%d,"ts":%d,"dur":%d,"args":{"n":%d}},`, tid, at, 500+r.IntN(400), i%10)
			fmt.Fprintf(&b, `{"name":"step %d","ph":"X","pid":1,"tid":%d,"ts":%d,"dur":%d},`, r.IntN(4), tid, at+10, 100+r.IntN(300))
			fmt.Fprintf(&b, `{"name":"idle","ph":"X","pid":1,"tid":%d,"ts":%d,"dur":50},`, tid, at+940)
		}
	}
	path := filepath.Join(t.TempDir(), "nested.json")
	if err := os.WriteFile(path, []byte(strings.TrimSuffix(b.String(), ",")+"]"), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestCalls checks that a bundle of calls answers about them like the whole recording, leaves
// out most other spans, and keeps the callers of the calls.
func TestCalls(t *testing.T) {
	file := nested(t)
	for i, calls := range []string{"task[slowest 10]", "task[n=3]", "!task[..700us]", "task[found \"arg:7\"]", "step 1|step 2", "task[started 20ms..40ms]", "task[self 400us..]", "main"} {
		if testing.Short() && i%3 != 0 {
			continue
		}
		out := filepath.Join(t.TempDir(), "x.ashlar")
		args := []string{"bundle", file, "--calls", calls, "-o", out}
		if i%2 == 1 {
			args = []string{"bundle", "ashlar:1?file=" + file + "&calls=" + strings.NewReplacer(" ", "%20", `"`, "%22", "=", "%3D", "|", "%7C", ":", "%3A", "!", "%21").Replace(calls), "-o", out}
		}
		run(t, command.Done, args...)
		for _, ask := range [][]string{{"top"}, {"top", "--by", "thread"}, {"top", "--tree"}, {"calls"}} {
			if ask[0] == "calls" {
				ask = []string{"calls", file, calls}
			} else {
				ask = append([]string{ask[0], file, "--calls", calls}, ask[1:]...)
			}
			want := rows(t, ask...)
			ask[1] = out
			if got := rows(t, ask...); got != want {
				t.Errorf("%s: %v says\n%.1500s\nand of the whole\n%.1500s", calls, ask, got, want)
			}
		}
		type info struct {
			Counts struct{ Spans int64 }
			Time   struct{ Duration json.Number }
		}
		var whole, part info
		for path, to := range map[string]*info{file: &whole, out: &part} {
			printed, _ := run(t, command.Done, "info", path, "--json")
			if err := json.Unmarshal([]byte(printed), to); err != nil {
				t.Fatal(err)
			}
		}
		if part.Time.Duration != whole.Time.Duration || calls != "main" && part.Counts.Spans >= whole.Counts.Spans*9/10 {
			t.Errorf("%s: the bundle has %d of %d spans, in %s", calls, part.Counts.Spans, whole.Counts.Spans, part.Time.Duration)
		}
		if tree, _ := run(t, command.Done, "top", out, "--tree"); !strings.Contains(tree, "main") {
			t.Errorf("%s: what is above them is not there: %s", calls, tree)
		}
		if len(bundle.Views(out, out)) != 1 || !strings.Contains(bundle.Views(out, out)[0], "calls=") {
			t.Errorf("%s: the views are %q", calls, bundle.Views(out, out))
		}
	}
}
