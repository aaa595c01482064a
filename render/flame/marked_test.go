package flame

import (
	"slices"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/render/golden"
	"ashlar/render/raster"
	"ashlar/render/theme"
)

// TestMarkedBars checks that highlighting a function in a finished flamegraph gives the
// same pixels as drawing it with the highlight.
func TestMarkedBars(t *testing.T) {
	rec, tr := tree(t, 12, 0)
	for _, th := range theme.All {
		for _, zoom := range []int{0, 1} {
			p := Picture{Rec: rec, Tree: tr, Bars: Layout(tr, zoom, 1000), Zoom: zoom, Scale: 1, Up: zoom == 1, Base: zoom * 180,
				Palette: &theme.Palette{Theme: th, Mode: theme.ByFunction}, Font: raster.Regular(12)}
			plain := golden.Draw(1000, 200, th, p.Paint)
			for f := range recording.FuncID(rec.Functions.Len()) {
				q := p
				q.Mark = func(g recording.FuncID) bool { return g == f }
				want, got := golden.Draw(1000, 200, th, q.Paint), golden.Draw(1000, 200, th, func(on raster.Surface) {
					p.Paint(on)
					p.PaintMarked(on, f)
				})
				name := rec.Functions.At(int(f)).Name
				if !slices.Equal(want.Pix, got.Pix) {
					t.Errorf("%s, zoom %d: %s marked looks different", th.Name, zoom, name)
				}
				if slices.Equal(plain.Pix, got.Pix) && slices.ContainsFunc(p.Bars, func(b Bar) bool { return b.Node > 0 && tr.Nodes[b.Node].Func == f }) {
					t.Errorf("%s, zoom %d: %s marked does not show", th.Name, zoom, name)
				}
			}
		}
	}
}
