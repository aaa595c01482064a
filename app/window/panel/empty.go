package panel

import (
	"image"

	"ashlar/render/ui"
	"ashlar/render/widget"
)

// DrawEmpty says, in a view that has nothing to show, why.
func (p *Side) DrawEmpty(u *ui.UI, r image.Rectangle) {
	said, hint := p.nothing()
	widget.Empty(u, r, said, hint)
}

// nothing is why there is nothing to show, and what helps, "" where nothing does.
func (p *Side) nothing() (said, hint string) {
	switch {
	case p.Scope.Ranged:
		return "Nothing in the selected time", "Esc takes the selection away"
	case !p.Scope.IsWhole():
		return "Nothing in what is selected", "Esc takes the selection away"
	case len(p.Rec.Events) == 0:
		return "This recording is empty", ""
	}
	shown := p.MetricOf()
	said, hint = "Nothing was recorded for "+shown.Name, "The recording has no other metric"
	for i := range p.Rec.Events {
		for k := range p.Rec.Events[i].Metrics {
			switch m := &p.Rec.Events[i].Metrics[k]; {
			case m == shown:
			case m.Total != 0: // also where it is not known
				return said, "Another metric can be chosen in the toolbar"
			default:
				hint = "Nor was anything for another metric"
			}
		}
	}
	return said, hint
}
