package query

import (
	"image"
	"math"
	"strconv"

	"gioui.org/io/pointer"

	"ashlar/app/window/panel"
	"ashlar/ingest/model/relation"
	"ashlar/ingest/query/sql"
	"ashlar/render/raster"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/units"
	"ashlar/render/widget"
)

// points are the first two columns of numbers of an answer, x and y. Of a single column the
// rows are numbered.
type points struct {
	x, y      int // columns; x is -1 for the numbers of the rows
	low, high [2]float64
	rising    bool // x never falls from row to row
	ok        bool
}

// number returns a value as a number, false for NULL and texts.
func number(v relation.Value) (float64, bool) {
	switch {
	case v.Null || v.Type == relation.Text:
		return 0, false
	case v.Type == relation.Real:
		return v.Real, !math.IsInf(v.Real, 0) && !math.IsNaN(v.Real)
	}
	return float64(v.Int), true
}

// at returns the point of a row, false if it has none.
func (p *points) at(a *answer, row int) (at [2]float64, ok bool) {
	at[0], ok = float64(row), true
	if p.x >= 0 {
		at[0], ok = number(a.Rows[row][p.x])
	}
	y, known := number(a.Rows[row][p.y])
	at[1] = y
	return at, ok && known
}

func pointsOf(a *answer) points {
	p := points{x: -1, y: -1, rising: true, low: [2]float64{math.Inf(1), math.Inf(1)}, high: [2]float64{math.Inf(-1), math.Inf(-1)}}
	for c, is := range a.numeric {
		switch {
		case !is:
		case p.y < 0:
			p.y = c
		case p.x < 0:
			p.x, p.y = p.y, c
		}
	}
	if p.y < 0 {
		return p
	}
	last := math.Inf(-1)
	for i := range a.Rows {
		at, ok := p.at(a, i)
		if !ok {
			continue
		}
		p.ok = true
		for k := range at {
			p.low[k], p.high[k] = min(p.low[k], at[k]), max(p.high[k], at[k])
		}
		p.rising = p.rising && at[0] >= last
		last = at[0]
	}
	return p
}

// name returns the name of an axis, and text a value on it.
func (p *points) name(a *answer, axis int) string {
	if c := [2]int{p.x, p.y}[axis]; c >= 0 {
		return a.Columns[c]
	}
	return "row"
}

func (p *points) text(a *answer, axis int, v float64) string {
	if unit := sql.TimeUnit(p.name(a, axis)); unit > 0 && math.Abs(v*unit) < 1<<62 {
		return units.Duration(int64(v * unit))
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}

// chart draws a dot for each row, joined by a line if they are few and in order.
type chart struct {
	widget.Drag
	pool  raster.Pool
	shown *ui.Picture
	of    chartOf
}

// chartOf holds everything that the picture depends on.
type chartOf struct {
	a     *answer
	size  image.Point
	theme *theme.Theme
	scale float32
}

// mostJoined is the number of rows up to which dots are joined.
const mostJoined = 2000

// layout draws the chart and returns the row of the dot that was clicked.
func (c *chart) layout(h *panel.Host, u *ui.UI, r image.Rectangle, a *answer) (row int, ok bool) {
	p := &a.points
	if !p.ok {
		widget.Empty(u, r, "No numbers to draw", "Select two columns of numbers: the first is drawn from left to right, the second upwards")
		return 0, false
	}
	axis := ui.Style{Size: 11, Color: u.Theme.Dim, Align: ui.End}
	high, low := p.text(a, 1, p.high[1]), p.text(a, 1, p.low[1])
	wide := max(u.Width(high, axis), u.Width(low, axis)) + u.Px(26)
	plot := image.Rect(r.Min.X+wide, r.Min.Y+u.Px(22), r.Max.X-u.Px(20), r.Max.Y-u.Px(24))
	if plot.Dx() < u.Px(40) || plot.Dy() < u.Px(24) {
		return 0, false
	}
	x, y := scale(p.low[0], p.high[0], plot.Dx()-1), scale(p.low[1], p.high[1], plot.Dy()-1)
	pixel := func(at [2]float64) image.Point { return image.Pt(x(at[0]), plot.Dy()-1-y(at[1])) }
	clicked := false
	for {
		g, _, more := c.Next(u, plot.Min)
		if !more {
			break
		}
		clicked = clicked || g == widget.Clicked
	}
	c.picture(u, plot, a, pixel)
	u.Text(image.Rect(r.Min.X, plot.Min.Y-u.Px(8), plot.Min.X-u.Px(6), plot.Min.Y+u.Px(8)), high, axis)
	if p.high[1] > p.low[1] {
		u.Text(image.Rect(r.Min.X, plot.Max.Y-u.Px(8), plot.Min.X-u.Px(6), plot.Max.Y+u.Px(8)), low, axis)
	}
	below := image.Rect(plot.Min.X, plot.Max.Y+u.Px(3), plot.Max.X, r.Max.Y)
	u.Text(below, p.text(a, 0, p.high[0]), axis)
	axis.Align = ui.Start
	u.Text(below, p.text(a, 0, p.low[0]), axis)
	axis.Align = ui.Middle
	u.Text(below, p.name(a, 0), axis)
	title := image.Rect(plot.Min.X, r.Min.Y, plot.Max.X, plot.Min.Y-u.Px(2))
	u.Text(title, p.name(a, 1), ui.Style{Size: 12, Weight: ui.Medium, Color: u.Theme.Text})
	c.Area(u, plot, pointer.CursorDefault)
	near := -1
	if c.Inside {
		near = c.near(u, a, pixel)
	}
	if near < 0 {
		return 0, false
	}
	at, _ := p.at(a, near)
	dot := pixel(at).Add(plot.Min)
	d := u.Px(4)
	u.Round(image.Rect(dot.X-d, dot.Y-d, dot.X+d, dot.Y+d), 4, u.Theme.Text)
	u.Text(title, p.text(a, 0, at[0])+" · "+p.text(a, 1, at[1]), ui.Style{Size: 12, Color: u.Theme.Text, Align: ui.End})
	return near, clicked
}

// scale returns a function that places values on an axis some pixels long.
func scale(low, high float64, length int) func(float64) int {
	return func(v float64) int {
		if high <= low {
			return length / 2
		}
		return int((v/2 - low/2) / (high/2 - low/2) * float64(length)) // halves do not overflow
	}
}

// near returns the row whose dot is nearest to the pointer, -1 if all are far away.
func (c *chart) near(u *ui.UI, a *answer, pixel func([2]float64) image.Point) int {
	best, least := -1, u.Px(24)
	for i := range a.Rows {
		if at, ok := a.points.at(a, i); ok {
			d := pixel(at)
			if far := int(math.Hypot(float64(d.X)-float64(c.At.X), float64(d.Y)-float64(c.At.Y))); far < least {
				best, least = i, far
			}
		}
	}
	return best
}

// picture draws the dots.
func (c *chart) picture(u *ui.UI, plot image.Rectangle, a *answer, pixel func([2]float64) image.Point) {
	of := chartOf{a, plot.Size(), u.Theme, u.Metric.PxPerDp}
	if !c.shown.Serves(u) || c.of != of {
		c.of = of
		size := max(2, u.Px(3))
		c.shown = u.Cover(&c.pool, of.size, func(on raster.Surface) {
			on.Rect(0, 0, of.size.X, of.size.Y, raster.Pack(u.Theme.Surface))
			join := a.points.rising && len(a.Rows) <= mostJoined
			last, known, seen := image.Point{}, false, map[image.Point]bool{}
			for i := range a.Rows {
				at, ok := a.points.at(a, i)
				if !ok {
					known = false
					continue
				}
				d := pixel(at)
				if join && known {
					joinDots(on, last, d, raster.Pack(u.Theme.Accent))
				}
				if last, known = d, true; !seen[d] {
					seen[d] = true
					on.Rect(d.X-size/2, d.Y-size/2, d.X-size/2+size, d.Y-size/2+size, raster.Pack(u.Theme.Accent))
				}
			}
		})
	}
	u.Draw(c.shown, plot.Min)
}

// joinDots draws a line of single pixels.
func joinDots(on raster.Surface, from, to image.Point, c raster.Color) {
	n := max(to.X-from.X, from.X-to.X, to.Y-from.Y, from.Y-to.Y)
	for i := range n {
		x, y := from.X+(to.X-from.X)*i/n, from.Y+(to.Y-from.Y)*i/n
		on.Rect(x, y, x+1, y+1, c)
	}
}
