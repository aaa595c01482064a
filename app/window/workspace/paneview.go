package workspace

import (
	"ashlar/app/window/panel"
	"ashlar/app/window/scopebar"
	"ashlar/ingest/model/recording"
)

// ScrollBy scrolls the part under the pointer up by some pixels.
func (p *Pane) ScrollBy(px int) {
	if x, ok := p.panel().(panel.Movable[*panel.Side]); ok && x.ScrollBy(&p.Side, px) {
		return
	}
	p.ScrollTo(p.View.Scroll + px)
}

func (p *Pane) nextEvent() {
	if n := len(p.Rec.Events); n > 1 {
		p.SetEvent((p.Event + 1) % n)
	}
}

// NextMetric shows the next metric of the event.
func (p *Pane) NextMetric() {
	if p.Event < len(p.Rec.Events) {
		p.Metric = (p.Metric + 1) % max(1, len(p.Rec.Events[p.Event].Metrics))
	}
}

// back undoes the first of these that is set: the search, the comparison in place, the
// zoom, the selection and so on. It reports whether there was one.
func (p *Pane) back(d *Workspace) bool {
	switch {
	case p.Searching() || p.Find != "":
		p.SearchFor("")
		p.Finder.Blur()
	case p.ScopeComparison != nil:
		p.ScopeComparison.back(p)
	case len(p.Zoom) > 0 && p.Tab != panel.Callers:
		p.ZoomTo(nil)
	case p.Tab == panel.Callers && p.ZoomedAround():
		p.Sides = [2][]recording.FuncName{}
	case p.Pick.Kind != panel.PickNone:
		p.Pick = panel.Picked{}
	case p.AtGoal:
		p.AtGoal = false
	case scopebar.Last(d.Scoped()):
	case p.Filter != "":
		p.Filter = ""
	case p.Moved:
		p.FitFirst()
	default:
		return false
	}
	return true
}
