package panel

import (
	"image"

	"ashlar/render/ui"
	"ashlar/render/widget"
)

// SayNothing says, in a view that has nothing to show, why.
func (p *Side) SayNothing(u *ui.UI, r image.Rectangle) {
	said, hint := "Nothing was recorded for "+p.MetricOf().Name, "Another metric can be chosen in the toolbar"
	switch {
	case p.Scope.Ranged:
		said, hint = "Nothing in the selected time", "Esc takes the selection away"
	case !p.Scope.IsWhole():
		said, hint = "Nothing in what is selected", "Esc takes the selection away"
	case len(p.Rec.Events) == 0:
		said, hint = "This recording is empty", ""
	}
	widget.Empty(u, r, said, hint)
}
