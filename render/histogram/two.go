package histogram

import (
	"math"

	"ashlar/ingest/query/compare"
	"ashlar/render/raster"
	"ashlar/render/theme"
	"ashlar/render/units"
)

// Two draws the distributions of two recordings over each other, A filled in grey and B
// as an outline in the accent colour, each as fractions of all its calls.
type Two struct {
	Of         *compare.Distribution
	Theme      *theme.Theme
	Font, Name *raster.Face
	Scale      float32
	w, h       int
}

func (p *Two) px(dp float32) int { return int(math.Round(float64(dp * p.Scale))) }

// area returns the rectangle of the bars.
func (p *Two) area() (x0, y0, x1, y1 int) {
	x0, y0 = p.px(gutter), p.px(head+16)
	return x0, y0, max(x0+1, p.w-p.px(pad)), max(y0+1, p.h-p.px(foot))
}

// X returns the position of a length in picoseconds in the picture drawn last.
func (p *Two) X(ps float64) float64 {
	x0, _, x1, _ := p.area()
	e := p.Of.Edges
	lo, hi := math.Log(math.Max(1, e[0])), math.Log(math.Max(1, e[len(e)-1]))
	if hi <= lo {
		return float64(x0+x1) / 2
	}
	f := (math.Log(math.Max(1, ps)) - lo) / (hi - lo)
	return float64(x0) + max(0, min(1, f))*float64(x1-x0)
}

// Paint draws on a surface already filled with the background colour.
func (p *Two) Paint(on raster.Surface) {
	p.w, p.h = on.Size()
	th := p.Theme
	d := p.Of
	if d.A.N == 0 && d.B.N == 0 {
		const text = "No calls in this selection"
		p.Font.Draw(on, float32(p.w)/2-p.Font.Measure(text)/2, p.h/2, text, raster.Pack(th.Dim), 0, p.w)
		return
	}
	x0, y0, x1, y1 := p.area()
	most := 0.0
	for i := range d.A.Bins {
		most = math.Max(most, math.Max(d.A.Bins[i], d.B.Bins[i]))
	}
	p.parts(on, most)
	top := func(v float64) int {
		if v == 0 {
			return y1
		}
		return min(y1-1, y1-int(math.Round(float64(y1-y0)*v/most)))
	}
	n := len(d.A.Bins)
	grey, accent := raster.Pack(theme.Mix(th.Background, th.Dim, .55)), raster.Pack(th.Accent)
	left := func(i int) int { return x0 + (x1-x0)*i/n }
	line := max(1, p.px(1.5))
	before := y1
	for i := range n {
		l, r := left(i), left(i+1)
		on.Rect(l, top(d.A.Bins[i]), r, y1, grey)
		y := top(d.B.Bins[i])
		if d.B.N > 0 {
			if y < y1 {
				on.Shade(l, y, r, y1, accent, 50)
				on.Rect(l, y, r, y+line, accent)
			}
			on.Rect(l, min(y, before), l+line, max(y, before)+line, accent)
		}
		before = y
	}
	on.Rect(x1-line, before, x1, y1, accent)
	p.lengths(on)
	p.marks(on, &d.A, "A", 0, raster.Pack(th.Dim))
	p.marks(on, &d.B, "B", 1, accent)
}

// parts draws the axis at the left: fractions of all calls.
func (p *Two) parts(on raster.Surface, most float64) {
	x0, y0, x1, y1 := p.area()
	step := .001
	for k := 0; most/step > float64(max(1, (y1-y0)/p.px(36))); k++ {
		step *= []float64{2, 2.5, 2}[k%3]
	}
	for v := 0.0; v <= most; v += step {
		y := y1 - int(float64(y1-y0)*v/most)
		on.Rect(x0, y, x1, y+1, raster.Pack(p.Theme.Rule))
		s := units.Percent(int64(math.Round(v*1e6)), 1e6)
		p.Font.Draw(on, float32(x0-p.px(8))-p.Font.Measure(s), y+p.px(4), s, raster.Pack(p.Theme.Dim), 0, x0)
	}
}

// lengths draws the axis below.
func (p *Two) lengths(on raster.Surface) {
	x0, _, x1, y1 := p.area()
	free := 0
	e := p.Of.Edges
	for i := range e {
		x := int(p.X(e[i]))
		s := units.Round(units.Duration(int64(e[i])))
		w := int(p.Font.Measure(s))
		if left := x - w/2; left >= max(free, x0-p.px(gutter)) && left+w <= x1+p.px(pad) {
			on.Rect(x, y1, x+1, y1+p.px(5), raster.Pack(p.Theme.Faint))
			p.Font.Draw(on, float32(left), y1+p.px(18), s, raster.Pack(p.Theme.Dim), 0, p.w)
			free = left + w + p.px(24)
		}
	}
}

// marks draws lines at a side's median and p99, with the names of each side in a row of
// their own.
func (p *Two) marks(on raster.Surface, d *compare.Durations, side string, row int, col raster.Color) {
	if d.N == 0 {
		return
	}
	_, y0, _, y1 := p.area()
	free, gap := float32(0), float32(p.px(12))
	y := p.px(14) + row*p.px(17)
	label := func(name string, v float64) (string, float32) {
		s := side + " " + name + "  " + units.Duration(int64(v))
		return s, p.Name.Measure(s)
	}
	_, last := label("p99", d.P99) // leave room for it when writing the median
	for i, m := range []struct {
		name string
		v    float64
	}{{"median", d.Median}, {"p99", d.P99}} {
		x := int(p.X(m.v))
		text, w := label(m.name, m.v)
		room := float32(p.w) - w - float32(p.px(4))
		if i == 0 && room > last+gap {
			room -= last + gap
		}
		if at := max(free, min(float32(x), room)); at+w <= float32(p.w) {
			p.Name.Draw(on, at, y, text, raster.Pack(p.Theme.Text), 0, p.w)
			free = at + w + gap
		}
		on.Shade(x, y+p.px(4), x+1, y0, col, 150)
		for k := y0; k < y1; k += p.px(5) { // dashes, to tell these lines from bars
			on.Rect(x, k, x+max(1, p.px(1)), min(y1, k+p.px(3)), col)
		}
	}
}
