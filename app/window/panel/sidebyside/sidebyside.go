// Package sidebyside shows a panel for two recordings next to each other.
package sidebyside

import (
	"image"

	"gioui.org/io/event"
	"gioui.org/io/key"

	"ashlar/app/window/comparison"
	"ashlar/app/window/panel"
	"ashlar/render/ui"
)

// Panel shows a panel of one recording twice, side by side, once for each of two
// recordings.
type Panel struct {
	of     [2]panel.Panel[*panel.Side]
	zoomed [2]panel.PathCache
	failed bool // also show sides whose file cannot be read
}

// New returns a panel that shows two panels made by of. With failed, sides whose file
// cannot be read are drawn too.
func New(failed bool, of func() panel.Panel[*panel.Side]) *Panel {
	return &Panel{of: [2]panel.Panel[*panel.Side]{of(), of()}, failed: failed}
}

// Layout draws both.
func (e *Panel) Layout(s *panel.Host, c *comparison.Comparison, u *ui.UI, r image.Rectangle) {
	e.share(c)
	mid := (r.Min.X + r.Max.X) / 2
	for i, half := range []image.Rectangle{image.Rect(r.Min.X, r.Min.Y, mid, r.Max.Y), image.Rect(mid, r.Min.Y, r.Max.X, r.Max.Y)} {
		p := c.Sides[i]
		if p.Bounds.Lower = half; !e.failed && p.Doc.Err() != nil && !p.Rec.Done {
			u.Text(half, comparison.SideName(i)+" cannot be shown", ui.Style{Size: 13, Color: u.Theme.Dim, Align: ui.Middle})
			continue
		}
		e.of[i].Layout(s, p, u, half)
	}
	u.VLine(mid, r.Min.Y, r.Max.Y, u.Theme.Rule)
}

// share makes equal widths stand for equal normalized weights on both sides: the heavier
// side fills its width, the other leaves space.
func (e *Panel) share(c *comparison.Comparison) {
	var weights [2]float64
	both := c.Answer()
	for i, p := range c.Sides {
		p.Share = 0
		if a := p.Doc.Answer(); a != nil && both != nil {
			t := a.Tree.Nodes
			part := float64(t[e.zoomed[i].Node(a.Rec, a.Tree, p.Zoom)].Gross) / float64(max(1, t[0].Gross))
			weights[i] = part * float64([]int64{both.A.Total, both.B.Total}[i])
		}
	}
	if min(weights[0], weights[1]) > 0 {
		for i, p := range c.Sides {
			p.Share = weights[i] / max(weights[0], weights[1])
		}
	}
}

// Events handles the pointer on either side.
func (e *Panel) Events(s *panel.Host, c *comparison.Comparison, u *ui.UI) {
	for i, x := range e.of {
		if x, ok := x.(panel.Pointed[*panel.Side]); ok {
			x.Events(s, c.Sides[i], u)
		}
		if x, ok := x.(panel.Hovered[*panel.Side]); ok {
			if f, ok := x.Hover(c.Sides[i]); ok {
				c.Hover = c.Key(c.Answer(), i, f)
			}
		}
		if x, ok := x.(panel.Holdable); ok && x.Held() {
			c.Held = i
		}
	}
}

// Key passes the key to the focused side.
func (e *Panel) Key(c *comparison.Comparison, k key.Event, row int) bool {
	x, ok := e.of[c.Focus].(panel.Keyed[*panel.Side])
	return ok && x.Key(c.Sides[c.Focus], k, row)
}

// Tooltip draws the tooltip of either side.
func (e *Panel) Tooltip(s *panel.Host, c *comparison.Comparison, u *ui.UI) {
	for i, x := range e.of {
		if x, ok := x.(panel.Tipped[*panel.Side]); ok {
			x.Tooltip(s, c.Sides[i], u)
		}
	}
}

// Scroll returns the scroll position of the focused side.
func (e *Panel) Scroll(c *comparison.Comparison) *int {
	if x, ok := e.of[c.Focus].(panel.Scrolled[*panel.Side]); ok {
		return x.Scroll(c.Sides[c.Focus])
	}
	return nil
}

// Areas returns the areas in which a press gives the panels the keyboard focus.
func (e *Panel) Areas() (tags []event.Tag) {
	for _, x := range e.of {
		if x, ok := x.(panel.Areas); ok {
			tags = append(tags, x.Areas()...)
		}
	}
	return tags
}
