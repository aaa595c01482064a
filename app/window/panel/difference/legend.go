package difference

import (
	"image"

	"ashlar/app/core/session"
	"ashlar/app/window/comparison"
	"ashlar/app/window/panel"
	"ashlar/ingest/query/compare"
	"ashlar/render/flame"
	"ashlar/render/raster"
	"ashlar/render/theme"
	"ashlar/render/ui"
)

type legendKey struct {
	theme *theme.Theme
	scale float32
	w, h  int
}

// drawLegend explains the colours.
func (f *Panel) drawLegend(s *panel.Host, c *comparison.Comparison, u *ui.UI, r image.Rectangle) {
	th := u.Theme
	u.Fill(r, th.Background)
	x := r.Min.X + u.Px(panel.FlamePad)
	y := r.Min.Y + u.Px(4)
	st := ui.Style{Size: 11, Color: th.Dim}
	say := func(text string) {
		w := u.Measure(text, st).X
		u.Text(image.Rect(x, r.Min.Y, x+w+u.Px(4), r.Max.Y), text, st)
		x += w + u.Px(8)
	}
	less, more := "×0.5", "×2"
	if a := c.Answer(); a != nil && wholeOf(a) != 0 {
		less, more = "−100 % of the change", "+100 %"
	}
	say(less)
	w, h := u.Px(150), u.Px(14)
	if k := (legendKey{th, u.Metric.PxPerDp, w, h}); !f.legend.Serves(u) || f.legendOf != k {
		f.legend, f.legendOf = u.Paint(nil, image.Pt(w, h), func(on raster.Surface) { ramp(on, th) }), k
	}
	u.Draw(f.legend, image.Pt(x, y))
	x += w + u.Px(8)
	say(more)
	x += u.Px(12)
	box := func(change float64, gone bool, text string) {
		b := ui.Rect(x, y, u.Px(18), h)
		col, ink := th.Difference(change)
		u.Fill(b, col)
		switch {
		case gone:
			for k := b.Min.X; k < b.Max.X; k += u.Px(6) {
				u.Fill(image.Rect(k, b.Max.Y-u.Px(3), k+u.Px(3), b.Max.Y-u.Px(1)), ink)
			}
		case change > 0:
			u.Fill(image.Rect(b.Min.X, b.Min.Y, b.Min.X+u.Px(3), b.Max.Y), ink)
		}
		x += u.Px(24)
		say(text)
		x += u.Px(8)
	}
	box(1, false, "new")
	box(-1, true, "gone")
	box(0, false, noiseWords(c.Answer()))
}

// ramp draws the scale of colours, from half the cost to twice the cost.
func ramp(c raster.Surface, th *theme.Theme) {
	w, h := c.Size()
	for x := range w {
		col, _ := th.Difference(flame.Shade(2*(float64(x)+.5)/float64(w) - 1))
		c.Rect(x, 0, x+1, h, raster.Pack(col))
	}
}

// noiseWords returns the legend's text for grey.
func noiseWords(a *session.CompareAnswer) string {
	switch {
	case a == nil:
		return ""
	case a.Method == compare.NoMethod:
		return "unchanged (noise unknown: no sample counts)"
	case !a.ConfidencesDone:
		return "unchanged (computing noise…)"
	}
	return "unchanged or noise (< 95 % sure)"
}
