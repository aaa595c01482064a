package timeline

import (
	"math"

	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/render/timeline"
	"ashlar/render/ui"
)

const (
	// snapReach is the distance, in dp, within which the edge of a selection snaps to the
	// edge of a bar, and snapBar the minimum width of such a bar.
	snapReach = 5
	snapBar   = 12
)

// snap returns the time of the bar edge nearest to x, preferring the row at y; the time
// at x if there is none.
func (p *Timeline) snap(u *ui.UI, x, y float32) int64 {
	at := p.TimeAt(x)
	if p.Plan == nil {
		return at
	}
	ps := float64(p.View.Span()) / float64(p.LaneWidth())
	s := snapper{at: at, reach: int64(ps * float64(u.Px(snapReach))), least: int64(ps * float64(u.Px(snapBar))), best: at, dist: math.MaxInt64}
	if i := p.Plan.RowAt(int(y), p.View.Scroll); i >= 0 && y >= 0 {
		s.row(p.Rec, &p.Plan.Rows[i])
	}
	if s.dist > s.reach {
		for i := 0; i < len(p.Plan.Rows) && p.Plan.Holds(&p.Plan.Rows[i]); i++ {
			s.row(p.Rec, &p.Plan.Rows[i])
		}
		for i := max(0, p.Plan.At(p.View.Scroll+p.Plan.Held)); i < len(p.Plan.Rows) && p.Plan.Rows[i].Y < p.View.Scroll+p.Bounds.Lanes.Dy(); i++ {
			s.row(p.Rec, &p.Plan.Rows[i])
		}
	}
	return s.best
}

// snapper finds the edge nearest to a time.
type snapper struct {
	at, reach, least, best, dist int64
}

func (s *snapper) edge(t int64) {
	if d := max(t-s.at, s.at-t); d <= s.reach && d < s.dist {
		s.best, s.dist = t, d
	}
}

func (s *snapper) row(rec *recording.Recording, r *timeline.Row) {
	switch r.Kind {
	case timeline.TrackRow:
		t := rec.Tracks[r.Index]
		for lane := range min(r.SpanLanes, len(t.Lanes)) {
			l := &t.Lanes[lane]
			i := l.Search(s.at)
			for k := max(0, i-1); k < min(l.Len(), i+2); k++ {
				if l.End(k)-l.Start(k) >= s.least {
					s.edge(l.Start(k))
					s.edge(l.End(k))
				}
			}
		}
	case timeline.WindowRow:
		for _, w := range rec.Windows[r.Index].Windows {
			if w.End-w.Start >= s.least {
				s.edge(w.Start)
				s.edge(w.End)
			}
		}
	}
}

// Extend moves the end of the selected range by a share of the view. Without a range, it
// makes one from the selection.
func (p *Timeline) Extend(share float64) {
	if !p.Timed() {
		return
	}
	if !p.Scope.Ranged {
		p.beginRange()
	}
	_, to := p.rangeEnds()
	p.rangeTo(to + int64(share*float64(p.View.Span())))
}

// ExtendToEdge moves the end of the selected range to the next span edge in the selected
// row, or in all rows.
func (p *Timeline) ExtendToEdge(next bool) {
	if !p.Timed() {
		return
	}
	if !p.Scope.Ranged {
		p.beginRange()
	}
	_, end := p.rangeEnds()
	best, found := end, false
	look := func(t int64) {
		if next && t > end && (!found || t < best) || !next && t < end && (!found || t > best) {
			best, found = t, true
		}
	}
	for i := range p.Plan.Rows {
		r := &p.Plan.Rows[i]
		if r.Kind != timeline.TrackRow || p.Pick.Kind == panel.PickBar && r.Index != p.Pick.Hit.Track {
			continue
		}
		t := p.Rec.Tracks[r.Index]
		for lane := range min(r.Lanes, len(t.Lanes)) {
			if p.Pick.Kind == panel.PickBar && lane > p.Pick.Hit.Lane {
				break // lanes below the picked one would add too many edges
			}
			l := &t.Lanes[lane]
			k := l.Search(end)
			for _, k := range []int{k - 1, k, k + 1} {
				if k >= 0 && k < l.Len() {
					look(l.Start(k))
					look(l.End(k))
				}
			}
		}
	}
	if found {
		p.rangeTo(best)
	}
}

// beginRange starts an empty range at the time last jumped to, at the selected item, or in
// the middle of the view.
func (p *Timeline) beginRange() {
	at, _ := p.reference()
	if at < p.View.From || at > p.View.To {
		at = p.View.From + p.View.Span()/2
	}
	if p.Pick.Kind == panel.PickBar && p.Pick.Hit.Start == at {
		p.Scope.Ranged, p.Scope.From, p.Scope.To = true, at, min(p.Pick.Hit.End, p.Rec.End)
	} else {
		p.Scope.Ranged, p.Scope.From, p.Scope.To = true, at, at
	}
	p.rangeFrom = at
}

// rangeEnds returns the end where the selected range was begun and the end that keys
// move.
func (p *Timeline) rangeEnds() (fixed, moving int64) {
	if p.rangeFrom == p.Scope.To && p.Scope.To != p.Scope.From {
		return p.Scope.To, p.Scope.From
	}
	return p.Scope.From, p.Scope.To
}

func (p *Timeline) rangeTo(at int64) {
	fixed, _ := p.rangeEnds()
	p.SelectRange(fixed, at)
	p.Scope.Ranged = true // the range is set even if it is empty
	p.rangeFrom = fixed
	at = min(max(at, p.Rec.Start), p.Rec.End)
	// Keep the moving end in view.
	if at > p.View.To || at < p.View.From {
		p.View.From, p.View.To = at-p.View.Span()/2, at+p.View.Span()/2
		p.View = p.View.Clamp(p.ViewLimits())
		p.Moved = true
	}
}
