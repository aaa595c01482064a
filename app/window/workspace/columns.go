package workspace

import (
	"image"

	"gioui.org/io/pointer"

	"ashlar/app/window/panel"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// Columns are the widths, in dp, of the threads' names and of the details; 0 stands for a
// width that grows with the window.
type Columns struct{ Gutter, Details float32 }

// Limits of the widths, in dp. On screen, a column takes at most half of the window.
const (
	leastGutter, leastDetails = 90, 160
	mostColumn                = 2000
	detailsWidth              = 300
	comparedDetails           = detailsWidth + 20 // with a second number in each line
	// wideWindow is the width above which the columns grow: by one dp for every
	// gutterGrowth or detailsGrowth dp of the window.
	wideWindow, gutterGrowth, detailsGrowth = 1400, 9, 7
)

// Clamped returns the widths within their limits; settings may contain any number.
func (c Columns) Clamped() Columns {
	within := func(v, least float32) float32 {
		if !(v > 0) {
			return 0
		}
		return max(least, min(v, mostColumn))
	}
	return Columns{within(c.Gutter, leastGutter), within(c.Details, leastDetails)}
}

// gutter returns the width of the names, in pixels, beside a timeline that is width pixels
// wide together with them. usual is the width in a narrow window, in dp.
func (c Columns) gutter(u *ui.UI, usual float32, width int) int {
	if c.Gutter > 0 {
		return min(u.Px(c.Gutter), width/2)
	}
	return u.Px(usual) + max(0, width-u.Px(wideWindow))/gutterGrowth
}

// details returns the width of the details, in pixels, in a window width pixels wide. usual
// is the width in a narrow window, in dp.
func (c Columns) details(u *ui.UI, usual float32, width int) int {
	if c.Details > 0 {
		return min(u.Px(c.Details), width/2)
	}
	return min(u.Px(usual)+max(0, width-u.Px(wideWindow))/detailsGrowth, width/3)
}

// border is the draggable vertical border of a column.
type border struct {
	widget.Drag
	grip float32 // distance of the border from the pressed point, in pixels
}

// layout handles drags of the border, which is at the left of r. It reports whether the
// border is to move to a new position, and whether a double click resets it.
func (b *border) layout(u *ui.UI, r image.Rectangle) (x float32, moved, reset bool) {
	for {
		g, _, ok := b.Next(u, image.Point{})
		if !ok {
			break
		}
		switch g {
		case widget.Pressed:
			b.grip = float32(r.Min.X) - b.At.X
		case widget.Dragged:
			x, moved = b.At.X+b.grip, true
		case widget.DoubleClicked:
			reset = true
		}
	}
	if b.Pressed || b.Inside {
		u.Fill(image.Rect(r.Min.X-u.Px(1), r.Min.Y, r.Min.X+u.Px(1), r.Max.Y), theme.WithAlpha(u.Theme.Accent, .7))
	}
	b.Area(u, image.Rect(r.Min.X-u.Px(4), r.Min.Y, r.Min.X+u.Px(4), r.Max.Y), pointer.CursorColResize)
	return x, moved, reset
}

// borders are the borders of the names, one a side, and of the details.
type borders struct {
	names   [2]border
	details border
}

// Resizing reports whether a border of a column is being dragged.
func (d *Workspace) Resizing() bool {
	return d.borders.names[0].Pressed || d.borders.names[1].Pressed || d.borders.details.Pressed
}

// borderOfNames makes the right border of a timeline's names draggable.
func (d *Workspace) borderOfNames(u *ui.UI, side int, at *panel.PaneBounds) {
	if at.Overview.Empty() { // there is no timeline
		return
	}
	r := at.Lanes
	r.Min.X += at.Gutter
	x, moved, reset := d.borders.names[side].layout(u, r)
	switch {
	case reset:
		d.Columns.Gutter = 0
	case moved:
		most := float32(at.Lanes.Dx()/2) / u.Metric.PxPerDp
		d.Columns.Gutter = max(leastGutter, min((x-float32(at.Lanes.Min.X))/u.Metric.PxPerDp, most))
	}
}

// borderOfDetails makes the left border of the details draggable.
func (d *Workspace) borderOfDetails(u *ui.UI, r image.Rectangle) {
	if r.Empty() {
		return
	}
	x, moved, reset := d.borders.details.layout(u, r)
	switch {
	case reset:
		d.Columns.Details = 0
	case moved:
		most := float32(d.Size.X/2) / u.Metric.PxPerDp
		d.Columns.Details = max(leastDetails, min((float32(r.Max.X)-x)/u.Metric.PxPerDp, most))
	}
}
