package shell

import (
	"math"

	"ashlar/app/panel"
	"ashlar/ingest/recording"
)

func (p *pane) laneWidth() int { return max(1, p.Bounds.Lanes.Dx()-p.Bounds.Gutter) }

func (p *pane) zoomAt(factor, x float64) {
	from, to := p.Limits()
	p.View = p.View.Zoom(factor, x, p.laneWidth(), from, to)
	p.Moved = true
}

// zoomBy zooms at the pointer when it is over the lanes, else in the middle.
func (p *pane) zoomBy(factor float64) {
	x := float64(p.laneWidth()) / 2
	if p.timeline.inside && p.timeline.at.X > float32(p.Bounds.Gutter) {
		x = float64(p.timeline.at.X) - float64(p.Bounds.Gutter)
	}
	p.zoomAt(factor, x)
}

func (p *pane) panBy(share float64) {
	w := p.laneWidth()
	from, to := p.Limits()
	p.View = p.View.Pan(share*float64(w), w, from, to)
	p.Moved = true
}

func (p *pane) scrollBy(px int) {
	if x, ok := p.panel().(panel.Movable[*panel.Side]); ok && x.ScrollBy(&p.Side, px) {
		return
	}
	p.scrollTo(p.View.Scroll + px)
}

func (p *pane) scrollTo(y int) { p.View.Scroll = p.scrollLimit(y) }

// scrollLimit keeps rows from being scrolled past their end.
func (p *pane) scrollLimit(y int) int {
	most := 0
	if p.timeline.plan != nil {
		most = max(0, p.timeline.plan.Height-p.Bounds.Lanes.Dy())
	}
	return max(0, min(y, most))
}

func (p *pane) fitAll() {
	p.View = p.View.Fit(p.extent())
	p.Moved = false
	p.ZoomTo(nil)
}

// fitSelection zooms to the selected range, else to the picked bar.
func (p *pane) fitSelection() {
	switch {
	case p.Pick.Is != panel.PickNone && p.Pick.Is != panel.PickNode && p.Pick.Hit.End > p.Pick.Hit.Start:
		p.Fit(p.Pick.Hit.Start, p.Pick.Hit.End)
	case p.Scope.Ranged:
		p.Fit(p.Scope.From, p.Scope.To)
	}
}

func (p *pane) nextEvent() {
	if n := len(p.Rec.Events); n > 1 {
		p.SetEvent((p.Event + 1) % n)
	}
}

func (p *pane) nextMetric() {
	if p.Event < len(p.Rec.Events) {
		p.Metric = (p.Metric + 1) % max(1, len(p.Rec.Events[p.Event].Metrics))
	}
}

// back takes back the nearest thing; it does nothing when there is none.
func (p *pane) back() {
	switch {
	case p.Searching() || p.Find != "":
		p.LookFor("")
		p.finding().blur = true
	case len(p.Zoom) > 0 && p.Tab != panel.Callers:
		p.ZoomTo(nil)
	case p.Tab == panel.Callers && p.ZoomedAround():
		p.Sides = [2][]recording.FuncName{}
	case p.Pick.Is != panel.PickNone:
		p.Pick = panel.Picked{}
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
