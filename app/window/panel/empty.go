package panel

import (
	"image"

	"ashlar/render/ui"
	"ashlar/render/widget"
)

// DrawEmpty draws why a view is empty, and a hint.
func (p *Side) DrawEmpty(u *ui.UI, r image.Rectangle) {
	said, hint := p.nothing()
	widget.Empty(u, r, said, hint)
}

// nothing returns why a panel is empty, and a remedy, "" if there is none.
func (p *Side) nothing() (said, hint string) {
	switch {
	case p.Scope.Ranged:
		return "No data in the selected time", "Press Esc to clear the selection"
	case !p.Scope.IsWhole():
		return "No data in this selection", "Press Esc to clear the selection"
	case len(p.Rec.Events) == 0:
		return "This recording is empty", ""
	}
	shown := p.MetricOf()
	said, hint = "No data for "+shown.Name, "This recording has no other metric"
	for i := range p.Rec.Events {
		for k := range p.Rec.Events[i].Metrics {
			switch m := &p.Rec.Events[i].Metrics[k]; {
			case m == shown:
			case m.Total != 0: // also if the total is unknown
				return said, "Choose another metric in the toolbar"
			default:
				hint = "The other metrics have no data either"
			}
		}
	}
	return said, hint
}
