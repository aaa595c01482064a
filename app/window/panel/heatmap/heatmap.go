// Package heatmap implements the panel that shows when samples fell or spans began.
package heatmap

import (
	"image"

	"gioui.org/io/event"
	"gioui.org/io/pointer"

	"ashlar/app/core/session"
	"ashlar/app/window/panel"
	"ashlar/render/heatmap"
	"ashlar/render/raster"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// Panel is a heatmap of the times at which samples fell or spans began, with time folded
// into columns; dragging over it selects a range.
type Panel struct {
	widget.Drag
	pic  heatmap.Picture
	kept widget.Kept[heatKey]
}

// heatKey holds everything that the picture depends on, to detect when it is out of date.
type heatKey struct {
	grid     *heatmap.Grid
	theme    *theme.Theme
	scale    float32
	selected bool
	from, to int64
	size     image.Point
}

func (t *Panel) Layout(s *panel.Host, p *panel.Side, u *ui.UI, r image.Rectangle) {
	a := p.Doc.Answer()
	for {
		g, _, ok := t.Next(u, r.Min)
		if !ok {
			break
		}
		if a == nil || a.Grid == nil || t.pic.Grid != a.Grid {
			continue
		}
		switch g {
		case widget.Dragged, widget.Dropped:
			from, ok1 := t.pic.At(int(t.Start.X), int(t.Start.Y))
			to, ok2 := t.pic.At(int(t.At.X), int(t.At.Y))
			if ok1 && ok2 {
				p.SelectRange(a.Grid.Range(from, to))
			}
		case widget.Clicked:
			p.Scope.Ranged = false
		case widget.DoubleClicked:
			if c, ok := t.pic.At(int(t.At.X), int(t.At.Y)); ok {
				p.Fit(a.Grid.Time(c))
			}
		}
	}
	if !p.Rec.HasTime && p.Rec.Done {
		t.pic.Grid = nil
		widget.Empty(u, r, "No heatmap", "Aggregated profile: no timestamps, so no heatmap")
		return
	}
	if a == nil || a.Grid == nil {
		p.Wait(u, r)
		return
	}
	if said, hint := a.Grid.Empty(); said != "" {
		t.pic.Grid = nil
		widget.Empty(u, r, said, hint)
		return
	}
	k := heatKey{a.Grid, u.Theme, u.Metric.PxPerDp, p.Scope.Ranged, p.Scope.From, p.Scope.To, r.Size()}
	u.Draw(t.kept.Get(u, k, r.Size(), func(on raster.Surface) {
		t.pic = heatmap.Picture{Grid: k.grid, Theme: k.theme, Font: s.Fonts.Regular(11 * k.scale), Scale: k.scale,
			Selected: k.selected, From: k.from, To: k.to}
		t.pic.Paint(on)
	}), r.Min)
	t.Area(u, r, pointer.CursorCrosshair)
}

// Tooltip shows the number of samples or spans in a cell, and its time.
func (t *Panel) Tooltip(s *panel.Host, p *panel.Side, u *ui.UI) {
	if !t.Inside || t.Pressed || p.Tab != panel.Heatmap || s.Menu != nil || s.Help || t.pic.Grid == nil {
		return
	}
	if c, ok := t.pic.At(int(t.At.X), int(t.At.Y)); ok {
		from, to := t.pic.Grid.Time(c)
		widget.Tip(u, widget.Point(p.Bounds.Lower.Min, t.At), units.Count(t.pic.Grid.Count(c)),
			[]string{"from " + units.Duration(from-p.Rec.Start) + ", for " + units.Duration(to-from)})
	}
}

// Ask asks when samples fell.
func (t *Panel) Ask(p *panel.Side, q *session.Question) { q.Heat = p.Rec.HasTime }

// Areas returns the areas that focus the panel when clicked.
func (t *Panel) Areas() []event.Tag { return []event.Tag{&t.Drag} }
