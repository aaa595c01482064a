package workspace

import (
	"ashlar/app/window/scopebar"
	"ashlar/render/units"
)

// strayChips says which events the first view leaves out because they are far from all
// others, and offers to show them.
func (p *Pane) strayChips() (chips []scopebar.Chip) {
	if p.Moved {
		return nil
	}
	offer := func(n int, far int64, where string) {
		if n > 0 {
			chips = append(chips, scopebar.Chip{Text: units.Plural(int64(n), "event") + " " + units.Duration(far) + " " + where, Adds: true,
				More: []string{"Far from all other events, so outside the first view. Click to show the whole recording"}, Go: p.FitAll})
		}
	}
	offer(p.Core.Before, p.Core.From-p.Rec.Start, "earlier")
	offer(p.Core.After, p.Rec.End-p.Core.To, "later")
	return chips
}
