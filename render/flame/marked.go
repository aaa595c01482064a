package flame

import (
	"cmp"
	"slices"

	"ashlar/render/raster"
)

// Marked draws the picture with the bars of one function standing out, given
// plain, the picture as Draw made it without a mark: only those bars are drawn
// anew, which is quick enough for each frame while the pointer moves over a large
// picture. The canvas is one of Canvases, which plain must not be.
func (p *Difference) Marked(plain *raster.Canvas, f int32) *raster.Canvas {
	if p.Canvases == nil {
		p.Canvases = new(raster.Pool)
	}
	c := p.Canvases.Copy(plain)
	q := *p
	q.Mark, q.DimOthers = func(g int32) bool { return g == f }, false
	for _, i := range p.barsOf(f) {
		b := &p.Bars[i]
		y := p.RowTop(b.Row)
		if y >= c.H || y+p.px(BarHeight) <= 0 {
			continue
		}
		if x0, x1 := b.pixels(); x1-x0 > p.px(6) { // its corners let through what is below
			c.Rect(x0, y, x1-1, y+p.px(BarHeight)-1, raster.Pack(p.Theme.Background))
		}
		q.bar(c, b, y)
	}
	q.wedges(c)
	return c
}

// barsOf are the places in Bars of a function's bars.
func (p *Difference) barsOf(f int32) []int32 {
	ix := p.index
	if ix == nil || len(ix.of) != len(p.Bars) || len(p.Bars) > 0 && ix.bars != &p.Bars[0] {
		ix = &barIndex{of: make([]int32, len(p.Bars))}
		for i := range p.Bars {
			ix.of[i] = int32(i)
		}
		if len(p.Bars) > 0 {
			ix.bars = &p.Bars[0]
		}
		slices.SortStableFunc(ix.of, func(a, b int32) int { return cmp.Compare(p.function(a), p.function(b)) })
		p.index = ix
	}
	from, _ := slices.BinarySearchFunc(ix.of, f, func(i, f int32) int { return cmp.Compare(p.function(i), f) })
	to := from
	for to < len(ix.of) && p.function(ix.of[to]) == f {
		to++
	}
	return ix.of[from:to]
}

func (p *Difference) function(bar int32) int32 { return p.Shape.Nodes[p.Bars[bar].Node].Func }

// barIndex are the places of bars by function, with the first of the bars that it
// is about.
type barIndex struct {
	bars *Bar
	of   []int32
}
