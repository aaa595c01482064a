package shell

import (
	"os"
	"path/filepath"
	"testing"

	"gioui.org/f32"
	"gioui.org/io/pointer"

	"ashlar/app/window/comparison"
	"ashlar/ingest/query/compare"
)

// newPairBench compares traces of 6740 and 2490 µs of one function.
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

// TestOverviewsHaveOneScale clicks at three quarters of B's overview, which are
// three quarters of what both show and nothing of B itself.
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

// TestTwoFlamegraphsHaveOneScale points at two thirds of B's flamegraph: nothing
// is there while it costs a third of A, and its bar where both are made equal.
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
			b.frame()
			if got := c.Hover >= 0; got != bar {
				t.Errorf("%s: at two thirds of %s a bar: %v, want %v", n, comparison.SideName(side), got, bar)
			}
		}
	}
}
