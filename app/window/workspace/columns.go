package workspace

import (
	"image"

	"ashlar/app/window/panel"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// Usual widths of the details in dp, see [panel.Columns].
const (
	detailsWidth    = 300
	comparedDetails = detailsWidth + 20 // with a second number in each line
)

// borders are the draggable borders of the columns: of the names, one for each side of a
// comparison, and of the details.
type borders struct {
	names   [2]widget.Border
	details widget.Border
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
	x, moved, reset := d.borders.names[side].Layout(u, r)
	switch {
	case reset:
		d.Columns.Gutter = 0
	case moved:
		most := float32(at.Lanes.Dx()/2) / u.Metric.PxPerDp
		d.Columns.Gutter = max(panel.LeastGutter, min((x-float32(at.Lanes.Min.X))/u.Metric.PxPerDp, most))
	}
}

// borderOfDetails makes the left border of the details draggable.
func (d *Workspace) borderOfDetails(u *ui.UI, r image.Rectangle) {
	if r.Empty() {
		return
	}
	x, moved, reset := d.borders.details.Layout(u, r)
	switch {
	case reset:
		d.Columns.Details = 0
	case moved:
		most := float32(d.Size.X/2) / u.Metric.PxPerDp
		d.Columns.Details = max(panel.LeastDetails, min((float32(r.Max.X)-x)/u.Metric.PxPerDp, most))
	}
}
