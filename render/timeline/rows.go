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
	weights, most := p.Plan.windowWeights(ws, p.Metric)
	t := p.Palette.Theme
	last := -1
	for i := range ws.Windows {
		w := &ws.Windows[i]
		if w.End < p.View.From || w.Start > p.View.To {
			continue
		}
		if x := p.x(w.End); x == last { // a pixel is full
			continue
		} else {
			last = x
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

// weighed are the weights of a row's windows and the greatest of them.
type weighed struct {
	of      *recording.WindowSet
	metric  int
	weights []float64
	most    float64
}

// windowWeights weighs the windows of a set; they are kept, since every frame
// wants them.
func (p *Plan) windowWeights(ws *recording.WindowSet, metric int) ([]float64, float64) {
	for _, w := range p.weighed {
		if w.of == ws && w.metric == metric {
			return w.weights, w.most
		}
	}
	w := weighed{of: ws, metric: metric, weights: make([]float64, len(ws.Windows))}
	for i := range ws.Windows {
		w.weights[i] = float64(WindowWeight(ws, i, metric))
		w.most = max(w.most, w.weights[i])
	}
	if w.most == 0 {
		w.most = 1
	}
	p.weighed = append(p.weighed, w)
	return w.weights, w.most
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

func firstInstant(s []recording.Instant, t int64) int {
	return sort.Search(len(s), func(i int) bool { return s[i].Time >= t })
}
