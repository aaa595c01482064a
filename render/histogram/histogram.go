// Package histogram draws the distribution of a function's call durations as bars, with
// marks at the percentiles.
package histogram

import (
	"math"
	"sort"

	"ashlar/ingest/query/spans"
	"ashlar/render/raster"
	"ashlar/render/theme"
	"ashlar/render/units"
)

// Picture draws a histogram.
type Picture struct {
	Of *spans.Durations
	// Linear selects bins of equal width instead of logarithmic bins.
	Linear bool
	Theme  *theme.Theme
	// Font labels the axes, Name the marks.
	Font, Name *raster.Face
	Scale      float32
	// Hover is the bin under the pointer, -1 for none.
	Hover int
	w, h  int
}

// Sizes in dp.
const (
	gutter = 64
	foot   = 26
	head   = 40 // room for the marks' names
	pad    = 14
)

func (p *Picture) px(dp float32) int { return int(math.Round(float64(dp * p.Scale))) }

// Bins returns the bins to draw.
func (p *Picture) Bins() []spans.Bin {
	if p.Linear {
		return p.Of.Linear
	}
	return p.Of.Logarithmic
}

// Paint draws on a surface already filled with the background colour.
func (p *Picture) Paint(on raster.Surface) {
	p.w, p.h = on.Size()
	th := p.Theme
	bins := p.Bins()
	if len(bins) == 0 {
		const text = "No calls in this selection"
		p.Font.Draw(on, float32(p.w)/2-p.Font.Measure(text)/2, p.h/2, text, raster.Pack(th.Dim), 0, p.w)
		return
	}
	most := most(bins)
	p.counts(on, most)
	for i := range bins {
		x0, y0, x1, y1 := p.Box(i)
		if bins[i].Count == 0 {
			continue
		}
		col := th.Accent
		if i == p.Hover {
			col = th.Lift(col)
		}
		gap := 0
		if x1-x0 > p.px(4) {
			gap = 1
		}
		on.Bar(x0, y0, max(x0+1, x1-gap), y1, raster.Pack(col), 0)
	}
	p.lengths(on)
	p.marks(on)
}

func most(bins []spans.Bin) int64 {
	var m int64 = 1
	for _, b := range bins {
		m = max(m, b.Count)
	}
	return m
}

// area returns the rectangle of the bars.
func (p *Picture) area() (x0, y0, x1, y1 int) {
	x0, y0 = p.px(gutter), p.px(head)
	return x0, y0, max(x0+1, p.w-p.px(pad)), max(y0+1, p.h-p.px(foot))
}

// Box returns the rectangle of a bin's bar in the picture drawn last. The bar of a bin
// with values is at least a pixel high.
func (p *Picture) Box(bin int) (x0, y0, x1, y1 int) {
	ax0, ay0, ax1, ay1 := p.area()
	bins := p.Bins()
	n := len(bins)
	x0, x1 = ax0+(ax1-ax0)*bin/n, ax0+(ax1-ax0)*(bin+1)/n
	h := int(math.Ceil(float64(ay1-ay0) * float64(bins[bin].Count) / float64(most(bins))))
	return x0, ay1 - h, x1, ay1
}

// X returns the position of a length in the picture drawn last.
func (p *Picture) X(ps int64) float64 {
	bins := p.Bins()
	x0, _, x1, _ := p.area()
	i := sort.Search(len(bins), func(i int) bool { return bins[i].To > ps })
	if i == len(bins) {
		return float64(x1)
	}
	b := &bins[i]
	part := float64(ps-b.From) / float64(b.To-b.From)
	if !p.Linear && b.From > 0 {
		part = math.Log(float64(ps)/float64(b.From)) / math.Log(float64(b.To)/float64(b.From))
	}
	return float64(x0) + (float64(i)+max(0, part))*float64(x1-x0)/float64(len(bins))
}

// counts draws the axis at the left.
func (p *Picture) counts(on raster.Surface, most int64) {
	th := p.Theme
	x0, y0, x1, y1 := p.area()
	step := int64(1)
	for k := 0; most/step > int64(max(1, (y1-y0)/p.px(36))); k++ {
		if k%3 == 1 {
			step = step / 2 * 5
		} else {
			step *= 2
		}
	}
	for n := int64(0); n <= most; n += step {
		y := y1 - int(float64(y1-y0)*float64(n)/float64(most))
		on.Rect(x0, y, x1, y+1, raster.Pack(th.Rule))
		s := units.Count(n)
		p.Font.Draw(on, float32(x0-p.px(8))-p.Font.Measure(s), y+p.px(4), s, raster.Pack(th.Dim), 0, x0)
	}
}

// lengths draws the axis below: the edges of logarithmic bins, or round lengths for
// linear bins, as many as fit.
func (p *Picture) lengths(on raster.Surface) {
	bins := p.Bins()
	x0, _, x1, y1 := p.area()
	free := 0
	tick := func(ps int64, s string) {
		x, w := int(p.X(ps)), int(p.Font.Measure(s))
		if left := x - w/2; left >= free && left+w <= x1+p.px(pad) {
			on.Rect(x, y1, x+1, y1+p.px(5), raster.Pack(p.Theme.Faint))
			p.Font.Draw(on, float32(left), y1+p.px(18), s, raster.Pack(p.Theme.Dim), 0, p.w)
			free = left + w + p.px(24)
		}
	}
	if p.Linear {
		to := bins[len(bins)-1].To
		ax := units.NewAxis(bins[0].From, to, max(1, (x1-x0)/p.px(95)))
		for t := range ax.Ticks(bins[0].From, to-1) {
			if t >= bins[0].From {
				tick(t, ax.Label(t))
			}
		}
		return
	}
	for i := range bins {
		tick(bins[i].From, units.Round(units.Duration(bins[i].From)))
	}
}

// Mark is a length with a name.
type Mark struct {
	Name   string
	Length int64
}

// Marks returns the percentiles to mark.
func (p *Picture) Marks() []Mark {
	return []Mark{{"median", p.Of.Median}, {"p90", p.Of.P90}, {"p99", p.Of.P99}}
}

// marks draws lines at the percentiles, with their names on two lines above. If a name
// does not fit above its line, it is written after or before the name that is there.
func (p *Picture) marks(on raster.Surface) {
	_, y0, _, y1 := p.area()
	col := raster.Pack(p.Theme.Warn)
	edge, gap := float32(p.px(4)), float32(p.px(10))
	var taken [2]struct{ from, to float32 } // from and to are the extent of the names on each line; to is 0 if there are none
	for _, m := range p.Marks() {
		x := int(p.X(m.Length))
		label := m.Name + "  " + units.Duration(m.Length)
		w := p.Name.Measure(label)
		here := min(float32(x), float32(p.w)-w-edge)
		for i, left := range []float32{here, here, taken[0].to + gap, taken[1].to + gap, taken[0].from - gap - w, taken[1].from - gap - w} {
			line := &taken[i%2]
			if left < edge || left+w > float32(p.w)-edge || line.to > 0 && left < line.to+gap && left+w > line.from-gap {
				continue
			}
			y := p.px(14) + i%2*p.px(15)
			p.Name.Draw(on, left, y, label, raster.Pack(p.Theme.Text), 0, p.w)
			on.Shade(x, y+p.px(4), x+1, y0, col, 160)
			if line.from = min(line.from, left); line.to == 0 {
				line.from = left
			}
			line.to = max(line.to, left+w)
			break
		}
		on.Rect(x, y0, x+max(1, p.px(1)), y1, col)
	}
}
