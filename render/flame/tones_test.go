package flame

import (
	"image/color"
	"math/rand/v2"
	"testing"

	"ashlar/render/golden"
	"ashlar/render/raster"
	"ashlar/render/theme"
)

// TestBarsHaveTwoTones draws a tree with random off-CPU times and compares the number of
// pixels of each tone in a bar with the bar's off-CPU share.
func TestBarsHaveTwoTones(t *testing.T) {
	rec, tr := tree(t, 300, 0)
	r := rand.New(rand.NewPCG(9, 16))
	waiting := make([]int64, len(tr.Nodes))
	for i := range waiting {
		waiting[i] = tr.Nodes[i].Total * r.Int64N(11) / 10
	}
	const w, h = 3000, 14 * BarHeight
	th := theme.Dark
	palette := &theme.Palette{Theme: th, Mode: theme.ByFunction}
	pic := Picture{Rec: rec, Tree: tr, Bars: Layout(tr, 0, w), Palette: palette, Font: raster.Regular(12), Scale: 1, Waiting: waiting}
	img := golden.Draw(w, h, th, pic.Paint)
	tones := 0
	for i := range pic.Bars {
		b := &pic.Bars[i]
		x0, x1 := b.pixels()
		if b.Node == 0 || x1-x0 < 10 {
			continue
		}
		runs := palette.Func(rec, tr.Nodes[b.Node].Func)
		count := func(c color.NRGBA) (n int) {
			for x := x0; x < x1; x++ {
				if img.RGBAAt(x, pic.RowTop(b.Row)+3) == (color.RGBA{c.R, c.G, c.B, 0xff}) {
					n++
				}
			}
			return n
		}
		want := int(float64(x1-x0) * float64(waiting[b.Node]) / float64(tr.Nodes[b.Node].Total))
		if got := count(th.Waiting(runs)); got < want-2 || got > want+1 {
			t.Errorf("bar %d of %d pixels has %d that wait, want %d", i, x1-x0, got, want)
		}
		if got := count(runs); got < x1-x0-want-2 || got > x1-x0-want+1 {
			t.Errorf("bar %d of %d pixels has %d that run, want %d", i, x1-x0, got, x1-x0-want)
		}
		tones++
	}
	if tones < 20 {
		t.Errorf("only %d bars are wide enough", tones)
	}
}
