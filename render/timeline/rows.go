package timeline

import (
	"math"
	"sort"

	"ashlar/ingest/model/recording"
	"ashlar/render/raster"
	"ashlar/render/theme"
)

// windows draws the windows of a row; a window's weight sets how strong it looks.
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
		if x := p.x(w.End); x == last { // another window ends at this pixel
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

// weighed holds the weights of a row's windows and the largest one.
type weighed struct {
	of      *recording.WindowSet
	metric  int
	weights []float64
	most    float64
}

// windowWeights returns the weights of the windows of a set and the greatest weight. It
// caches them, because every frame needs them.
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

// WindowWeight returns the sum of a metric over a window's rows.
func WindowWeight(ws *recording.WindowSet, window, metric int) int64 {
	var sum int64
	w := &ws.Windows[window]
	for i := w.First; i < w.Last; i++ {
		if v := ws.Rows.Value(i, metric); v != recording.Missing {
			recording.Add(&sum, v)
		}
	}
	return sum
}

func firstInstant(s []recording.Instant, t int64) int {
	return sort.Search(len(s), func(i int) bool { return s[i].Time >= t })
}
