package timeline

import (
	"math"
	"slices"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
	"ashlar/render/raster"
	"ashlar/render/theme"
)

// Density returns how busy each of n equal parts of a recording is, 0 to 1, relative to
// the busiest part. The measure is the number of samples if the event has any, else the
// share of tracks whose outermost lane is covered, else the weight of windows.
func Density(rec *recording.Recording, event, metric, n int) []float64 {
	n = max(1, n) // a window may be narrower than the column of names
	d := make([]float64, n)
	span := float64(rec.Duration())
	if !rec.HasTime || span <= 0 {
		return d
	}
	// The tracks are divided in the same way on every machine, because sums of floats
	// depend on their order.
	sum := func(add func(*density, *recording.Track)) {
		var parts [mostGoroutines]density
		share(len(parts), len(parts), func(i int) {
			parts[i] = density{rec: rec, d: make([]float64, len(d)), perPs: float64(n) / span, res: max(1, rec.Duration()/int64(n))}
			for k := i; k < len(rec.Tracks); k += len(parts) {
				add(&parts[i], rec.Tracks[k])
			}
		})
		for i := range parts {
			for k, v := range parts[i].d {
				d[k] += v
			}
		}
	}
	if sum(func(p *density, t *recording.Track) { p.samples(t.SamplesOf(event)) }); total(d) == 0 {
		sum((*density).track)
	}
	if total(d) == 0 {
		windows := density{rec: rec, d: d, perPs: float64(n) / span}
		for _, ws := range rec.Windows {
			if ws.Event != event {
				continue
			}
			for i := range ws.Windows {
				windows.spread(ws.Windows[i].Start, ws.Windows[i].End, float64(WindowWeight(ws, i, metric)))
			}
		}
	}
	if most := slices.Max(d); most > 0 {
		for i := range d {
			d[i] /= most
		}
	}
	return d
}

// density adds up how busy some of the tracks are, by part of the recording.
type density struct {
	rec   *recording.Recording
	d     []float64
	perPs float64
	res   int64 // picoseconds of a part
}

func (p *density) at(t int64) float64 { return float64(t-p.rec.Start) * p.perPs }

// spread distributes a weight over the parts that a stretch of time covers.
func (p *density) spread(start, end int64, weight float64) {
	x0, x1 := p.at(start), p.at(end)
	if x1 <= x0 {
		x1 = x0 + 1e-9
	}
	for i := max(0, int(x0)); i < len(p.d) && float64(i) < x1; i++ {
		part := min(x1, float64(i+1)) - max(x0, float64(i))
		p.d[i] += weight * part / (x1 - x0)
	}
}

// track adds the times at which a thread was on CPU or, without states, at which any of a
// track's outermost spans ran.
func (p *density) track(t *recording.Track) {
	if t.States.Len() > 0 {
		p.states(t)
		return
	}
	if l := cover(p.rec, t); l != nil {
		l.Walk(p.rec.Start, p.rec.End+1, p.res, func(b *lanes.Bar) bool {
			p.spread(b.Start, b.End, float64(b.Busy))
			return true
		})
	}
	if len(t.Open) > 0 {
		p.spread(t.Open[0].Start, p.rec.End, float64(p.rec.End-t.Open[0].Start))
	}
}

// states adds the times at which a thread was on CPU. Consecutive states shorter than a
// part count as the longest of them.
func (p *density) states(t *recording.Track) {
	t.States.Walk(p.rec.Start, p.rec.End+1, p.res, func(b *lanes.Bar) bool {
		if p.rec.State(b.Call).Weighs(recording.StateCPU) {
			p.spread(b.Start, b.End, float64(b.Busy))
		}
		return true
	})
}

// samples adds the counts of samples, each for the time that it stands for; s may be nil.
func (p *density) samples(s *recording.Samples) {
	if s == nil {
		return
	}
	s.Walk(p.rec.Start, p.rec.End+1, p.res, func(b *lanes.Bar) bool {
		p.spread(b.Start, b.End, float64(b.N))
		return true
	})
}

func total(d []float64) float64 {
	var sum float64
	for _, v := range d {
		sum += v
	}
	return sum
}

// PaintOverview draws a density as bars on a surface filled with the background colour.
// It leaves the part to the left of gutter empty. own is the range of the surface that
// the recording covers. read is the share of the file read so far, 0 to 1; until it is 1,
// a thin line at the bottom shows it.
func PaintOverview(c raster.Surface, d []float64, th *theme.Theme, scale float32, gutter int, own [2]int, read float64) {
	w, h := c.Size()
	px := func(dp float32) int { return int(math.Round(float64(dp * scale))) }
	c.Rect(gutter, 0, w, h, raster.Pack(th.Surface))
	l := .72
	if th.Dark {
		l = .56
	}
	col := raster.Pack(theme.OKLCH(l, .07, 250))
	lanes := own[1] - own[0]
	for x := 0; x < lanes && len(d) > 0; x++ {
		v := d[min(len(d)-1, x*len(d)/lanes)]
		if v <= 0 {
			continue
		}
		top := h - px(2) - int(math.Round(v*float64(h-px(6))))
		c.Rect(own[0]+x, min(top, h-px(3)), own[0]+x+1, h-px(1), col)
	}
	if read < 1 {
		c.Rect(own[0], h-px(2), own[0]+int(read*float64(lanes)), h, raster.Pack(th.Accent))
	}
}
