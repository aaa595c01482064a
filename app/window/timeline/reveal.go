package timeline

import (
	"slices"

	"ashlar/app/window/panel"
	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/search"
	"ashlar/render/timeline"
)

// Show brings a hit into view and picks it.
func (p *Timeline) Show(h search.Hit) {
	var is func(recording.FuncID) bool
	if h.Samples != nil { // only a search finds samples
		is = p.Found()
	}
	p.PickHit(HitBar(p.Rec, h, is))
	p.reveal(&p.Pick.Hit)
}

// HitBar returns the bar of a search hit. For samples, it is the outermost matching
// function of their stack.
func HitBar(rec *recording.Recording, h search.Hit, is func(recording.FuncID) bool) timeline.Hit {
	t := rec.Tracks[h.Track]
	if h.Samples == nil {
		l := t.Lane(h.Lane)
		return timeline.Hit{Row: -1, Window: -1, Track: h.Track, Lane: h.Lane, Span: h.Index, Found: true, Call: h.Call, Start: h.Time,
			End: l.End(h.Index), Unfinished: l.Unfinished(h.Index), Args: l.Args(h.Index)}
	}
	depth := slices.IndexFunc(rec.Calls.Path(nil, h.Call), func(c recording.CallID) bool { return is(rec.Func(c)) })
	hit := timeline.SampleBar(rec, h.Samples, max(0, depth), h.Index)
	hit.Track, hit.Lane = h.Track, len(t.Lanes)+hit.Lane
	return hit
}

// reveal scrolls and pans to show a bar. It zooms only if the bar would be too narrow or
// too wide to see.
func (p *Timeline) reveal(h *timeline.Hit) {
	if h.Found && p.Hidden[h.Track] {
		p.Hide(h.Track, false)
	}
	w := p.LaneWidth()
	span := p.View.Span()
	d := max(1, h.End-h.Start)
	switch {
	case d > span:
		span = min(d*5/4, max(d, p.Rec.Duration()/50*51)) // at most the whole recording
	case h.Found && float64(d)/float64(span)*float64(w) < 6:
		span = max(d*40, 1000)
	}
	if mid := h.Start + d/2; span != p.View.Span() || h.Start < p.View.From || h.End > p.View.To {
		p.View.From, p.View.To = mid-span/2, mid-span/2+span
		p.View = p.View.Clamp(p.ViewLimits())
	}
	p.Moved = true
	if p.Plan == nil {
		return
	}
	if h.Found && p.rowOf(h) < 0 {
		p.unfoldTo(h.Track)
	}
	if i := p.rowOf(h); i >= 0 {
		r := &p.Plan.Rows[i]
		if h.Found && !h.IsState() && !r.Shows(h.Lane) {
			p.Folds = With(p.Folds, h.Track, timeline.Full)
		}
		_, y0, _, y1 := p.Plan.Box(p.View, i, h.Lane, h.Start, h.End, p.Bounds.Lanes.Dx(), p.Bounds.Gutter)
		top := p.Plan.Held + 30
		if !p.Plan.Holds(r) && (y0 < top || y1 > p.Bounds.Lanes.Dy()) {
			p.ScrollTo(p.View.Scroll + y0 - max(p.Bounds.Lanes.Dy()/3, top))
		}
	}
}

// SameFunction goes to the next or previous span of the picked function.
func (p *Timeline) SameFunction(s *panel.Host, next bool) {
	if p.Pick.Kind != panel.PickBar && p.Pick.Kind != panel.PickNode {
		return
	}
	h := p.Pick.Hit
	at := p.View.From
	if p.Pick.Kind == panel.PickBar {
		at = h.Start
	}
	best, found := search.Hit{}, false
	for ti, t := range p.Rec.Tracks {
		for li := range t.Lanes {
			i := nearest(p.Rec, &t.Lanes[li], p.Pick.Fn, at, next, p.Pick.Kind == panel.PickBar && ti == h.Track && li == h.Lane)
			if i < 0 {
				continue
			}
			start := t.Lanes[li].Start(i)
			if !found || next && start < best.Time || !next && start > best.Time {
				best, found = search.Hit{Time: start, Track: ti, Lane: li, Index: i, Call: t.Lanes[li].Call(i)}, true
			}
		}
	}
	if found {
		p.Show(best)
	} else {
		s.Say("No more spans of " + p.Rec.Functions.At(int(p.Pick.Fn)).Name + " in this direction")
	}
}

// nearestReach is the maximum number of spans of a lane to search.
const nearestReach = 4 << 20

// nearest returns the index, in a lane, of the first span of a function after a time or,
// if next is false, of the last one before it; -1 if none is within reach. In the picked
// span's own lane (own), a span at the time itself does not count.
func nearest(rec *recording.Recording, l *lanes.Lane, f recording.FuncID, at int64, next, own bool) int {
	i := l.Search(at)
	if !next {
		i--
	}
	for n := 0; n < nearestReach && i >= 0 && i < l.Len(); n++ {
		start := l.Start(i)
		past := start > at || start == at && !own
		if !next {
			past = start < at
		}
		if past && rec.Func(l.Call(i)) == f {
			return i
		}
		if next {
			i++
		} else {
			i--
		}
	}
	return -1
}
