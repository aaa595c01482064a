package histogram

import (
	"math"
	"sort"

	"ashlar/render/raster"
	"ashlar/render/theme"
	"ashlar/render/units"
)

// Dots holds calls as points: start and duration, in picoseconds. To draw any number of
// calls quickly, they are counted once into a grid. The call under the pointer is found
// by its start.
type Dots struct {
	// From and To bound the horizontal axis. Least and Most are the shortest and the
	// longest duration.
	From, To, Least, Most int64
	starts, took          []int64 // sorted by start
	rows                  []int32
	grids                 [2][]cell // logarithmic and linear
}

// cell is a cell of a grid with its number of calls.
type cell struct {
	x, y int16
	n    int32
}

// Size of the grids, usually finer than the picture's pixels.
const gridWidth, gridHeight = 2048, 256

// NewDots makes points of n calls, in any order; at returns the start and the duration of
// call i.
func NewDots(n int, from, to int64, at func(i int) (start, took int64)) *Dots {
	d := &Dots{From: from, To: max(to, from+1), Least: math.MaxInt64, starts: make([]int64, n), took: make([]int64, n), rows: make([]int32, n)}
	for i := range n {
		d.rows[i] = int32(i)
		s, t := at(i)
		d.starts[i], d.took[i] = s, t
		d.Least, d.Most = min(d.Least, t), max(d.Most, t)
	}
	sort.Sort((*byStart)(d))
	if n == 0 {
		d.Least = 0
	}
	for k := range d.grids {
		d.grids[k] = d.count(k == 1)
	}
	return d
}

// byStart sorts points by start.
type byStart Dots

func (d *byStart) Len() int           { return len(d.starts) }
func (d *byStart) Less(i, j int) bool { return d.starts[i] < d.starts[j] }
func (d *byStart) Swap(i, j int) {
	d.starts[i], d.starts[j] = d.starts[j], d.starts[i]
	d.took[i], d.took[j] = d.took[j], d.took[i]
	d.rows[i], d.rows[j] = d.rows[j], d.rows[i]
}

// count counts the points in each cell of a grid.
func (d *Dots) count(linear bool) (out []cell) {
	counts := make([]int32, gridWidth*gridHeight)
	for i, t := range d.took {
		x := min(gridWidth-1, max(0, int(d.across(d.starts[i])*gridWidth)))
		y := min(gridHeight-1, max(0, int(d.up(t, linear)*gridHeight)))
		counts[y*gridWidth+x]++
	}
	for i, n := range counts {
		if n > 0 {
			out = append(out, cell{int16(i % gridWidth), int16(i / gridWidth), n})
		}
	}
	return out
}

// across returns the position of a time, and up the position of a duration, from 0 to 1.
func (d *Dots) across(at int64) float64 { return float64(at-d.From) / float64(d.To-d.From) }

func (d *Dots) up(took int64, linear bool) float64 {
	if linear {
		return float64(took) / float64(max(1, d.Most))
	}
	low, high := d.decades()
	return (math.Log10(float64(max(1, took))) - low) / (high - low)
}

// decades returns the ends of the logarithmic axis, as powers of ten.
func (d *Dots) decades() (low, high float64) {
	low = math.Floor(math.Log10(float64(max(1, d.Least))))
	return low, max(low+1, math.Log10(float64(max(1, d.Most)))*1.001)
}

// DotPicture draws dots.
type DotPicture struct {
	Of     *Dots
	Linear bool
	// Start is the start of the recording, the origin of times.
	Start int64
	Theme *theme.Theme
	Font  *raster.Face
	Scale float32
	w, h  int
}

func (p *DotPicture) px(dp float32) int { return int(math.Round(float64(dp * p.Scale))) }

func (p *DotPicture) area() (x0, y0, x1, y1 int) {
	x0, y0 = p.px(gutter), p.px(10)
	return x0, y0, max(x0+1, p.w-p.px(pad)), max(y0+1, p.h-p.px(foot))
}

// Paint draws on a surface already filled with the background colour: a dot for each
// call, stronger where many overlap.
func (p *DotPicture) Paint(on raster.Surface) {
	p.w, p.h = on.Size()
	p.axes(on)
	x0, y0, x1, y1 := p.area()
	w, h := x1-x0, y1-y0
	counts := make([]int32, w*h)
	for _, c := range p.Of.grids[index(p.Linear)] {
		x, y := int(c.x)*w/gridWidth, (gridHeight-1-int(c.y))*h/gridHeight
		counts[y*w+x] += c.n
	}
	col := raster.Pack(p.Theme.Accent)
	// A few dots are drawn large enough to point at; many form a cloud.
	half := p.px(1.5)
	if len(p.Of.rows) > 20*w {
		half = 0
	}
	for i, n := range counts {
		if n == 0 {
			continue
		}
		x, y := x0+i%w, y0+i/w
		on.Shade(x-half, y-half, x+half+1, y+half+1, col, uint32(min(255, 130+30*math.Log2(float64(n)))))
	}
}

func index(b bool) int {
	if b {
		return 1
	}
	return 0
}

// axes draws durations at the left and times below.
func (p *DotPicture) axes(on raster.Surface) {
	th := p.Theme
	x0, _, x1, y1 := p.area()
	rule := func(ps int64) {
		y := int(p.Y(ps))
		on.Rect(x0, y, x1, y+1, raster.Pack(th.Rule))
		s := units.Round(units.Duration(ps))
		p.Font.Draw(on, float32(x0-p.px(8))-p.Font.Measure(s), y+p.px(4), s, raster.Pack(th.Dim), 0, x0)
	}
	if p.Linear {
		ax := units.NewAxis(0, p.Of.Most, max(1, (y1-p.px(10))/p.px(30)))
		for t := range ax.Ticks(0, p.Of.Most) {
			rule(t)
		}
	} else {
		low, high := p.Of.decades()
		for k := low; k <= high; k++ {
			rule(int64(math.Round(math.Pow(10, k))))
		}
	}
	from, to := p.Of.From-p.Start, p.Of.To-p.Start
	ax := units.NewAxis(from, to, max(1, (x1-x0)/p.px(110)))
	for t := range ax.Ticks(from, to) {
		x := int(p.X(p.Start + t))
		if x < x0 || x > x1 {
			continue
		}
		s := ax.Label(t)
		on.Rect(x, y1, x+1, y1+p.px(5), raster.Pack(th.Faint))
		p.Font.Draw(on, float32(x)-p.Font.Measure(s)/2, y1+p.px(18), s, raster.Pack(th.Dim), 0, p.w)
	}
}

// X returns the position of a time in the picture drawn last, and Y the position of a
// duration. Time and Took are their inverses, clamped to the axes.
func (p *DotPicture) X(at int64) float64 {
	x0, _, x1, _ := p.area()
	return float64(x0) + p.Of.across(at)*float64(x1-x0)
}

func (p *DotPicture) Y(took int64) float64 {
	_, y0, _, y1 := p.area()
	return float64(y1) - p.Of.up(took, p.Linear)*float64(y1-y0)
}

func (p *DotPicture) Time(x float64) int64 {
	x0, _, x1, _ := p.area()
	f := max(0, min(1, (x-float64(x0))/float64(x1-x0)))
	return p.Of.From + int64(f*float64(p.Of.To-p.Of.From))
}

func (p *DotPicture) Took(y float64) int64 {
	_, y0, _, y1 := p.area()
	f := max(0, min(1, (float64(y1)-y)/float64(y1-y0)))
	if p.Linear {
		return int64(f * float64(p.Of.Most))
	}
	low, high := p.Of.decades()
	return int64(math.Pow(10, low+f*(high-low)))
}

// mostLooked limits the number of calls examined to find the one under the pointer.
const mostLooked = 50_000

// At returns the row of the call whose dot is nearest to a point of the picture drawn
// last, or -1 if none is near.
func (p *DotPicture) At(x, y float64) int {
	d, near := p.Of, float64(p.px(6))
	from, to := p.Time(x-near), p.Time(x+near)
	i := sort.Search(len(d.starts), func(i int) bool { return d.starts[i] >= from })
	best, at := near*near, -1
	for n := 0; i < len(d.starts) && d.starts[i] <= to && n < mostLooked; i, n = i+1, n+1 {
		dx, dy := p.X(d.starts[i])-x, p.Y(d.took[i])-y
		if r := dx*dx + dy*dy; r <= best {
			best, at = r, int(d.rows[i])
		}
	}
	return at
}
