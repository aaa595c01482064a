package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"gioui.org/f32"
	"gioui.org/io/pointer"

	"ashlar/app/core/view"
	"ashlar/app/window/comparison"
	"ashlar/ingest/query/compare"
)

// newPairBench compares two traces with one call of one function, 6740 µs in A and 2490
// µs in B.
func newPairBench(t *testing.T) *bench {
	b := newBench(t, `[{"ph":"X","pid":1,"tid":7,"ts":0,"dur":6740,"name":"work"}]`)
	path := filepath.Join(t.TempDir(), "short.json")
	if err := os.WriteFile(path, []byte(`[{"ph":"X","pid":1,"tid":7,"ts":0,"dur":2490,"name":"work"}]`), 0o644); err != nil {
		t.Fatal(err)
	}
	b.OpenBeside(path)
	b.settled()
	return b
}

// TestOverviewsHaveOneScale clicks at three quarters of B's overview: the overview shows
// A's length, so that is past the end of B.
func TestOverviewsHaveOneScale(t *testing.T) {
	b := newPairBench(t)
	p := b.Versus.Panes[1]
	p.Fit(p.Rec.Start, p.Rec.Start+500e6)
	b.frame()
	in := p.Bounds.Overview
	x := in.Min.X + p.Bounds.Gutter
	at := f32.Pt(float32(x)+.75*float32(in.Max.X-x), float32(in.Min.Y+5))
	b.pointer(pointer.Move, at, 0)
	b.pointer(pointer.Press, at, 0)
	b.pointer(pointer.Release, at, 0)
	b.frame()
	got, want := (p.View.From+p.View.To)/2-p.Rec.Start, int64(.75*6740e6)
	if d := got - want; d < -50e6 || d > 50e6 {
		t.Errorf("a click at three quarters shows %d µs, want %d", got/1e6, want/1e6)
	}
}

// TestTwoFlamegraphsHaveOneScale points at two thirds of B's flamegraph. Without
// normalisation, B is about a third as wide as A and has no bar there; normalised by total,
// it has one.
func TestTwoFlamegraphsHaveOneScale(t *testing.T) {
	b := newPairBench(t)
	c := b.Versus
	c.Tab = comparison.Two
	for _, n := range []compare.Normalize{compare.Raw, compare.Total} {
		c.Options.Normalize = n
		b.settled()
		for side, bar := range []bool{true, n == compare.Total} {
			in := c.Panes[side].Bounds.Lower
			b.pointer(pointer.Move, f32.Pt(float32(in.Min.X)+.67*float32(in.Dx()), float32(in.Min.Y+40)), 0)
			where := fmt.Sprintf("%s: at two thirds of %s", n, comparison.SideName(side))
			if bar {
				b.until(where+" a bar", func() bool { return c.Hover >= 0 })
			} else if b.frame(); c.Hover >= 0 {
				t.Errorf("%s is a bar", where)
			}
		}
	}
}

// TestUndoKeepsTheMarksOfEachSide checks that marks stay on their side of a comparison
// when an undo restores an earlier view.
func TestUndoKeepsTheMarksOfEachSide(t *testing.T) {
	b := newPairBench(t)
	for i, text := range []string{"of A", "of B"} {
		b.Versus.Panes[i].MarkList.Add(view.NewMark(view.Place{From: 1e9, To: 1e9}, text))
	}
	v := b.Versus
	push := func() { v.History.Push(v.Spot(&b.Workspace), b.ViewState()) }
	push()
	v.Panes[0].Fit(v.Panes[0].Rec.Start, v.Panes[0].Rec.Start+1e9)
	push()
	b.Step(-1)
	for i, want := range []string{"of A", "of B"} {
		if got := texts(b.Versus.Panes[i].Marks); !slices.Equal(got, []string{want}) {
			t.Errorf("side %d has the marks %q, want %q", i, got, want)
		}
	}
	if got := texts(b.ViewState().Marks); !slices.Equal(got, []string{"of A"}) {
		t.Errorf("the address has the marks %q", got)
	}
}
