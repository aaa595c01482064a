package timeline

import (
	"math"
	"sort"
	"strconv"

	"ashlar/ingest/model/recording"
	"ashlar/render/raster"
	"ashlar/render/theme"
)

// countersOf returns, by process, the counters to show.
func countersOf(rec *recording.Recording, l Layout) [][]int {
	groups := make([][]int, len(rec.Processes))
	filter := newFilter(rec, l.Filter)
	for i, c := range rec.Counters {
		if c.Len() > 0 && filter.has(c.Process, 0, c.Label) {
			groups[c.Process] = append(groups[c.Process], i)
		}
	}
	return groups
}

// graph is the area of a row in which a counter's values are drawn.
type graph struct {
	lo, hi      float64
	top, bottom int
}

func graphOf(c *recording.Counter, y, height int, scale float32) graph {
	lo, hi := c.Extent(0, c.Len())
	g := graph{lo: math.Min(lo, 0), hi: hi, top: y + int(5*scale+.5), bottom: y + height - int(5*scale+.5)}
	if g.hi <= g.lo {
		g.hi = g.lo + 1
	}
	return g
}

// at returns the y coordinate of a value. It halves values first, because a counter's
// range may overflow.
func (g graph) at(v float64) int {
	share := (v/2 - g.lo/2) / (g.hi/2 - g.lo/2)
	return g.bottom - int(math.Round(share*float64(g.bottom-g.top)))
}

// counter draws a counter over time: in each pixel column the range from the lowest to
// the highest value.
func (p *Picture) counter(r *Row, y int) {
	c := p.Rec.Counters[r.Index]
	g := graphOf(c, y, r.Height, p.scale)
	line := raster.Pack(theme.OKLCH(.72, .1, 150))
	thick := max(1, p.px(1.5))
	zero := g.at(0)
	i := c.Search(p.View.From)
	for x := p.Gutter; x < p.w; x++ {
		t0, t1 := p.View.Time(float64(x-p.Gutter), p.width()), p.View.Time(float64(x-p.Gutter+1), p.width())
		if t0 > p.Rec.End+p.res() {
			break
		}
		// The range runs from the value at the pixel's start to the last value set within
		// the pixel.
		first := i - 1
		i = after(c, i, t1-1)
		if first < 0 {
			first = 0
		}
		lo, hi := c.Extent(first, i)
		if lo > hi {
			continue
		}
		a, b := g.at(lo), g.at(hi)
		p.c.Shade(x, min(b, zero), x+1, max(a, zero), line, 46)
		p.c.Rect(x, b, x+1, max(a, b+thick), line)
	}
}

// CounterPoint returns the position of point i of a counter in the picture.
func (p *Plan) CounterPoint(rec *recording.Recording, v View, row, i, w, gutter int) (x, y int) {
	r := &p.Rows[row]
	c := rec.Counters[r.Index]
	lanes := max(1, w-gutter)
	x = gutter + int(min(max(v.X(c.Time(i), lanes), -4), float64(lanes+4)))
	return x, graphOf(c, p.Top(r, v.Scroll), r.Height, p.Scale).at(c.Value(i))
}

// after returns the index of the first point after t, searching from i on. It is fast if
// that point is close to i.
func after(c *recording.Counter, i int, t int64) int {
	n, lo, step := c.Len(), i, 1
	for i < n && c.Time(i) <= t {
		lo, i, step = i+1, i+step, step*2
	}
	hi := min(i, n)
	return lo + sort.Search(hi-lo, func(k int) bool { return c.Time(lo+k) > t })
}

// Number formats a counter's value exactly.
func Number(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
