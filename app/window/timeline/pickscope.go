package timeline

import (
	"slices"

	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
)

// PickScope is a part of the recording around the selected bar of the timeline.
type PickScope int

// Parts around the selected bar, the smallest first. OtherScope stands for any other scope.
const (
	OtherScope PickScope = iota - 1
	ThisCall
	ThisThread
	Everything
)

// PickScopes returns the titles of the parts around the selected bar, and the part that is
// the scope; no titles if no bar is selected, or during a comparison.
func (p *Timeline) PickScopes() (titles []string, on PickScope) {
	if p.Pick.Kind != panel.PickBar || p.Linkable || p.Against != nil || p.Pick.Hit.Track >= len(p.Rec.Tracks) {
		return nil, OtherScope
	}
	call, thread := "This call", "This "+p.Rec.ThreadWord(p.Pick.Hit.Track)
	if h := &p.Pick.Hit; h.IsState() {
		call = "This state"
	} else if h.Samples != nil {
		call = "These samples"
	}
	if p.Rec.Tracks[p.Pick.Hit.Track].Kind != recording.ThreadTrack {
		thread = "This track"
	}
	return []string{call, thread, "Everything"}, p.pickScope()
}

// pickScope returns the part around the selected bar that is the scope.
func (p *Timeline) pickScope() PickScope {
	in, h := &p.Scope, &p.Pick.Hit
	own := slices.Equal(in.Tracks, []int{h.Track})
	switch {
	case in.IsWhole():
		return Everything
	case in.Calls != nil || !own:
		return OtherScope
	case p.rangedToPick():
		return ThisCall
	}
	return ThisThread
}

// rangedToPick reports whether the selected time is that of the selected bar.
func (p *Timeline) rangedToPick() bool {
	in, h := &p.Scope, &p.Pick.Hit
	return in.Ranged && in.From == max(h.Start, p.Rec.Start) && in.To == min(h.End, p.Rec.End)
}

// ScopeToPick limits the scope to a part around the selected bar. Choosing the thread
// keeps the selected time, unless that is the bar's.
func (p *Timeline) ScopeToPick(s PickScope) {
	h := &p.Pick.Hit
	switch s {
	case ThisCall:
		p.Scope = p.Scope.Of(nil).On([]int{h.Track})
		p.SelectRange(h.Start, h.End)
	case ThisThread:
		if p.rangedToPick() {
			p.Scope = p.Scope.AllTime()
		}
		p.Scope = p.Scope.Of(nil).On([]int{h.Track})
	case Everything:
		p.Scope = p.Scope.Of(nil).On(nil).AllTime()
	}
}
