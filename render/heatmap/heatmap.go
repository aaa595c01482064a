// Package heatmap draws activity over time in two dimensions: from left to right columns
// of, for example, a second each, and from bottom to top the time within the column.
// Something that recurs every second forms a row, and a pause leaves a gap. The idea is
// from FlameScope by Brendan Gregg and Martin Spier.
package heatmap

import (
	"context"
	"image/color"
	"math"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/spans"
	"ashlar/render/raster"
	"ashlar/render/theme"
	"ashlar/render/units"
)

// Grid is the content of the picture: a density folded into columns.
type Grid struct {
	*spans.Density
	// Column is the duration of a column in picoseconds; Rows and Cols are the numbers of
	// rows and columns.
	Column     int64
	Rows, Cols int
}

// rows is the number of cells per column: 20 ms each in a column of a second.
const rows = 50

const leastColumns = 20

// columns are the possible durations of a column, in picoseconds.
var columns = []int64{1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 10e12, 60e12, 600e12, 3600e12, 36000e12, 360000e12}

// NewGrid counts a recording's samples, or its spans by their start, per cell of time;
// see [spans.DensityOf].
func NewGrid(ctx context.Context, rec *recording.Recording, q analyze.Query, of []recording.FuncID) (*Grid, error) {
	g := &Grid{Column: columns[0], Rows: rows}
	for _, c := range columns {
		if rec.Duration()/c >= leastColumns {
			g.Column = c
		}
	}
	g.Cols = int(rec.Duration()/g.Column) + 1
	var err error
	g.Density, err = spans.DensityOf(ctx, rec, q, rec.Start, g.Column/rows, g.Cols*g.Rows, of)
	return g, err
}

// Empty returns why the heatmap is empty, and a hint; "" if it is not.
func (g *Grid) Empty() (said, hint string) {
	switch {
	case g.Cells == nil:
		return "No heatmap", "Spans and samples have no values of this metric. Choose another metric in the toolbar"
	case g.Sum == 0:
		return "No data", ""
	}
	return "", ""
}

func (g *Grid) said() string {
	said, _ := g.Empty()
	return said
}

// A Cell is a place in the grid; row 0 is the start of a column, at the bottom.
type Cell struct{ Col, Row int }

// Count returns the value of a cell.
func (g *Grid) Count(c Cell) int64 { return g.Cells[c.Col*g.Rows+c.Row] }

// Time returns when a cell begins and ends, in the recording's picoseconds.
func (g *Grid) Time(c Cell) (from, to int64) {
	from = g.From + int64(c.Col*g.Rows+c.Row)*g.Width
	return from, from + g.Width
}

// Range returns the time from one cell to another, both included, in either order.
func (g *Grid) Range(a, b Cell) (from, to int64) {
	from, end := g.Time(a)
	from2, end2 := g.Time(b)
	return min(from, from2), max(end, end2)
}

// Picture draws a grid.
type Picture struct {
	Grid  *Grid
	Theme *theme.Theme
	Font  *raster.Face
	Scale float32
	// Selected marks the time From..To as selected.
	Selected bool
	From, To int64
	w, h     int
}

// Sizes in dp.
const (
	gutter = 64
	foot   = 24
	pad    = 8
)

func (p *Picture) px(dp float32) int { return int(math.Round(float64(dp * p.Scale))) }

// Paint draws on a surface already filled with the background colour.
func (p *Picture) Paint(on raster.Surface) {
	p.w, p.h = on.Size()
	g := p.Grid
	if text := g.said(); text != "" {
		p.Font.Draw(on, float32(p.w)/2-p.Font.Measure(text)/2, p.h/2, text, raster.Pack(p.Theme.Dim), 0, p.w)
		return
	}
	x0, y0, x1, y1 := p.area()
	on.Rect(x0, y0, x1, y1, raster.Pack(p.Theme.Lane))
	for col := range g.Cols {
		for row := range g.Rows {
			c := Cell{col, row}
			n := g.Count(c)
			if n <= 0 && !p.chosen(c) {
				continue
			}
			l, t, r, b := p.Box(c)
			on.Rect(l, t, max(r, l+1), max(b, t+1), raster.Pack(p.color(c, n)))
		}
	}
	p.axes(on)
}

// area returns the rectangle of the cells.
func (p *Picture) area() (x0, y0, x1, y1 int) {
	x0, y0 = p.px(gutter), p.px(pad)
	return x0, y0, max(x0+1, p.w-p.px(pad)), max(y0+1, p.h-p.px(foot))
}

// Box returns the rectangle of a cell in the picture drawn last. Large cells have a gap
// between them.
func (p *Picture) Box(c Cell) (x0, y0, x1, y1 int) {
	ax0, ay0, ax1, ay1 := p.area()
	g := p.Grid
	x0, x1 = ax0+(ax1-ax0)*c.Col/g.Cols, ax0+(ax1-ax0)*(c.Col+1)/g.Cols
	y0, y1 = ay1-(ay1-ay0)*(c.Row+1)/g.Rows, ay1-(ay1-ay0)*c.Row/g.Rows
	if x1-x0 > p.px(4) && y1-y0 > p.px(4) {
		return x0, y0, x1 - 1, y1 - 1
	}
	return x0, y0, x1, y1
}

// At returns the cell under a pixel of the picture drawn last.
func (p *Picture) At(x, y int) (c Cell, ok bool) {
	x0, y0, x1, y1 := p.area()
	g := p.Grid
	if g.said() != "" || x < x0 || y < y0 || x >= x1 || y >= y1 {
		return c, false
	}
	// The inverse of Box, which rounds down.
	c.Col = ((x-x0+1)*g.Cols - 1) / (x1 - x0)
	c.Row = ((y1-y)*g.Rows - 1) / (y1 - y0)
	return c, true
}

// chosen reports whether a cell is in the selected time.
func (p *Picture) chosen(c Cell) bool {
	from, to := p.Grid.Time(c)
	return p.Selected && from < p.To && to > p.From
}

// color returns the colour of a cell. The scale runs from the background through the
// accent to the warning colour. It uses the square root of the count, because counts vary
// widely.
func (p *Picture) color(c Cell, n int64) (col color.NRGBA) {
	th := p.Theme
	t := math.Sqrt(float64(n) / float64(p.Grid.Most))
	const knee = .7
	switch {
	case n <= 0:
		col = th.Lane
	case t < knee:
		col = theme.Mix(th.Lane, th.Accent, .18+.82*t/knee)
	default:
		col = theme.Mix(th.Accent, th.Warn, (t-knee)/(1-knee))
	}
	if p.Selected {
		if !p.chosen(c) {
			return theme.Mix(col, th.Background, .65)
		}
		if n <= 0 {
			return theme.Mix(th.Lane, th.Accent, .1)
		}
	}
	return col
}

// axes draws the start times of columns below, and the time within a column at the left.
func (p *Picture) axes(on raster.Surface) {
	g, th := p.Grid, p.Theme
	x0, y0, x1, y1 := p.area()
	dim, rule := raster.Pack(th.Dim), raster.Pack(th.Rule)
	on.Rect(x0, y1, x1, y1+1, rule)
	on.Rect(x0-1, y0, x0, y1+1, rule)
	whole := int64(g.Cols) * g.Column
	ax := units.NewAxis(0, whole, max(1, (x1-x0)/p.px(95)))
	ax.Step = max(ax.Step, g.Column)
	for t := range ax.Ticks(0, whole-1) {
		x := x0 + int(float64(x1-x0)*float64(t)/float64(whole))
		on.Rect(x, y1, x+1, y1+p.px(5), raster.Pack(th.Faint))
		if s := ax.Label(t); float32(x)+p.Font.Measure(s) < float32(p.w) {
			p.Font.Draw(on, float32(x+p.px(4)), y1+p.px(16), s, dim, 0, p.w)
		}
	}
	up := units.NewAxis(0, g.Column, max(1, (y1-y0)/p.px(44)))
	for t := range up.Ticks(0, g.Column) {
		y := y1 - int(float64(y1-y0)*float64(t)/float64(g.Column))
		on.Rect(x0-p.px(5), y, x0, y+1, raster.Pack(th.Faint))
		s := up.Label(t)
		base := min(max(y+p.px(4), p.px(11)), y1)
		p.Font.Draw(on, float32(x0-p.px(8))-p.Font.Measure(s), base, s, dim, 0, x0)
	}
}
