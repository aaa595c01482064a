package shell

import (
	"fmt"
	"image"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gioui.org/f32"
	"gioui.org/io/pointer"

	"ashlar/app/core/view"
	"ashlar/app/desktop/drop"
	"ashlar/ingest/query/compare"
	"ashlar/render/theme"
)

// runFiles writes n runs of a side. The function hash takes cost samples on average, ±10
// %.
func runFiles(t *testing.T, name string, n, cost int) (files []string) {
	t.Helper()
	dir := filepath.Join(t.TempDir(), name)
	if err := os.MkdirAll(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	for i := range n {
		v := cost + cost*((i*7)%5-2)/20
		f := filepath.Join(dir, fmt.Sprintf("run-%d.folded", i+1))
		if err := os.WriteFile(f, fmt.Appendf(nil, "main;hash %d\nmain;draw %d\n", v, 500+i), 0o644); err != nil {
			t.Fatal(err)
		}
		files = append(files, f)
	}
	return files
}

func (b *bench) runsCounted() (n [2]int) {
	if c := b.Versus; c != nil && c.Answer() != nil {
		for i := range n {
			n[i] = 1 + len(c.Answer().More[i])
		}
	}
	return n
}

// TestTenRunsASide drops ten runs on each side: the comparison must use all of them and
// give the numbers of a direct comparison. Then it takes off a run with a click, undoes
// that, and opens the address.
func TestTenRunsASide(t *testing.T) {
	a, b := runFiles(t, "old", 10, 1000), runFiles(t, "new", 10, 1300)
	s := &bench{t: t, Shell: New(theme.Dark), now: time.Unix(1e9, 0)}
	defer s.Close()
	s.Open(a[0])
	s.until("the first run", func() bool { return s.Pane.Rec.Done })
	s.frame()
	w := s.window()
	s.Dropped(drop.Drop{Files: drop.Files{Paths: a[1:]}, At: image.Pt(100, w.Y-20)})
	s.until("nine more runs of A", func() bool { return len(s.Pane.Runs) == 9 })
	s.Dropped(drop.Drop{Files: drop.Files{Paths: b}, At: image.Pt(w.X-100, 100)})
	s.until("ten runs a side", func() bool { return s.runsCounted() == [2]int{10, 10} && s.Versus.Answer().ConfidencesDone })

	got := s.Versus.Answer()
	var inputs [2][]compare.Input
	for i := range inputs {
		inputs[i] = append([]compare.Input{{Rec: got.Recs[i]}}, got.More[i]...)
	}
	c, err := compare.Compare(t.Context(), inputs[0], inputs[1], compare.Options{Normalize: compare.Auto})
	if err != nil {
		t.Fatal(err)
	}
	want, err := c.Table(t.Context(), compare.ByFunction, true)
	if err != nil {
		t.Fatal(err)
	}
	if got.Method != compare.FromRuns || got.A.Total != c.A().Total || got.B.Total != c.B().Total || got.Functions.Whole.P != want.Whole.P {
		t.Errorf("the window has %d and %d by %s, p %v; a command %d and %d, p %v", got.A.Total, got.B.Total, got.Method, got.Functions.Whole.P, c.A().Total, c.B().Total, want.Whole.P)
	}
	// The means of ten runs: the deviations of hash cancel out, and draw is 500 to 509.
	for i, want := range []float64{1504.5, 1804.5} {
		raw := []int64{got.A.RawTotal, got.B.RawTotal}[i]
		if v := float64(raw) / math.Pow10(got.Compared.Metric.Common.Decimals); v != want {
			t.Errorf("the mean of side %d is %v, want %v", i, v, want)
		}
	}
	s.frame()
	if n := len(s.Versus.Strips[1].Dots); n != 10 {
		t.Fatalf("B has %d dots", n)
	}
	if shapes := s.shapes(); !strings.Contains(shapes, "±") || !strings.Contains(shapes, "10 runs") {
		t.Error("no spread or number of runs is shown")
	}
	s.frame()

	for range 30 { // 600 ms without a change, so that the view becomes a step of history
		s.frame()
	}
	dot := s.Versus.Strips[1].Dots[3]
	s.click(f32.Pt(float32(dot.Min.X+dot.Max.X)/2, float32(dot.Min.Y+dot.Max.Y)/2), 0, pointer.ButtonPrimary)
	s.until("one run less", func() bool { return s.runsCounted() == [2]int{10, 9} })
	for range 30 {
		s.frame()
	}
	address := s.Address().String()
	st, err := view.Parse(address)
	if err != nil || len(st.Sides[1].Runs) != 9 || !slices.ContainsFunc(st.Sides[1].Runs, func(r view.Run) bool { return r.Off }) {
		t.Errorf("the address is %s: %v", address, err)
	}
	s.Undo()
	s.until("the run again", func() bool { return s.runsCounted() == [2]int{10, 10} })
	s.Redo()
	s.until("off again", func() bool { return s.runsCounted() == [2]int{10, 9} })

	o := &bench{t: t, Shell: New(theme.Dark), now: s.now}
	defer o.Close()
	o.Open(address)
	o.until("the view of the address", func() bool { return o.runsCounted() == [2]int{10, 9} })
	if x, y := o.Versus.Answer().B.RawTotal, s.Versus.Answer().B.RawTotal; x != y {
		t.Errorf("the address shows %d, not %d", x, y)
	}

	// Taking off the shown run shows another one.
	s.ToggleRun(0, 0)
	s.until("another run of A", func() bool { return s.runsCounted() == [2]int{9, 9} })
	if name := s.Versus.Panes[0].Doc.Name; name != "run-2.folded" {
		t.Errorf("%s is shown", name)
	}
	s.Swap()
	s.until("swapped", func() bool {
		return s.runsCounted() == [2]int{9, 9} && s.Versus.Answer().A.RawTotal > s.Versus.Answer().B.RawTotal
	})
	s.EndComparison()
	s.until("one recording", func() bool { return s.Versus == nil && s.Pane != nil })
}

// TestOutlierOfRuns checks that a run far from the others is marked and that a file that
// is not a recording shows its error and does not count.
func TestOutlierOfRuns(t *testing.T) {
	a, b := runFiles(t, "old", 6, 1000), runFiles(t, "new", 2, 1000)
	if err := os.WriteFile(a[4], []byte("main;hash 9000\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	bad := filepath.Join(t.TempDir(), "notes.txt")
	if err := os.WriteFile(bad, []byte("not a recording\n\n\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	s := &bench{t: t, Shell: New(theme.Dark), now: time.Unix(1e9, 0)}
	defer s.Close()
	s.compareRuns(a, append(b, bad))
	s.until("all runs", func() bool { return s.runsCounted() == [2]int{6, 2} && s.Versus.RunsOf(1)[2].Err != nil })
	var out []int
	for i, r := range s.Versus.RunsOf(0) {
		if r.Outlier {
			out = append(out, i)
		}
	}
	if !slices.Equal(out, []int{4}) {
		t.Errorf("outliers are %v", out)
	}
	s.ChooseRuns(0)
	s.frame()
	if n := len(s.Chooser.Lines); n != 6 || !strings.Contains(s.Chooser.Lines[4].Detail, "outlier") {
		t.Errorf("%d runs are listed: %+v", n, s.Chooser.Lines)
	}
	s.Chooser.Take(4)
	s.Chooser = nil
	s.until("the outlier off", func() bool { return s.runsCounted() == [2]int{5, 2} })
}

// TestDropZones checks that the effect of a drop depends on its place and on what is
// open.
func TestDropZones(t *testing.T) {
	a := runFiles(t, "old", 2, 1000)
	s := &bench{t: t, Shell: New(theme.Dark), now: time.Unix(1e9, 0)}
	defer s.Close()
	s.frame()
	does := func(n int) (all []effect) {
		o := drop.Over{Held: true, Files: &drop.Files{Paths: make([]string, n)}}
		full := image.Rectangle{Max: s.Size}
		area := 0
		for _, z := range s.dropZones(full, &o) {
			all = append(all, z.effect)
			area += z.place.Dx() * z.place.Dy()
		}
		if area != full.Dx()*full.Dy() {
			t.Errorf("the zones of %d files cover %d of %d pixels", n, area, full.Dx()*full.Dy())
		}
		return all
	}
	check := func(what string, one, several []effect) {
		t.Helper()
		if x, y := does(1), does(5); !slices.Equal(x, one) || !slices.Equal(y, several) {
			t.Errorf("%s: one file does %v, several %v", what, x, y)
		}
	}
	check("nothing open", []effect{opens}, []effect{opens})
	s.Open(a[0])
	s.until("a recording", func() bool { return s.Pane.Rec.Done })
	check("one recording", []effect{opens, addsToA, compares}, []effect{opens, addsToA, addsToB})
	s.OpenBeside(a[1])
	s.until("two recordings", func() bool { return s.runsCounted() == [2]int{1, 1} })
	check("a comparison", []effect{replaceA, addsToA, compares, addsToB}, []effect{addsToA, addsToB})
	s.Versus.Above = true
	s.frame()
	check("A above B", []effect{replaceA, addsToA, compares, addsToB}, []effect{addsToA, addsToB})
}
