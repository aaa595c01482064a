package shell

import (
	"math"

	"ashlar/ingest/recording"
)

func (p *Side) laneWidth() int { return max(1, p.bounds.lanes.Dx()-p.bounds.gutter) }

func (p *Side) zoomAt(factor, x float64) {
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

func (p *Side) panBy(share float64) {
	w := p.laneWidth()
	from, to := p.limits()
	p.View = p.View.Pan(share*float64(w), w, from, to)
	p.Moved = true
}

func (p *pane) scrollBy(px int) {
	if x, ok := p.panel().(Movable[*Side]); ok && x.ScrollBy(&p.Side, px) {
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

func (p *Side) fitAll() {
	p.View = p.View.Fit(p.extent())
	p.Moved = false
	p.zoomTo(nil)
}

// fitSelection zooms to the selected range, else to the picked bar.
func (p *Side) fitSelection() {
	switch {
	case p.pick.is != pickNone && p.pick.is != pickNode && p.pick.hit.End > p.pick.hit.Start:
		p.fit(p.pick.hit.Start, p.pick.hit.End)
	case p.Scope.Ranged:
		p.fit(p.Scope.From, p.Scope.To)
	}
}

func (p *Side) nextEvent() {
	if n := len(p.rec.Events); n > 1 {
		p.setEvent((p.Event + 1) % n)
	}
}

func (p *Side) nextMetric() {
	if p.Event < len(p.rec.Events) {
		p.Metric = (p.Metric + 1) % max(1, len(p.rec.Events[p.Event].Metrics))
	}
}

// back takes back the nearest thing; it does nothing when there is none.
func (p *pane) back() {
	switch {
	case p.searching() || p.Find != "":
		p.lookFor("")
		p.finding().blur = true
	case len(p.Zoom) > 0 && p.Tab != tabNear:
		p.zoomTo(nil)
	case p.Tab == tabNear && p.zoomedAround():
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
