package timeline

import (
	"math"
	"sort"
	"strconv"

	"ashlar/ingest/recording"
	"ashlar/render/raster"
	"ashlar/render/theme"
)

func itoa(n int) string { return strconv.Itoa(n) }

// openBar is a bar of samples that is still growing: at one depth, the call
// that neighbouring samples share.
type openBar struct {
	x0   int
	call recording.CallID
}

// samples draws the samples of a row: for each depth, neighbours that share
// the call there are one bar.
func (p *Picture) samples(r *Row, y int) {
	depths := r.Lanes - r.Spans
	p.hit = p.MarkAt != nil && p.MarkAt(p.of, -1, 0, 0)
	p.open = p.open[:0]
	end := 0
	closeFrom := func(d, x1 int) {
		for k := d; k < len(p.open); k++ {
			top := y + p.Plan.laneTop(r.Spans+k)
			if top < p.h && top+p.px(laneHeight) > 0 && x1 > p.open[k].x0 {
				p.bar(p.open[k].x0, x1, top, p.open[k].call, false)
			}
		}
		p.open = p.open[:min(d, len(p.open))]
	}
	r.Samples.Walk(p.View.From, p.View.To, p.res(), func(b *recording.Bar) bool {
		x0, x1 := p.x(b.Start), p.x(b.End)
		x1 = max(x1, x0+1)
		if x0 > end {
			closeFrom(0, end)
		}
		p.path = p.Rec.Calls.Path(p.path[:0], b.Call)
		if len(p.path) == 0 {
			p.path = append(p.path, recording.NoCall)
		}
		path := p.path[:min(depths, len(p.path))]
		same := 0
		for same < len(path) && same < len(p.open) && p.open[same].call == path[same] {
			same++
		}
		closeFrom(same, x0)
		for _, c := range path[same:] {
			p.open = append(p.open, openBar{x0, c})
		}
		end = max(end, x1)
		return true
	})
	closeFrom(0, end)
}

// windows draws each window in a strength by its weight.
func (p *Picture) windows(r *Row, y int) {
	ws := p.Rec.Windows[r.Index]
	weights := make([]float64, len(ws.Windows))
	most := 0.0
	for i := range ws.Windows {
		weights[i] = float64(WindowWeight(ws, i, p.Metric))
		most = max(most, weights[i])
	}
	t := p.Palette.Theme
	if most == 0 {
		most = 1
	}
	for i := range ws.Windows {
		w := &ws.Windows[i]
		if w.End < p.View.From || w.Start > p.View.To {
			continue
		}
		x0, x1 := p.x(w.Start), p.x(w.End)
		x1 = max(x1, x0+1)
		gap := 0
		if x1-x0 > 3 {
			gap = 1
		}
		p.Bars++
		col := raster.Pack(theme.Mix(t.Raised, t.Accent, .12+.88*math.Sqrt(weights[i]/most)*.8))
		p.c.Bar(max(x0, p.Gutter-8), y+p.px(5), x1-gap, y+r.Height-p.px(6), col, p.px(2))
	}
}

// WindowWeight is the sum of a metric over a window's rows.
func WindowWeight(ws *recording.WindowSet, window, metric int) int64 {
	var sum int64
	w := &ws.Windows[window]
	for i := w.First; i < w.Last; i++ {
		if v := ws.Rows.Value(i, metric); v != recording.Missing {
			sum += v
		}
	}
	return sum
}

// counter draws a value over time: for each pixel the band between the least
// and the greatest value in it.
func (p *Picture) counter(r *Row, y int) {
	c := p.Rec.Counters[r.Index]
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range c.Len() {
		lo, hi = min(lo, c.Value(i)), max(hi, c.Value(i))
	}
	lo = min(lo, 0)
	if hi <= lo {
		hi = lo + 1
	}
	top, bottom := y+p.px(5), y+r.Height-p.px(5)
	at := func(v float64) int { return bottom - int(math.Round((v-lo)/(hi-lo)*float64(bottom-top))) }
	line := raster.Pack(theme.OKLCH(.72, .1, 150))
	i := sort.Search(c.Len(), func(i int) bool { return c.Time(i) > p.View.From }) - 1
	prev := math.NaN()
	if i >= 0 {
		prev = c.Value(i)
	}
	for x := p.Gutter; x < p.w; x++ {
		t1 := p.View.Time(float64(x-p.Gutter+1), p.width())
		a, b := prev, prev
		for i+1 < c.Len() && c.Time(i+1) < t1 {
			i++
			v := c.Value(i)
			if math.IsNaN(a) {
				a, b = v, v
			}
			a, b = min(a, v), max(b, v)
			prev = v
		}
		if math.IsNaN(a) || t1 > p.Rec.End+p.res() {
			continue
		}
		p.c.Shade(x, at(b), x+1, bottom, line, 46)
		p.c.Rect(x, at(b), x+1, max(at(a), at(b)+p.px(1.5)), line)
	}
}

func firstInstant(s []recording.Instant, t int64) int {
	return sort.Search(len(s), func(i int) bool { return s[i].Time >= t })
}
