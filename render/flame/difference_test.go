package flame

import (
	"fmt"
	"slices"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare"
	"ashlar/render/golden"
	"ashlar/render/raster"
	"ashlar/render/theme"
)

// profile returns a recording of stacks, given the number of samples of each leaf
// function.
func profile(stacks map[string]int64) *recording.Recording {
	b := recording.NewBuilder()
	b.AddEvent(recording.Event{Name: "cpu", Metrics: []recording.Metric{{Name: "samples", Unit: "count", PerSample: recording.SampleOne}}})
	for _, names := range [][]string{{"main"}, {"main", "same"}, {"main", "more"}, {"main", "gone"}, {"main", "new"}} {
		if n := stacks[names[len(names)-1]]; n > 0 {
			var frames []recording.FrameID
			for _, name := range names {
				frames = append(frames, b.FunctionFrame(b.Function(recording.Function{Name: name})))
			}
			b.AddStack(0, b.Stack(frames), recording.NoTrack, 0, []int64{n})
		}
	}
	return b.Finish()
}

func differences(t *testing.T) *compare.Comparison {
	t.Helper()
	a := profile(map[string]int64{"same": 1000, "more": 500, "gone": 300})
	b := profile(map[string]int64{"same": 1000, "more": 1000, "new": 200})
	c, err := compare.Compare(t.Context(), []compare.Input{{Rec: a}}, []compare.Input{{Rec: b}}, compare.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// TestDifferenceHidesNothing lays out a comparison with the widths of each side: every
// function has a bar, or a mark if it has no width.
func TestDifferenceHidesNothing(t *testing.T) {
	c := differences(t)
	for _, x := range []struct {
		width  compare.Width
		bars   map[string]float64 // widths in a picture of 1000 pixels
		absent string
	}{
		{compare.WidthA, map[string]float64{"main": 1000, "same": 1000. * 10 / 18, "more": 1000. * 5 / 18, "gone": 1000. * 3 / 18}, "new"},
		{compare.WidthB, map[string]float64{"main": 1000, "same": 1000. * 10 / 22, "more": 1000. * 10 / 22, "new": 1000. * 2 / 22}, "gone"},
		{compare.WidthLarger, map[string]float64{"main": 1000, "same": 400, "more": 400, "gone": 120, "new": 80}, ""},
	} {
		s := c.Tree.Shape(x.width)
		p := Difference{Shape: s, Bars: LayoutShape(s, 0, 1000), Theme: theme.Dark, Font: raster.Regular(12), Bold: raster.Medium(12), Scale: 1}
		golden.Draw(1000, 200, theme.Dark, p.Paint)
		seen := map[string]float64{}
		for _, b := range p.Bars[1:] {
			seen[s.Name(int(b.Node))] = b.X1 - b.X0
			// The pointer finds the bar where it is drawn.
			if at := p.At(int((b.X0+b.X1)/2), p.RowTop(b.Row)+5); at < 0 || p.Bars[at].Node != b.Node {
				t.Errorf("%s: the bar of %s is not found where it is", x.width, s.Name(int(b.Node)))
			}
		}
		if len(seen) != len(x.bars) {
			t.Errorf("%s: the bars are %v", x.width, seen)
		}
		for name, want := range x.bars {
			if got := seen[name]; got < want-.01 || got > want+.01 {
				t.Errorf("%s: %s is %.2f wide, want %.2f", x.width, name, got, want)
			}
		}
		var marked []string
		for y := range 100 {
			if i, nodes := p.Absentees(998, y); i >= 0 {
				marked = marked[:0]
				for _, n := range nodes {
					marked = append(marked, s.Name(int(n)))
				}
			}
		}
		if want := fmt.Sprint([]string{x.absent}); x.absent != "" && fmt.Sprint(marked) != want || x.absent == "" && marked != nil {
			t.Errorf("%s: marked are %v, want %q", x.width, marked, x.absent)
		}
	}
}

// TestDifferenceColours checks the colours of bars: orange for more, blue for gone, grey
// for equal or within noise.
func TestDifferenceColours(t *testing.T) {
	c := differences(t)
	s := c.Tree.Shape(compare.WidthLarger)
	pixel := func(p *Difference, name string) raster.Color {
		img := golden.Draw(1000, 200, theme.Dark, p.Paint)
		for _, b := range p.Bars {
			if b.Node > 0 && s.Name(int(b.Node)) == name {
				at := img.RGBAAt(int(b.X0)+40, p.RowTop(b.Row)+3)
				return raster.Color(uint32(at.R) | uint32(at.G)<<8 | uint32(at.B)<<16 | 0xff000000)
			}
		}
		t.Fatalf("there is no bar of %s", name)
		return 0
	}
	shade := func(d float64) raster.Color {
		col, _ := theme.Dark.Difference(d)
		return raster.Pack(col)
	}
	p := Difference{Shape: s, Bars: LayoutShape(s, 0, 1000), Theme: theme.Dark, Font: raster.Regular(12), Bold: raster.Medium(12), Scale: 1}
	for name, want := range map[string]float64{"same": 0, "more": 1, "gone": -1, "new": 1} {
		if got := pixel(&p, name); got != shade(want) {
			t.Errorf("%s is coloured %x, want %x", name, got, shade(want))
		}
	}
	p.Noise = func(n int) bool { return true }
	for _, name := range []string{"same", "more", "gone", "new"} {
		if got := pixel(&p, name); got != shade(0) {
			t.Errorf("%s within noise is coloured %x, want grey", name, got)
		}
	}
}

// TestMarked checks that highlighting a function in a finished picture gives the same
// pixels as drawing the picture with the highlight.
func TestMarked(t *testing.T) {
	c := differences(t)
	for _, width := range []compare.Width{compare.WidthA, compare.WidthB, compare.WidthLarger} {
		for _, th := range theme.All {
			s := c.Tree.Shape(width)
			p := Difference{Shape: s, Bars: LayoutShape(s, 0, 1000), Theme: th, Font: raster.Regular(12), Bold: raster.Medium(12), Scale: 1,
				Noise: func(node int) bool { return s.Name(node) == "same" }}
			plain := golden.Draw(1000, 100, th, p.Paint)
			for f := range int32(len(s.Funcs)) {
				q := p
				q.Mark = func(g int32) bool { return g == f }
				want, got := golden.Draw(1000, 100, th, q.Paint), golden.Draw(1000, 100, th, func(on raster.Surface) {
					p.Paint(on)
					p.PaintMarked(on, f)
				})
				if !slices.Equal(want.Pix, got.Pix) {
					t.Errorf("%s's widths, %s: %s marked looks different", width, th.Name, s.Funcs[f].Name)
				}
				if slices.Equal(plain.Pix, got.Pix) && len(p.barsOf(f)) > 0 {
					t.Errorf("%s's widths, %s: %s marked does not show", width, th.Name, s.Funcs[f].Name)
				}
			}
		}
	}
}
