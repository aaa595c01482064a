package shell

import (
	"math"

	"ashlar/ingest/recording"
)

// limits are how far the view goes.
func (p *pane) limits() (from, to int64) {
	if p.reach[0] < p.reach[1] {
		return p.reach[0], p.reach[1]
	}
	return p.rec.Start, p.rec.End
}

func (p *pane) laneWidth() int { return max(1, p.bounds.lanes.Dx()-p.bounds.gutter) }

func (p *pane) zoomAt(factor, x float64) {
	from, to := p.limits()
	p.View = p.View.Zoom(factor, x, p.laneWidth(), from, to)
	p.Moved = true
}

// zoomBy zooms at the pointer when it is over the lanes, else in the middle.
func (p *pane) zoomBy(factor float64) {
	x := float64(p.laneWidth()) / 2
	if p.timeline.inside && p.timeline.at.X > float32(p.bounds.gutter) {
		x = float64(p.timeline.at.X) - float64(p.bounds.gutter)
	}
	p.zoomAt(factor, x)
}

func (p *pane) panBy(share float64) {
	w := p.laneWidth()
	from, to := p.limits()
	p.View = p.View.Pan(share*float64(w), w, from, to)
	p.Moved = true
}

func (p *pane) scrollBy(px int) {
	if p.flame.Inside && p.Tab == tabFlame {
		p.flame.scrollBy(p, px)
		return
	}
	if p.Tab == tabTable && p.table.Inside {
		p.table.scroll += px
		return
	}
	p.scrollTo(p.View.Scroll + px)
}

func (p *pane) scrollTo(y int) { p.View.Scroll = p.scrollLimit(y) }

// scrollLimit keeps rows from being scrolled past their end.
func (p *pane) scrollLimit(y int) int {
	most := 0
	if p.timeline.plan != nil {
		most = max(0, p.timeline.plan.Height-p.bounds.lanes.Dy())
	}
	return max(0, min(y, most))
}

func (p *pane) fitAll() {
	p.View = p.View.Fit(p.extent())
	p.Moved = false
	p.flame.zoomTo(p, nil)
}

// fitSelection zooms to the selected range, else to the picked bar.
func (p *pane) fitSelection() {
	switch {
	case p.pick.is != pickNone && p.pick.is != pickNode && p.pick.hit.End > p.pick.hit.Start:
		p.fit(p.pick.hit.Start, p.pick.hit.End)
	case p.Scope.Ranged:
		p.fit(p.Scope.From, p.Scope.To)
	}
}

func (p *pane) fit(from, to int64) {
	if !p.rec.HasTime {
		return
	}
	p.View = p.View.Fit(from, to)
	p.Moved = true
}

func (p *pane) setEvent(i int) {
	p.Event = i
	p.Metric = p.rec.Events[i].Primary
	p.flame.zoomTo(p, nil)
	p.pick = picked{}
}

func (p *pane) nextEvent() {
	if n := len(p.rec.Events); n > 1 {
		p.setEvent((p.Event + 1) % n)
	}
}

func (p *pane) nextMetric() {
	if p.Event < len(p.rec.Events) {
		p.Metric = (p.Metric + 1) % max(1, len(p.rec.Events[p.Event].Metrics))
	}
}

// back takes back the nearest thing; it does nothing when there is none.
func (p *pane) back() {
	switch {
	case p.searching() || p.Find != "":
		p.lookFor("")
		p.search.blur = true
	case len(p.Zoom) > 0 && p.Tab != tabNear:
		p.flame.zoomTo(p, nil)
	case p.Tab == tabNear && p.near.zoomed(p):
		p.Sides = [2][]recording.FuncName{}
	case p.pick.is != pickNone:
		p.pick = picked{}
	case p.AtGoal:
		p.AtGoal = false
	case !p.Scope.IsWhole():
		p.Scope = recording.Scope{}
	case p.Filter != "":
		p.Filter = ""
	case p.Moved:
		p.fitAll()
	}
}

func clampInt64(f float64) int64 {
	return int64(math.Max(math.MinInt64/4, math.Min(math.MaxInt64/4, f)))
}
