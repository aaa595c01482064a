package shell

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gioui.org/f32"
	"gioui.org/io/pointer"

	"ashlar/app/pair"
	"ashlar/app/verdict"
	"ashlar/ingest/compare"
	"ashlar/testdata/twins"
)

// TestVerdictLeadsToItsNumbers: above what is compared stands the sentence that the
// command line prints; its numbers are the table's, and a click on each shows it.
func TestVerdictLeadsToItsNumbers(t *testing.T) {
	dir := t.TempDir()
	a, b := filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json")
	for path, data := range map[string][]byte{a: twins.Trace(false), b: twins.Trace(true)} {
		if err := os.WriteFile(path, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	w := newBench(t, someTrace)
	w.Open(a)
	w.settled()
	w.OpenBeside(b)
	w.settled()
	c := w.Versus
	ans := c.Answer()
	v := &c.Verdict
	if text := v.Text(); text == "" || text != verdict.Of(ans.Compared, ans.Functions) {
		t.Fatalf("the window says %q, the command line %q", text, verdict.Of(ans.Compared, ans.Functions))
	}
	parts := verdict.Parts(ans.Compared, ans.Functions)
	links := slices.DeleteFunc(parts, func(p verdict.Part) bool { return p.To == verdict.Nowhere })
	if len(links) != len(v.Links) {
		t.Fatalf("%d of %d links are shown", len(v.Links), len(links))
	}
	seen := map[verdict.To]bool{}
	for i, p := range links {
		at := f32.Pt(float32(v.Links[i].Min.X+3), float32(v.Links[i].Min.Y+10))
		w.click(at, 0, pointer.ButtonPrimary)
		w.settled()
		seen[p.To] = true
		switch p.To {
		case verdict.Function:
			if c.Chosen == nil || c.Chosen.Name != p.Row.Name {
				t.Errorf("%q marks %v", p.Text, c.Chosen)
			}
			if strings.HasPrefix(p.Text, "+") && p.Text != verdict.Signed(ans.Compared.Metric, p.Row.BSelf-p.Row.ASelf) {
				t.Errorf("%q stands for %+v", p.Text, p.Row)
			}
		case verdict.PerSecond:
			if c.Options.Normalize != compare.Duration {
				t.Errorf("%q normalises by %s", p.Text, c.Options.Normalize)
			}
			c.Options.Normalize = compare.Raw
			w.settled()
		case verdict.Totals:
			if c.Tab != pair.Difference || c.Chosen != nil {
				t.Errorf("%q leads to %s, %v", p.Text, c.Tab, c.Chosen)
			}
		}
	}
	if !seen[verdict.Function] || !seen[verdict.Totals] || !seen[verdict.PerSecond] {
		t.Errorf("%q leads only to %v", v.Text(), seen)
	}
}

// TestVerdictInPlace: parts of one recording have it too, and it goes with them.
func TestVerdictInPlace(t *testing.T) {
	b := newBench(t, twoProcesses)
	p := b.Pane
	p.Scope = p.Scope.On([]int{1})
	b.settled()
	lower := p.Bounds.Lower
	p.CompareTracks([]int{2})
	b.settled()
	// 90 µs and 40 µs of serve.
	if text := p.Verdict(); !strings.HasPrefix(text, "B costs 55.6 % less (40.00 µs, 90.00 µs). serve fell most (−50.00 µs") {
		t.Errorf("two threads are said to differ so: %q", text)
	}
	p.EndWithin()
	b.settled()
	if p.Verdict() != "" || p.Bounds.Lower != lower {
		t.Errorf("afterwards there is %q, and what is below lies at %v, not %v", p.Verdict(), p.Bounds.Lower, lower)
	}
}
