package bundle_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/pprof/profile"

	"ashlar/app/command"
	_ "ashlar/app/command/picture" // registers the views that can be drawn
	"ashlar/app/core/bundle"
	"ashlar/app/core/view"
	"ashlar/app/window/shell"
	"ashlar/render/theme"
)

func run(t *testing.T, want int, args ...string) (out, said string) {
	t.Helper()
	var o, e bytes.Buffer
	if code := command.Main(args, nil, &o, &e, command.Runner{}); code != want {
		t.Fatalf("%v: exit code %d: %s", args, code, e.String())
	}
	return o.String(), e.String()
}

// trace writes a trace of two threads with 100 spans each, one per millisecond.
func trace(t *testing.T) string {
	t.Helper()
	var b strings.Builder
	b.WriteString("[")
	for tid := 1; tid <= 2; tid++ {
		for i := range 100 {
			fmt.Fprintf(&b, `{"name":"work %d","ph":"X","pid":1,"tid":%d,"ts":%d,"dur":%d,"args":{"n":%d}},`, i%7, tid, i*1000, 300+i, i)
		}
	}
	path := filepath.Join(t.TempDir(), "trace.json")
	if err := os.WriteFile(path, []byte(strings.TrimSuffix(b.String(), ",")+"]"), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// TestPart checks that a bundle holds the selected part of a recording, answers about it like
// the whole recording, and opens with the same view and marks after the original is gone.
func TestPart(t *testing.T) {
	file := trace(t)
	address := "ashlar:1?file=" + file + "&select=20ms..40ms&thread=1:2&tab=functions&mark=25ms:look%20here"
	out := filepath.Join(t.TempDir(), "x.ashlar")
	printed, _ := run(t, command.Done, "bundle", address, "-o", out)
	if !strings.Contains(printed, "1 view, 20 records of 200") {
		t.Errorf("it says %q", printed)
	}
	if err := os.Remove(file); err != nil {
		t.Fatal(err)
	}
	restored := filepath.Join(t.TempDir(), "trace.json") // another copy, for the numbers of the whole
	if err := os.Rename(trace(t), restored); err != nil {
		t.Fatal(err)
	}
	numbers := func(args ...string) string {
		s, _ := run(t, command.Done, append(append([]string{"top"}, args...), "--range", "20ms..40ms")...)
		_, rows, _ := strings.Cut(s, "\n")
		i := strings.Index(rows, "self")
		return rows[max(i, 0):]
	}
	if part, whole := numbers(out), numbers(restored, "--thread", "2"); part != whole || !strings.Contains(part, "work 3") {
		t.Errorf("the part answers\n%s\nand the whole\n%s", part, whole)
	}
	views := bundle.Views(out, out)
	if want := strings.Replace(address, file, out, 1); len(views) != 1 || views[0] != want {
		t.Errorf("the views are %q, want %q", views, want)
	}
	if listed, _ := run(t, command.Done, "info", out); !strings.Contains(listed, views[0]) {
		t.Errorf("info does not list the view: %s", listed)
	}
	s := shell.New(theme.Dark)
	defer s.Close()
	s.Open(out)
	if err := s.Finish(); err != nil {
		t.Fatal(err)
	}
	at := s.Address()
	if at.Tab != "functions" || len(at.Marks) != 1 || at.Marks[0].Text != "look here" || at.Sides[0].Select.String() != "20ms..40ms" || len(at.Sides[0].Threads) != 1 || at.Files[0] != out {
		t.Errorf("opened, it shows %s", at)
	}
}

// TestLines checks that a bundle contains the source lines that frames refer to, a few lines
// around each, and no others. A redacted bundle contains neither lines nor names of source
// files.
func TestLines(t *testing.T) {
	dir := t.TempDir()
	var text strings.Builder
	for i := range 200 {
		fmt.Fprintf(&text, "line %d of the source\n", i+1)
	}
	file := filepath.Join(dir, "src", "parse.c")
	if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(file, []byte(text.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	f := &profile.Function{ID: 1, Name: "parse", Filename: "/build/src/parse.c"}
	l := &profile.Location{ID: 1, Line: []profile.Line{{Function: f, Line: 100}}}
	p := &profile.Profile{SampleType: []*profile.ValueType{{Type: "samples", Unit: "count"}}, PeriodType: &profile.ValueType{Type: "samples", Unit: "count"}, Period: 1,
		Function: []*profile.Function{f}, Location: []*profile.Location{l}, Sample: []*profile.Sample{{Location: []*profile.Location{l}, Value: []int64{7}}}}
	var b bytes.Buffer
	if err := p.Write(&b); err != nil {
		t.Fatal(err)
	}
	recorded := filepath.Join(dir, "run.pb.gz")
	if err := os.WriteFile(recorded, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	out := filepath.Join(t.TempDir(), "x.ashlar")
	if printed, _ := run(t, command.Done, "bundle", recorded, "-o", out); !strings.Contains(printed, "25 source lines") {
		t.Errorf("it says %q", printed)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	lines := bundle.Lines(out, "/build/src/parse.c")
	if len(lines) != 112 || lines[99] != "line 100 of the source" || lines[86] != "" || lines[87] != "line 88 of the source" {
		t.Errorf("there are %d lines", len(lines))
	}
	if printed, _ := run(t, command.Done, "source", out, "parse"); !strings.Contains(printed, "line 100 of the source") {
		t.Errorf("source prints %s", printed)
	}
	again := filepath.Join(t.TempDir(), "y.ashlar")
	run(t, command.Done, "bundle", "ashlar:1?file="+out+"&tab=functions&function=parse:/build/secret", "-o", again, "--redact")
	content, err := os.ReadFile(again)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Contains(content, []byte("/build")) || bytes.Contains(content, []byte("secret")) || bytes.Contains(content, []byte("of the source")) || len(bundle.Views(again, again)) != 1 {
		t.Error("a bundle without names has some")
	}
}

// TestRefused checks the errors for invalid inputs and for files that are not bundles.
func TestRefused(t *testing.T) {
	file := trace(t)
	out := filepath.Join(t.TempDir(), "x.ashlar")
	for _, args := range [][]string{{file}, {file, "-o", "x.json"}, {"-o", out},
		{"ashlar:1?file=" + file, "ashlar:1?file=" + file + "&file=" + file, "-o", out}, {file, "-o", out, "--calls", "work["}} {
		run(t, command.Usage, append([]string{"bundle"}, args...)...)
	}
	run(t, command.Problem, "bundle", file, file, "other.json", "-o", out)
	run(t, command.Problem, "bundle", file, "other.json", "-o", out)
	run(t, command.Problem, "bundle", file, "-o", out, "--calls", "work 3[9s..]")
	run(t, command.Done, "convert", file, out)
	if bundle.Views(out, out) != nil || bundle.Views(file, file) != nil || bundle.Lines(out, "x") != nil || bundle.Views("none.ashlar", "") != nil {
		t.Error("what is no bundle has views")
	}
	if err := os.WriteFile(out, []byte("\x89ashlar\nxxxxx"), 0o644); err != nil {
		t.Fatal(err)
	}
	if bundle.Views(out, out) != nil {
		t.Error("what is damaged has views")
	}
	if v, err := view.Parse("ashlar:1?tab=functions"); err != nil || len(v.Files) != 0 {
		t.Errorf("an address without a file is %v, %v", v, err)
	}
}
