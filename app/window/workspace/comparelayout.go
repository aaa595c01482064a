package workspace

import (
	"image"

	"ashlar/app/window/comparison"
	"ashlar/app/window/panel"
	"ashlar/app/window/panel/difference"
	lanes "ashlar/app/window/timeline"
	"ashlar/ingest/query/compare/match"
	"ashlar/render/flame"
	"ashlar/render/theme"
	"ashlar/render/timeline"
	"ashlar/render/ui"
)

// timed reports whether there is any timeline.
func (c *Comparison) timed() bool { return c.Panes[0].Timed() || c.Panes[1].Timed() }

// Widths and heights, in dp.
const (
	headHeight     = 30
	compareGutter  = 128 // space is short: two timelines side by side
	untimedHeight  = 40
	failedHeight   = 150 // height of the message why a file cannot be shown
	leastTimelines = 130
	leastAbove     = 96 // height of each of two timelines, one above the other
)

// place divides r among the parts.
func (c *Comparison) place(d *Workspace, u *ui.UI, r image.Rectangle) {
	b := &c.Bounds
	*b = compareBounds{}
	cut := r.Max.Y
	switch {
	case !d.View.Above():
		cut = r.Min.Y
	case d.View == Both && c.timed():
		cut = r.Min.Y + c.timelinesHeight(u, r.Dy())
	case d.View == Both && c.Above:
		cut = r.Min.Y + c.fullHeight(u, 0) + c.fullHeight(u, 1)
	case d.View == Both:
		cut = r.Min.Y + max(c.fullHeight(u, 0), c.fullHeight(u, 1))
	}
	for i, half := range c.halves(u, image.Rect(r.Min.X, r.Min.Y, r.Max.X, cut)) {
		y := half.Min.Y
		if d.View.Above() {
			y += u.Px(headHeight)
			b.Heads[i] = image.Rect(half.Min.X, half.Min.Y, half.Max.X, y)
		}
		b.halves[i] = image.Rect(half.Min.X, y, half.Max.X, max(y, half.Max.Y))
		p := c.Panes[i]
		p.Bounds = panel.PaneBounds{Gutter: c.gutter(d, u, half.Dx())}
		if d.View.Above() {
			p.PlaceTimeline(u, b.halves[i])
		}
	}
	b.LowerBounds = d.placeLower(u, r, cut, comparedDetails, &c.ofTwo)
}

// gutter returns the width of the names' column of both timelines, which are width wide.
// It is the same for both, so that linked timelines above each other show a time at the
// same x position.
func (c *Comparison) gutter(d *Workspace, u *ui.UI, width int) int {
	if c.Above {
		return d.Columns.GutterWidth(u, timeline.GutterWidth, width)
	}
	return d.Columns.GutterWidth(u, compareGutter, width-width%2)
}

// halves returns the positions of the sides: side by side, or A above B.
func (c *Comparison) halves(u *ui.UI, r image.Rectangle) [2]image.Rectangle {
	if !c.Above {
		mid := (r.Min.X + r.Max.X) / 2
		return [2]image.Rectangle{image.Rect(r.Min.X, r.Min.Y, mid, r.Max.Y), image.Rect(mid+1, r.Min.Y, r.Max.X, r.Max.Y)}
	}
	// Each side gets the height of its rows if that fits. Otherwise it gets half of the
	// space, or more if the other side needs less.
	wants := [2]int{c.fullHeight(u, 0), c.fullHeight(u, 1)}
	top := r.Dy() / 2
	switch {
	case wants[0] < top:
		top = wants[0]
	case wants[1] < r.Dy()-top:
		top = r.Dy() - wants[1]
	}
	if spare := r.Dy() - wants[0] - wants[1]; spare > 0 {
		top = wants[0] + spare/2
	}
	at := r.Min.Y + top
	return [2]image.Rectangle{image.Rect(r.Min.X, r.Min.Y, r.Max.X, at), image.Rect(r.Min.X, at, r.Max.X, r.Max.Y)}
}

// fullHeight returns the height of a side with all its rows.
func (c *Comparison) fullHeight(u *ui.UI, i int) int {
	p := c.Panes[i]
	if p.Doc.Err() != nil && !p.Rec.Done {
		return u.Px(headHeight + failedHeight)
	}
	if !p.Timed() {
		return u.Px(headHeight + untimedHeight)
	}
	return u.Px(headHeight+lanes.OverviewTop+timeline.OverviewHeight+2+timeline.RulerHeight) + p.Plan.Height + u.Px(8)
}

// timelinesHeight returns the timelines' part of height, in pixels: the height of their
// rows, but at most half of height (two thirds if one timeline is above the other), or
// more if the flamegraph leaves more.
func (c *Comparison) timelinesHeight(u *ui.UI, height int) int {
	least, most := u.Px(leastTimelines), height-u.Px(120)
	want, share := max(c.fullHeight(u, 0), c.fullHeight(u, 1)), height/2
	if c.Above {
		least = 2 * u.Px(headHeight+leastAbove)
		want, share = c.fullHeight(u, 0)+c.fullHeight(u, 1), height*2/3
	}
	if c.Split > 0 {
		return max(least, min(int(float32(height)*c.Split), most))
	}
	below := u.Px(lowerHead + comparison.VerdictHeight + 220)
	if a := c.Answer(); a != nil {
		below = max(below, u.Px(lowerHead+comparison.VerdictHeight+2*panel.FlamePad+difference.LegendHeight)+flame.HeightOf(a.Shape.Depth, u.Metric.PxPerDp))
	}
	return max(least, min(want, max(share, height-below), most))
}

// half draws one side's timeline, or the reason why there is none.
func (c *Comparison) half(d *Workspace, u *ui.UI, i int, p *Pane) {
	c.head(d, u, i)
	if err := p.Doc.Err(); err != nil && !p.Rec.Done {
		p.failed(u, c.Bounds.halves[i], err)
	} else {
		p.Layout(&d.Host, u)
		c.drawAnchor(u, i)
	}
	if i == 1 {
		h := c.Bounds.Heads[i]
		if c.Above {
			u.HLine(h.Min.X, h.Max.X, h.Min.Y, u.Theme.Rule)
		} else {
			u.VLine(h.Min.X-1, h.Min.Y, c.Bounds.halves[i].Max.Y, u.Theme.Rule)
		}
		c.linkPill(u)
	}
}

// rowsKey holds everything that determines the order of B's rows.
type rowsKey struct {
	threads *match.Matching
	plan    *timeline.Plan // A's
	sort    timeline.Sort  // B's
}

// rowsAlike sorts B's threads like the matching threads of A, unless the user has chosen
// an order for B.
func (c *Comparison) rowsAlike() {
	a, b := c.Panes[0], c.Panes[1]
	ans := c.Answer()
	if !c.IsCurrent(ans) || a.Plan == nil {
		return
	}
	k := rowsKey{ans.Threads, a.Plan, b.Sort}
	if c.rowsOf == k {
		return
	}
	c.rowsOf, b.Like = k, nil
	if a.Sort != b.Sort {
		return
	}
	for i := range k.plan.Rows {
		if r := &k.plan.Rows[i]; r.Kind == timeline.TrackRow {
			b.Like = append(b.Like, comparison.MatchingTracks(ans, 0, []int{r.Index})...)
		}
	}
}

// guide draws a line through both timelines at the pointer, to help compare them, if they
// are linked and one is above the other.
func (c *Comparison) guide(u *ui.UI) {
	if !c.Above || !c.Linked || !c.pilled() {
		return
	}
	for i, p := range c.Panes {
		x := int(p.At.X)
		if !p.Inside || x <= p.Bounds.Gutter {
			continue
		}
		for k, q := range c.Panes {
			b := &q.Bounds
			color := theme.WithAlpha(u.Theme.Text, .35)
			if k != i {
				color = theme.WithAlpha(u.Theme.Text, .6)
			}
			u.VLine(b.Lanes.Min.X+x, b.Ruler.Min.Y, b.Lanes.Max.Y, color)
		}
	}
}
