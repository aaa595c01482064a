package shell

import (
	"fmt"
	"image"
	"os"
	"path/filepath"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"gioui.org/f32"
	"gioui.org/io/pointer"

	"ashlar/app/command"
	"ashlar/app/core/verdict"
	"ashlar/app/core/view"
	"ashlar/app/window/comparison"
	"ashlar/ingest/query/compare"
	"ashlar/render/units"
	"ashlar/testdata/rounds"
	"ashlar/testdata/twins"
)

// TestVerdictLeadsToItsNumbers checks that the window shows the verdict that the command
// line prints, and that a click on each of its numbers shows where it comes from.
func TestVerdictLeadsToItsNumbers(t *testing.T) {
	rounds.Unraced(t)
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
	seen, said := map[verdict.To]bool{}, v.Text()
	for i, p := range links {
		w.until("the sentences", func() bool { return v.Text() == said })
		at := f32.Pt(float32(v.Links[i].Min.X+3), float32(v.Links[i].Min.Y+10))
		w.click(at, 0, pointer.ButtonPrimary)
		w.settled()
		seen[p.To] = true
		switch p.To {
		case verdict.Function, verdict.Total:
			if c.Chosen == nil || c.Chosen.Name != p.Row.Name {
				t.Errorf("%q marks %v in %s", p.Text, c.Chosen, v.Text())
			}
			if p.To == verdict.Function && strings.HasPrefix(p.Text, "+") && p.Text != verdict.Signed(ans.Compared.Metric, p.Row.BSelf-p.Row.ASelf) {
				t.Errorf("%q stands for %+v", p.Text, p.Row)
			}
		case verdict.Branch:
			if c.Tab != comparison.Difference || int(c.Node) != p.Node || c.Chosen == nil || c.Chosen.Name != ans.Compared.Tree.Name(p.Node) {
				t.Errorf("%q leads to %s, bar %d, %v", p.Text, c.Tab, c.Node, c.Chosen)
			}
		case verdict.PerSecond:
			if c.Options.Normalize != compare.Duration {
				t.Errorf("%q normalises by %s", p.Text, c.Options.Normalize)
			}
			c.Options.Normalize = compare.Raw
			w.settled()
		case verdict.Totals:
			if c.Tab != comparison.Difference || c.Chosen != nil {
				t.Errorf("%q leads to %s, %v", p.Text, c.Tab, c.Chosen)
			}
		}
	}
	if !seen[verdict.Function] || !seen[verdict.Totals] || !seen[verdict.PerSecond] {
		t.Errorf("%q leads only to %v", v.Text(), seen)
	}
}

// TestVerdictLines checks that no line of the verdict begins with a comma or the like, in windows
// of many widths.
func TestVerdictLines(t *testing.T) {
	rounds.Unraced(t)
	b := newBench(t, string(twins.Trace(false)))
	path := filepath.Join(t.TempDir(), "b.json")
	if err := os.WriteFile(path, twins.Trace(true), 0o644); err != nil {
		t.Fatal(err)
	}
	b.OpenBeside(path)
	b.settled()
	lines := 0
	for w := 500; w < 1100; w += 6 {
		b.size = image.Pt(w, 800)
		b.frame()
		top := b.Versus.Bounds.Tabs.Max.Y
		for _, m := range regexp.MustCompile(`<text x="14(?:\.0*)?" y="([0-9.]+)" font-size="13"[^>]*>([^<]+)<`).FindAllStringSubmatch(b.shapes(), -1) {
			if y, _ := strconv.ParseFloat(m[1], 64); int(y) > top {
				lines++
				if strings.ContainsAny(m[2][:1], ",.;:)%") {
					t.Errorf("%d pixels wide, a line begins with %q", w, m[2])
				}
			}
		}
	}
	if lines < 150 {
		t.Errorf("only %d lines were found", lines)
	}
}

// TestVerdictInPlace checks that a comparison of parts shows its verdict, and that the
// verdict goes away with it.
func TestVerdictInPlace(t *testing.T) {
	rounds.Unraced(t)
	b := newBench(t, twoProcesses)
	p := b.Pane
	p.Scope = p.Scope.On([]int{1})
	b.settled()
	lower := p.Bounds.Lower
	p.CompareTracks([]int{2})
	b.settled()
	// serve takes 90 µs in A and 40 µs in B.
	if text := p.Verdict(); !strings.HasPrefix(text, "serve −50.00 µs (100 % of the change). Total time −55.6 % (A 90.00 µs, B 40.00 µs).") {
		t.Errorf("two threads are said to differ so: %q", text)
	}
	p.EndScopeComparison()
	b.settled()
	if p.Verdict() != "" || p.Bounds.Lower != lower {
		t.Errorf("afterwards there is %q, and what is below lies at %v, not %v", p.Verdict(), p.Bounds.Lower, lower)
	}
}

// TestVerdictOfCallsLeadsToItsNumbers compares two sets of calls. The verdict's mean
// times on and off CPU are links that compare by that metric; the totals in the details
// must differ by the number in the link.
func TestVerdictOfCallsLeadsToItsNumbers(t *testing.T) {
	rounds.Unraced(t)
	var events []string
	for i := range 40 {
		took := 100 + i%7
		if i%5 == 0 {
			took = 900 + i
		}
		events = append(events, fmt.Sprintf(`{"ph":"X","pid":1,"tid":7,"ts":%d,"dur":%d,"tdur":%d,"name":"task"},{"ph":"X","pid":1,"tid":7,"ts":%d,"dur":%d,"tdur":%d,"name":"load"}`,
			i*2000, took, took/3, i*2000+5, took/2, took/9))
	}
	b := newBench(t, "["+strings.Join(events, ",")+"]")
	p := b.Pane
	p.CompareWithRest("task[500us..]")
	b.settled()
	b.settled()
	seen := map[verdict.To]bool{}
	for i := range p.ScopeComparison.Verdict.Links {
		p.Metric = 0
		b.settled()
		links := slices.DeleteFunc(p.ScopeComparison.Verdict.Parts(), func(p verdict.Part) bool { return p.To == verdict.Nowhere })
		part, box := links[i], p.ScopeComparison.Verdict.Links[i]
		b.click(f32.Pt(float32(box.Min.X+3), float32(box.Min.Y+10)), 0, pointer.ButtonPrimary)
		b.settled()
		name, ok := map[verdict.To]string{verdict.CPU: "cpu", verdict.Waiting: "waiting"}[part.To]
		if seen[part.To] = true; !ok {
			continue
		}
		a := p.ScopeComparison.Answer()
		m := a.Compared.Metric
		if m.Common.Name != name || p.Rec.Events[0].Metrics[p.Metric].Name != name || a.Normalize != compare.Calls {
			t.Fatalf("%q leads to %s, %s", part.Text, m.Common.Name, a.Normalize)
		}
		if want := "+" + units.Value(m.Readable(a.B.Total-a.A.Total)); part.Text != want {
			t.Errorf("%q leads to %q", part.Text, want)
		}
		// The details show the values per call, and the sums.
		shown := map[string]string{}
		for _, d := range p.ScopeComparison.Details.Rows() {
			shown[d.Key] = d.Value
		}
		for key, v := range map[string]int64{"A per call": a.A.Total, "B per call": a.B.Total, "A in total": a.A.RawTotal, "B in total": a.B.RawTotal} {
			if shown[key] != units.Full(m.Readable(v)) {
				t.Errorf("beside it %q is %q, want %q", key, shown[key], units.Full(m.Readable(v)))
			}
		}
	}
	if !seen[verdict.CPU] || !seen[verdict.Waiting] || !seen[verdict.Function] || !seen[verdict.Totals] {
		t.Errorf("%q leads only to %v", p.Verdict(), seen)
	}
}

// TestAddressOfSets checks that two sets of calls are compared per call by default,
// without a key in the address, and by sums if the address says so.
func TestAddressOfSets(t *testing.T) {
	b := newBench(t, someTrace)
	p := b.Pane
	p.CompareWithRest("read[60us..]")
	b.settled()
	st := b.Address()
	if n := p.ScopeComparison.Options.Normalize; n != compare.Calls || strings.Contains(st.String(), "normalize") {
		t.Fatalf("normalised by %s it is %s", n, st)
	}
	text := st.String()
	for _, c := range []struct {
		address string
		want    compare.Normalize
	}{{text, compare.Calls}, {text + "&normalize=raw", compare.Raw}} {
		v, err := view.Parse(c.address)
		if err != nil {
			t.Fatal(err)
		}
		b.Visit(v)
		b.settled()
		b.settled()
		if b.Pane.ScopeComparison == nil || b.Pane.ScopeComparison.Options.Normalize != c.want {
			t.Errorf("%s is normalised by %+v, want %s", c.address, b.Pane.ScopeComparison, c.want)
		}
		again, err := view.Parse(b.Address().String())
		if err != nil || !reflect.DeepEqual(again.Comparison, v.Comparison) || !reflect.DeepEqual(again.Sides, v.Sides) {
			t.Errorf("%s comes back as %s, %v", c.address, b.Address(), err)
		}
	}
}

// TestCommandOfSets copies a comparison of two sets of calls as a command and checks that
// it prints the window's verdict.
func TestCommandOfSets(t *testing.T) {
	rounds.Unraced(t)
	b := newBench(t, someTrace)
	p := b.Pane
	p.CompareWithRest("read[60us..]")
	b.settled()
	p.Tab = comparison.Table
	b.settled()
	line, rest := b.AsCommand()
	want := "ashlar diff " + p.Rec.Source.Path + " --calls '!read[60us..]' --calls-b 'read[60us..]'"
	if line != want || rest != "" {
		t.Errorf("it is\n%s (but %s), want\n%s", line, rest, want)
	}
	p.ScopeComparison.Options.Normalize = compare.Raw
	b.settled()
	if line, _ := b.AsCommand(); line != strings.Replace(want, " --calls ", " --normalize raw --calls ", 1) && line != want+" --normalize raw" {
		t.Errorf("of sums it is %s", line)
	}
	var out, errs strings.Builder
	if code := command.Main([]string{"diff", p.Rec.Source.Path, "--calls", "!read[60us..]", "--calls-b", "read[60us..]"}, strings.NewReader(""), &out, &errs, command.Runner{}); code != command.Done {
		t.Errorf("it ends with %d: %s", code, errs.String())
	}
	p.ScopeComparison.Options.Normalize = compare.Calls
	b.settled()
	b.settled()
	if said, _, _ := strings.Cut(out.String(), "\n"); said != p.Verdict() {
		t.Errorf("the command says\n%s\nthe window\n%s", said, p.Verdict())
	}
}
