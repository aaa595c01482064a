package timeline

import (
	"math"
	"slices"

	"ashlar/render/raster"
	"ashlar/render/theme"
	"ashlar/render/units"
)

// Heights in dp of the strips above the rows.
const (
	RulerHeight    = 24
	OverviewHeight = 34
)

// PaintRuler draws the times of a view on a surface filled with the background colour. It
// leaves the first gutter pixels to the names, and leaves out labels that would touch one
// of the covered ranges of pixels. Times count from the recording's start.
func PaintRuler(c raster.Surface, v View, start int64, th *theme.Theme, f *raster.Face, scale float32, gutter int, covered ...[2]int) {
	w, h := c.Size()
	px := func(dp float32) int { return int(math.Round(float64(dp * scale))) }
	lanes := max(1, w-gutter)
	from, to := v.From-start, v.To-start
	// A label needs some 90 dp; fewer labels are drawn if they would touch.
	ax := units.NewAxis(from, to, max(1, lanes/px(95)))
	rule, dim, faint := raster.Pack(th.Rule), raster.Pack(th.Dim), raster.Pack(th.Faint)
	x := func(t int64) int {
		return gutter + int(math.Floor(float64(t-from)/float64(max(1, to-from))*float64(lanes)))
	}
	if ax.Minor > 0 && (to-from)/ax.Minor < int64(lanes) {
		for t := range ax.Small(from, to) {
			if p := x(t); p >= gutter {
				c.Rect(p, h-px(4), p+1, h, rule)
			}
		}
	}
	for t := range ax.Ticks(from, to) {
		p := x(t)
		label := ax.Label(t)
		if p >= gutter {
			c.Rect(p, h-px(9), p+1, h, faint)
		}
		lx := float32(p + px(4))
		end := lx + f.Measure(label)
		under := slices.ContainsFunc(covered, func(r [2]int) bool { return lx < float32(r[1]) && end > float32(r[0]) })
		if !under && lx >= float32(gutter) && end <= float32(w) {
			f.Draw(c, lx, px(16), label, dim, gutter, w)
		}
	}
	c.Rect(0, 0, gutter, h, raster.Pack(th.Background))
	if ax.Base != "" {
		f.Draw(c, float32(gutter)-f.Measure(ax.Base)-float32(px(8)), px(16), ax.Base, dim, 0, gutter)
	}
	c.Rect(0, h-1, w, h, rule)
}
