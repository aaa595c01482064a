package flame

import (
	"math"

	"ashlar/ingest/query/compare"
	"ashlar/render/raster"
	"ashlar/render/theme"
	"ashlar/render/units"
)

// Difference draws a differential flamegraph: one tree for two recordings, coloured by
// the change in weight. Its Shape determines the widths.
type Difference struct {
	Shape *compare.Shape
	Bars  []Bar
	Zoom  int
	Theme *theme.Theme
	// Font is the face of names, Bold that of changes.
	Font, Bold *raster.Face
	Scale      float32
	// Base and Up are as in Picture.
	Base int
	Up   bool
	// Whole is the change of the total. If it is not 0, the colour of a bar shows the
	// bar's share of that change; otherwise it shows the ratio of B to A.
	Whole int64
	// Noise reports whether a difference is within noise; such bars are grey. nil if
	// unknown.
	Noise func(node int) bool
	// Mark reports whether a function is highlighted; the others fade if DimOthers is
	// set.
	Mark      func(f int32) bool
	DimOthers bool
	// Root is the label of the outermost bar.
	Root  string // Drawn is the number of bars that were drawn
	Drawn int

	funcs barFuncs
}

// Change returns the value behind a bar's colour, from -1 (half as much in B, or less)
// through 0 (no change) to 1 (twice as much, or more).
func Change(n *compare.Node) float64 {
	a, b := n.A.Total, n.B.Total
	switch {
	case a == b:
		return 0
	case a <= 0 && b <= 0:
		return math.Copysign(1, float64(b)-float64(a))
	case a <= 0:
		return 1
	case b <= 0:
		return -1
	}
	return max(-1, min(1, math.Log2(float64(b)/float64(a))))
}

// shareOf returns the value behind a bar's colour if it shows the bar's share of the whole
// change: 1 for all of it or more, with the sign of the bar's own change.
func shareOf(n *compare.Node, whole int64) float64 {
	return max(-1, min(1, (float64(n.B.Total)-float64(n.A.Total))/math.Abs(float64(whole))))
}

// Shade emphasizes small changes. The colours of changes are computed from its result.
func Shade(change float64) float64 {
	return math.Copysign(math.Pow(math.Abs(change), .7), change)
}

func (p *Difference) px(dp float32) int { return int(math.Round(float64(dp * p.Scale))) }

// RowTop returns the y coordinate of a row in the picture.
func (p *Difference) RowTop(row int) int { return rowTop(row, p.Scale, p.Base, p.Up) }

// At returns the bar under a pixel of the picture, or -1.
func (p *Difference) At(x, y int) int {
	return barAt(p.Bars, x, y, 0, p.Shape.Depth, p.px(BarHeight), p.RowTop)
}

// Paint draws on a surface already filled with the background colour.
func (p *Difference) Paint(c raster.Surface) {
	for i := range p.Bars {
		if y, ok := p.seen(c, &p.Bars[i]); ok {
			p.bar(c, &p.Bars[i], y)
		}
	}
	p.wedges(c)
}

// seen returns the top of a bar, and whether any of the bar is on the surface.
func (p *Difference) seen(c raster.Surface, b *Bar) (y int, ok bool) {
	_, h := c.Size()
	y = p.RowTop(b.Row)
	return y, y < h && y+p.px(BarHeight) > 0
}

// wedges marks children without a width. It runs last, because the marks cover
// neighbouring bars.
func (p *Difference) wedges(c raster.Surface) {
	_, h := c.Size()
	if !p.Shape.Lacks() {
		return
	}
	for i := range p.Bars {
		b := &p.Bars[i]
		if y := p.RowTop(b.Row + 1); y < h && y+p.px(BarHeight) > 0 && b.Row >= p.Shape.Level(p.Zoom) {
			p.absent(c, b, y)
		}
	}
}

// said returns the change shown next to a bar's name.
func (p *Difference) said(n *compare.Node) string {
	switch n.Status() {
	case compare.New:
		return "new"
	case compare.Gone:
		return "gone"
	case compare.Same:
		return ""
	}
	return units.Change(n.A.Total, n.B.Total)
}

func (p *Difference) bar(c raster.Surface, b *Bar, y int) {
	th := p.Theme
	p.Drawn++
	x0, x1, gap, r := b.shape(p.px)
	h := p.px(BarHeight) - 1
	n := &p.Shape.Nodes[b.Node]
	name, said := p.Root, ""
	change := Shade(Change(n))
	if p.Whole != 0 {
		change = Shade(shareOf(n, p.Whole))
	}
	noise := p.Noise != nil && p.Noise(int(b.Node))
	if noise {
		change = 0
	}
	bg, text := th.Difference(change)
	if b.Node != 0 {
		name, said = p.Shape.Name(int(b.Node)), p.said(n)
	}
	if p.Mark != nil && b.Node != 0 {
		switch marked := p.Mark(n.Func); {
		case marked && !p.DimOthers:
			bg = th.Lift(bg)
		case !marked && p.DimOthers:
			bg = th.Fade(bg)
		}
		text = th.OnDifference(bg)
	}
	if b.Row < p.Shape.Level(p.Zoom) {
		bg = theme.Mix(bg, th.Background, .45) // above the bar that fills the width in the tree
		text = th.OnDifference(bg)
	}
	col, ink := raster.Pack(bg), raster.Pack(text)
	c.Bar(x0, y, x1-gap, y+h, col, r)
	if s := n.Status(); (s == compare.New || s == compare.Gone) && b.Node != 0 {
		strong := uint32(200)
		if noise {
			strong = 90
		}
		p.hatch(c, x0, y, x1-gap, y+h, ink, s == compare.Gone, strong)
	}
	inset := p.px(6)
	lo, hi := x0+inset, x1-gap-p.px(4)
	if said != "" && !noise {
		w := int(math.Ceil(float64(p.Bold.Measure(said))))
		// The name has priority: the change is shown only if there is room for it.
		if hi-lo > w+p.px(70) {
			p.Bold.Draw(c, float32(hi-w), y+p.px(14), said, ink, lo, hi)
			hi -= w + p.px(6)
		}
	}
	if s := p.Font.Fit(name, float32(hi-lo)); s != "" {
		p.Font.Draw(c, float32(lo), y+p.px(14), s, ink, lo, hi)
	}
}

// hatch marks bars that exist on one side only, so that they do not depend on colour: new
// ones have a solid left edge, removed ones strokes through the foot.
func (p *Difference) hatch(c raster.Surface, x0, y0, x1, y1 int, ink raster.Color, gone bool, strong uint32) {
	switch {
	case gone:
		strokes(c, p.px, x0, y0, x1, y1, ink, strong)
	case x1-x0 >= p.px(9): // in narrower bars, only the colour shows it
		c.Shade(x0, y0, min(x1, x0+p.px(3)), y1, ink, strong)
	}
}

// absent marks below a bar that it has children without a width: new ones if the widths
// are A's, removed ones if they are B's.
func (p *Difference) absent(c raster.Surface, b *Bar, y int) {
	out := p.Shape.Absent(int(b.Node))
	if len(out) == 0 {
		return
	}
	x0, x1 := b.pixels()
	change := -1.0
	if p.Shape.Nodes[out[0]].B.Here {
		change = 1
	}
	bg, _ := p.Theme.Difference(change)
	col := raster.Pack(bg)
	// A wedge at the right end, pointing away from the bar.
	size := min(p.px(7), x1-x0)
	for i := range size {
		at := y + i
		if p.Up {
			at = y + p.px(BarHeight) - 2 - i
		}
		c.Rect(x1-size+i/2, at, x1-i/2, at+1, col)
	}
}

// Absentees returns the children without a width whose mark is under a pixel, and the bar
// of their parent; bar is -1 if there is none.
func (p *Difference) Absentees(x, y int) (bar int, nodes []int32) {
	for i := range p.Bars {
		b := &p.Bars[i]
		top := p.RowTop(b.Row + 1)
		if p.Up {
			top += p.px(BarHeight - 8)
		}
		_, x1 := b.pixels()
		if y < top || y >= top+p.px(8) || x < x1-p.px(8) || x >= x1 || b.Row < p.Shape.Level(p.Zoom) {
			continue
		}
		if out := p.Shape.Absent(int(b.Node)); len(out) > 0 {
			return i, out
		}
	}
	return -1, nil
}
