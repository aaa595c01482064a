package timeline

import (
	"math"

	"ashlar/ingest/recording"
	"ashlar/render/raster"
	"ashlar/render/theme"
)

// Density is how busy each of n equal parts of a recording is, 0 to 1: the
// share of tracks whose outermost lane is covered, or the number of samples,
// or the weight of windows, relative to the busiest part.
func Density(rec *recording.Recording, event, metric, n int) []float64 {
	d := make([]float64, max(1, n))
	span := float64(rec.Duration())
	if !rec.HasTime || span <= 0 {
		return d
	}
	at := func(t int64) float64 { return float64(t-rec.Start) / span * float64(n) }
	spread := func(start, end int64, weight float64) {
		x0, x1 := at(start), at(end)
		if x1 <= x0 {
			x1 = x0 + 1e-9
		}
		for i := max(0, int(x0)); i < n && float64(i) < x1; i++ {
			part := min(x1, float64(i+1)) - max(x0, float64(i))
			d[i] += weight * part / (x1 - x0)
		}
	}
	spans := false
	res := max(1, rec.Duration()/int64(n))
	for _, t := range rec.Tracks {
		if len(t.Lanes) > 0 {
			spans = true
			t.Lanes[0].Walk(rec.Start, rec.End+1, res, func(b *recording.Bar) bool {
				spread(b.Start, b.End, float64(b.Busy))
				return true
			})
		}
		if len(t.Open) > 0 {
			spread(t.Open[0].Start, rec.End, float64(rec.End-t.Open[0].Start))
		}
	}
	if !spans {
		for _, t := range rec.Tracks {
			if s := t.SamplesOf(event); s != nil {
				s.Walk(rec.Start, rec.End+1, res, func(b *recording.Bar) bool {
					if i := int(at(b.Start)); i >= 0 {
						d[min(i, n-1)] += float64(b.N)
					}
					return true
				})
			}
		}
		smooth(d, rec, event)
	}
	if total(d) == 0 {
		for _, ws := range rec.Windows {
			if ws.Event != event {
				continue
			}
			for i := range ws.Windows {
				spread(ws.Windows[i].Start, ws.Windows[i].End, float64(WindowWeight(ws, i, metric)))
			}
		}
	}
	most := 0.0
	for _, v := range d {
		most = max(most, v)
	}
	if most > 0 {
		for i := range d {
			d[i] /= most
		}
	}
	return d
}

func total(d []float64) float64 {
	var sum float64
	for _, v := range d {
		sum += v
	}
	return sum
}

// smooth spreads sparse samples over their neighbours: with fewer samples than
// some parts, single pixels say nothing.
func smooth(d []float64, rec *recording.Recording, event int) {
	var n int
	for _, t := range rec.Tracks {
		if s := t.SamplesOf(event); s != nil {
			n += s.Len()
		}
	}
	r := 0
	if n > 0 {
		r = min(len(d)/40, 20*len(d)/n)
	}
	if r == 0 {
		return
	}
	src := append([]float64(nil), d...)
	for i := range d {
		var sum float64
		for k := max(0, i-r); k <= min(len(d)-1, i+r); k++ {
			sum += src[k]
		}
		d[i] = sum / float64(2*r+1)
	}
}

// PaintOverview draws a density as bars on a surface that has the background's
// colour, the part before gutter left empty. read is how much of the file has
// been read, 0 to 1: a thin line at the bottom shows it until it is all.
func PaintOverview(c raster.Surface, d []float64, th *theme.Theme, scale float32, gutter int, read float64) {
	w, h := c.Size()
	px := func(dp float32) int { return int(math.Round(float64(dp * scale))) }
	c.Rect(gutter, 0, w, h, raster.Pack(th.Surface))
	l := .72
	if th.Dark {
		l = .56
	}
	col := raster.Pack(theme.OKLCH(l, .07, 250))
	lanes := w - gutter
	for x := 0; x < lanes && len(d) > 0; x++ {
		v := d[min(len(d)-1, x*len(d)/lanes)]
		if v <= 0 {
			continue
		}
		top := h - px(2) - int(math.Round(v*float64(h-px(6))))
		c.Rect(gutter+x, min(top, h-px(3)), gutter+x+1, h-px(1), col)
	}
	if read < 1 {
		c.Rect(gutter, h-px(2), gutter+int(read*float64(lanes)), h, raster.Pack(th.Accent))
	}
}
