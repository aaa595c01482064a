package timeline

import (
	"context"
	"image"
	"math"

	"ashlar/app/window/panel"
	"ashlar/ingest/query/spans"
	"ashlar/render/timeline"
	"ashlar/render/ui"
)

// OverviewTop is the space above the overview, in dp.
const OverviewTop = 6

// LaneWidth returns the width of the time axis, in pixels.
func (p *Timeline) LaneWidth() int { return max(1, p.Bounds.Lanes.Dx()-p.Bounds.Gutter) }

// ZoomAt zooms by a factor at x, in pixels from the right edge of the names.
func (p *Timeline) ZoomAt(factor, x float64) {
	from, to := p.ViewLimits()
	p.View = p.View.Zoom(factor, x, p.LaneWidth(), from, to)
	p.Moved = true
}

// ZoomBy zooms at the pointer when it is over the lanes, else in the middle.
func (p *Timeline) ZoomBy(factor float64) {
	x := float64(p.LaneWidth()) / 2
	if p.Inside && p.At.X > float32(p.Bounds.Gutter) {
		x = float64(p.At.X) - float64(p.Bounds.Gutter)
	}
	p.ZoomAt(factor, x)
}

// PanBy moves the view by a share of its width.
func (p *Timeline) PanBy(share float64) {
	w := p.LaneWidth()
	from, to := p.ViewLimits()
	p.View = p.View.Pan(share*float64(w), w, from, to)
	p.Moved = true
}

// ScrollTo scrolls the rows to y, in pixels, or as far as possible.
func (p *Timeline) ScrollTo(y int) { p.View.Scroll = p.scrollLimit(y) }

// scrollLimit keeps rows from being scrolled past their end.
func (p *Timeline) scrollLimit(y int) int {
	most := 0
	if p.Plan != nil {
		most = max(0, p.Plan.Height-p.Bounds.Lanes.Dy())
	}
	return max(0, min(y, most))
}

// FitAll shows everything.
func (p *Timeline) FitAll() {
	p.FitFirst()
	if from, to := p.Extent(); p.View != p.View.Fit(from, to) {
		p.Fit(from, to)
	}
}

// FitFirst shows what is shown first: everything but a few events far from all others.
func (p *Timeline) FitFirst() {
	p.View = p.View.Fit(p.FirstExtent())
	p.Moved = false
	p.ZoomTo(nil)
}

// FirstExtent returns the extent of the first view.
func (p *Timeline) FirstExtent() (from, to int64) {
	if p.First[0] < p.First[1] {
		return p.First[0], p.First[1]
	}
	from, to = p.Extent()
	if from == p.Rec.Start && to == p.Rec.End {
		return p.CoreExtent()
	}
	return from, to
}

// CoreExtent returns the extent of the recording without a few events far from all others, once
// these are known.
func (p *Timeline) CoreExtent() (from, to int64) {
	if p.coreOf != p.Rec {
		return p.Rec.Start, p.Rec.End
	}
	return p.Core.From, p.Core.To
}

// AnchorAtCore aligns the recording in a comparison at its first event that is not far from all
// others.
func (p *Timeline) AnchorAtCore() {
	from, _ := p.CoreExtent()
	p.Anchor = from - p.Rec.Start
}

// FindCore looks for a few events far from all others and moves the view, unless the user
// has, to the others.
func (p *Timeline) FindCore(wake func()) {
	rec := p.Rec
	if !rec.Done || !rec.HasTime || p.coreOf == rec {
		return
	}
	c, of, ok := p.cores.Ask(rec, wake, func(context.Context) (spans.Core, error) { return spans.NewCore(rec), nil })
	if !ok || of != rec {
		return
	}
	if p.Core, p.coreOf = c, rec; !p.Moved && c.Before+c.After > 0 {
		if p.Linkable && p.Anchor == 0 {
			p.AnchorAtCore()
		}
		p.View = p.View.Fit(p.FirstExtent())
	}
}

// FitSelection zooms to the selected range, else to the picked bar.
func (p *Timeline) FitSelection() {
	switch {
	case p.Pick.Kind != panel.PickNone && p.Pick.Kind != panel.PickNode && p.Pick.Hit.End > p.Pick.Hit.Start:
		p.ZoomToBar(&p.Pick.Hit)
	case p.Scope.Ranged:
		p.Fit(p.Scope.From, p.Scope.To)
	}
}

// ZoomToBar zooms to a bar and opens the lanes of its thread below it.
func (p *Timeline) ZoomToBar(h *timeline.Hit) {
	p.Fit(h.Start, h.End)
	if p.Plan == nil || !h.Found {
		return
	}
	if i := p.rowOf(h); i >= 0 && p.Plan.Rows[i].Kind == timeline.TrackRow && p.Plan.Rows[i].Lanes < p.Plan.Rows[i].All {
		p.Folds = With(p.Folds, h.Track, timeline.Full)
	}
}

func clampInt64(f float64) int64 {
	return int64(math.Max(math.MinInt64/4, math.Min(math.MaxInt64/4, f)))
}

// Extent returns the time range of the unzoomed view: the recording's, or that of the
// opened part.
func (p *Timeline) Extent() (from, to int64) {
	from, to = p.ViewLimits()
	if !p.Part.Range.IsSet() {
		return from, to
	}
	a, b := p.Part.Ends(p.Rec)
	if a, b = min(to, a), min(to, b); a < b {
		return a, b
	}
	return from, to // nothing of the part has been read yet
}

// SelectPart selects the time range that was opened, so that answers cover exactly that
// range: spans that reach into it were read in full.
func (p *Timeline) SelectPart() {
	if from, to := p.Extent(); p.Part.Range.IsSet() && p.Rec.HasTime && from < to && p.Scope.IsWhole() {
		p.SelectRange(from, to)
	}
}

// PlaceTimeline divides r among overview, ruler and lanes.
func (p *Timeline) PlaceTimeline(u *ui.UI, r image.Rectangle) {
	b := &p.Bounds
	if !p.Timed() {
		b.Lanes = r
		return
	}
	right := r.Max.X - u.Px(timeline.MapWidth+4)
	y := r.Min.Y + u.Px(OverviewTop)
	b.Overview = image.Rect(r.Min.X, y, right, y+u.Px(timeline.OverviewHeight))
	y = b.Overview.Max.Y + u.Px(2)
	b.Ruler = image.Rect(r.Min.X, y, right, y+u.Px(timeline.RulerHeight))
	b.Lanes = image.Rect(r.Min.X, b.Ruler.Max.Y, right, r.Max.Y)
	b.Rows = image.Rect(right+u.Px(2), b.Lanes.Min.Y, r.Max.X-u.Px(2), r.Max.Y-u.Px(2))
}

// Timed reports whether there is a timeline to draw.
func (p *Timeline) Timed() bool { return p.Plan != nil && p.Plan.Empty == "" }
