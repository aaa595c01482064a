package flame

import (
	"ashlar/ingest/model/recording"
	"ashlar/render/raster"
)

// PaintMarked highlights the bars of one function on a surface that already has the
// picture without highlights. It draws only those bars, which is quick enough for every
// frame while the pointer moves over a large picture.
func (p *Picture) PaintMarked(c raster.Surface, f recording.FuncID) {
	q := *p
	q.Mark, q.DimOthers = func(g recording.FuncID) bool { return g == f }, false
	bg := raster.Pack(p.Palette.Theme.Background)
	for _, i := range p.barsOf(f) {
		if y, ok := p.seen(c, &p.Bars[i]); ok {
			p.Bars[i].clear(c, y, p.px, bg)
			q.bar(c, &p.Bars[i], y)
		}
	}
}

// PaintMarked highlights the bars of one function; see [Picture.PaintMarked].
func (p *Difference) PaintMarked(c raster.Surface, f int32) {
	q := *p
	q.Mark, q.DimOthers = func(g int32) bool { return g == f }, false
	bg := raster.Pack(p.Theme.Background)
	for _, i := range p.barsOf(f) {
		if y, ok := p.seen(c, &p.Bars[i]); ok {
			p.Bars[i].clear(c, y, p.px, bg)
			q.bar(c, &p.Bars[i], y)
		}
	}
	q.wedges(c)
}

// clear erases the place of a bar, because the old bar would show at the new one's round
// corners.
func (b *Bar) clear(c raster.Surface, y int, px func(dp float32) int, bg raster.Color) {
	if x0, x1 := b.pixels(); x1-x0 > px(6) {
		c.Rect(x0, y, x1-1, y+px(BarHeight)-1, bg)
	}
}

// barsOf returns the indices in Bars of a function's bars.
func (p *Picture) barsOf(f recording.FuncID) []int {
	return p.funcs.places(p.Bars, int64(f), func(node int32) int64 {
		if node == 0 {
			return -1
		}
		return int64(p.Tree.Nodes[node].Func)
	})
}

func (p *Difference) barsOf(f int32) []int {
	return p.funcs.places(p.Bars, int64(f), func(node int32) int64 { return int64(p.Shape.Nodes[node].Func) })
}

// barFuncs caches the function of each bar, -1 for none, because nodes are far apart in
// memory. bars is the first bar of the slice for which the cache was made.
type barFuncs struct {
	bars *Bar
	of   []int64
}

func (b *barFuncs) places(bars []Bar, f int64, function func(node int32) int64) (at []int) {
	if len(bars) == 0 {
		return nil
	}
	if b.bars != &bars[0] || len(b.of) != len(bars) {
		b.bars, b.of = &bars[0], make([]int64, len(bars))
		for i := range bars {
			b.of[i] = function(bars[i].Node)
		}
	}
	for i, g := range b.of {
		if g == f {
			at = append(at, i)
		}
	}
	return at
}
