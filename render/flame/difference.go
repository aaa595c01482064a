package flame

import (
	"math"

	"ashlar/ingest/query/compare"
	"ashlar/render/raster"
	"ashlar/render/theme"
	"ashlar/render/units"
)

// Difference draws a differential flamegraph: one tree for two recordings,
// coloured by what became of the weights. Widths are those of its Shape.
type Difference struct {
	Shape *compare.Shape
	Bars  []Bar
	Zoom  int
	Theme *theme.Theme
	// Font is for names, Bold for what became of them.
	Font, Bold *raster.Face
	Scale      float32
	// Base and Up as in Picture.
	Base int
	Up   bool
	// Noise says where a difference is within noise: such bars are grey. nil
	// if nothing tells.
	Noise func(node int) bool
	// Mark returns the highlighted functions; the others fade if DimOthers is set.
	Mark      func(f int32) bool
	DimOthers bool
	// Root is the label of the outermost bar.
	Root  string // Drawn counts the bars that were drawn.
	Drawn int

	funcs barFuncs
}

// Change is the meaning of a bar's colour, from -1 (half as much in B, or less) over
// 0 to 1 (twice as much, or more).
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

// Shade makes small changes easier to see: colours of changes are made of it.
func Shade(change float64) float64 {
	return math.Copysign(math.Pow(math.Abs(change), .7), change)
}

func (p *Difference) px(dp float32) int { return int(math.Round(float64(dp * p.Scale))) }

// RowTop is where a row begins in the picture.
func (p *Difference) RowTop(row int) int { return rowTop(row, p.Scale, p.Base, p.Up) }

// At returns the bar under a pixel of the picture, or -1.
func (p *Difference) At(x, y int) int {
	return barAt(p.Bars, x, y, 0, p.Shape.Depth, p.px(BarHeight), p.RowTop)
}

// Paint draws on a surface, which has the background's colour.
func (p *Difference) Paint(c raster.Surface) {
	for i := range p.Bars {
		if y, ok := p.seen(c, &p.Bars[i]); ok {
			p.bar(c, &p.Bars[i], y)
		}
	}
	p.wedges(c)
}

// seen is the top of a bar, if any of it is on the surface.
func (p *Difference) seen(c raster.Surface, b *Bar) (y int, ok bool) {
	_, h := c.Size()
	y = p.RowTop(b.Row)
	return y, y < h && y+p.px(BarHeight) > 0
}

// wedges marks what has no width, last and over its neighbours.
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

// What a bar says beside its name.
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
		bg = theme.Mix(bg, th.Background, .45) // above what fills the width
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
		// The name comes first: what became of it only if there is room.
		if hi-lo > w+p.px(70) {
			p.Bold.Draw(c, float32(hi-w), y+p.px(14), said, ink, lo, hi)
			hi -= w + p.px(6)
		}
	}
	if s := p.Font.Fit(name, float32(hi-lo)); s != "" {
		p.Font.Draw(c, float32(lo), y+p.px(14), s, ink, lo, hi)
	}
}

// hatch marks bars that exist on one side only, without relying on colour: a solid left
// edge for new ones, strokes through the foot for removed ones.
func (p *Difference) hatch(c raster.Surface, x0, y0, x1, y1 int, ink raster.Color, gone bool, strong uint32) {
	switch {
	case gone:
		strokes(c, p.px, x0, y0, x1, y1, ink, strong)
	case x1-x0 >= p.px(9): // else the colour has to do
		c.Shade(x0, y0, min(x1, x0+p.px(3)), y1, ink, strong)
	}
}

// absent marks, below a bar, that it has children which have no width here: new
// ones where A's widths are shown, gone ones where B's are.
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

// Absentees are the children without a width whose mark is under a pixel: of the
// bar that it returns, -1 for none.
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
