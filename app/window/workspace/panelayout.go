package workspace

import (
	"image"

	"ashlar/app/window/panel"
	lanes "ashlar/app/window/timeline"
	"ashlar/render/flame"
	"ashlar/render/timeline"
	"ashlar/render/ui"
)

// place divides r among the parts.
func (p *Pane) place(d *Workspace, u *ui.UI, r image.Rectangle) {
	b := &p.Bounds
	*b = panel.PaneBounds{Gutter: d.Columns.GutterWidth(u, timeline.GutterWidth, r.Dx())}
	cut := r.Max.Y
	switch {
	case !d.View.Above():
		cut = r.Min.Y
	case d.View == Both && p.Timed():
		cut = r.Min.Y + p.timelineHeight(u, r.Dy())
	case d.View == Both:
		cut = r.Min.Y + u.Px(44)
	}
	if d.View.Above() {
		p.PlaceTimeline(u, image.Rect(r.Min.X, r.Min.Y, r.Max.X, cut))
	}
	var of *ofTwo
	if p.ScopeComparison != nil {
		of = &p.ScopeComparison.ofTwo
	}
	b.LowerBounds = d.placeLower(u, r, cut, detailsWidth, of)
}

// placeLower divides the area below cut into the tabs with the rows below them, the
// panel, and a column of details beside it, usually details dp wide. of is the comparison
// whose verdict is shown, nil for none.
func (d *Workspace) placeLower(u *ui.UI, r image.Rectangle, cut int, details float32, of *ofTwo) (b panel.LowerBounds) {
	if !d.View.below() {
		return b
	}
	r.Min.Y = cut
	if d.View == Both {
		b.Tabs = image.Rect(r.Min.X, cut, r.Max.X, cut+u.Px(tabsHeight))
		if r.Min.Y = scopeRow(u, b.Tabs).Max.Y; of != nil {
			r.Min.Y = of.verdictRow(d, u, b.Tabs).Max.Y
		}
		b.Side = r
		b.Side.Min.X = r.Max.X - d.Columns.DetailsWidth(u, details, r.Dx())
		r.Max.X = b.Side.Min.X
	}
	b.Lower = r
	return b
}

// timelineShare is the part of the height that the timeline takes if the user chose none
// and the panel below needs the rest.
const timelineShare = 11. / 20

// timelineRoom returns the maximum height of a timeline's lanes in a pane of the given
// height, in pixels, regardless of their content.
func (d *Workspace) timelineRoom(u *ui.UI, height int) int {
	if d.View == Both {
		height = int(float32(height) * timelineShare)
	}
	return height - timelineStrips(u)
}

// timelineStrips returns the height of the strips above the lanes.
func timelineStrips(u *ui.UI) int {
	return u.Px(lanes.OverviewTop + timeline.OverviewHeight + 2 + timeline.RulerHeight)
}

// timelineHeight returns the timeline's part of height, in pixels: the share the user
// chose, else the height of its rows, limited to leave enough for the flamegraph.
func (p *Pane) timelineHeight(u *ui.UI, height int) int {
	least, most := u.Px(130), height-u.Px(120)
	if p.Split > 0 {
		return max(least, min(int(float32(height)*p.Split), most))
	}
	strips := timelineStrips(u)
	want := strips + u.Px(60)
	if p.Plan != nil {
		want = strips + p.Plan.Height + u.Px(8)
	}
	// The border should not move while the user types a filter.
	if p.Filter == "" {
		p.Unfiltered = want
	} else {
		want = max(want, p.Unfiltered)
	}
	share := int(float32(height) * timelineShare)
	if want > share {
		// Take more than the share only if the flamegraph does not need it.
		below := u.Px(lowerHead + 220)
		// Use the depth of the whole flamegraph, even in another tab, so that the border
		// does not move with the selection.
		if a := p.Doc.Answer(); a != nil && (p.deepest == 0 || a.Scope.IsWhole() && p.Scope.IsWhole()) {
			p.deepest = a.Tree.Depth
		}
		if p.deepest > 0 {
			below = max(below, u.Px(lowerHead+2*panel.FlamePad)+flame.HeightOf(p.deepest, u.Metric.PxPerDp))
		}
		want = max(share, min(want, height-below))
	}
	return max(least, min(want, most))
}
