// Package flame draws flamegraphs: a call tree as bars whose width is their weight, with
// the root at the top or at the bottom.
package flame

import (
	"image/color"
	"math"
	"slices"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/render/raster"
	"ashlar/render/theme"
)

// BarHeight is the height of a row in dp, including the gap below it.
const BarHeight = 20

// Bar is one bar of a flamegraph, in pixels of its picture.
type Bar struct {
	Node   int32
	Row    int
	X0, X1 float64
}

// A Shape is a tree that can be laid out. Node 0 is the root. The children of a node are
// sorted by width, widest first, and no node is narrower than its children together.
type Shape interface {
	Path(node int) []int
	Children(node int) []int32
	Width(node int) int64
	Level(node int) int // 0 for the root
}

// weighed is the shape of a tree whose widths are its totals, with negative weights
// counted as positive; see [analyze.Node].
type weighed struct{ *analyze.Tree }

func (t weighed) Width(node int) int64 { return t.Nodes[node].Gross }

func (t weighed) Level(node int) int { return int(t.Nodes[node].Depth) }

// Layout places the bars of a tree in a picture w pixels wide; see LayoutShape.
func Layout(t *analyze.Tree, zoom int, w int) []Bar { return LayoutShape(weighed{t}, zoom, w) }

// LayoutShape lays out bars in a picture w pixels wide. zoom is the node that fills the
// width, with its ancestors above it; 0 for the whole tree. Of several bars narrower than
// a pixel in the same pixel, only the first is kept.
func LayoutShape(t Shape, zoom int, w int) []Bar {
	var bars []Bar
	for _, n := range t.Path(zoom) {
		if n != zoom {
			bars = append(bars, Bar{int32(n), t.Level(n), 0, float64(w)})
		}
	}
	if zoom != 0 {
		bars = append([]Bar{{0, 0, 0, float64(w)}}, bars...)
	}
	total := t.Width(zoom)
	if total <= 0 {
		return append(bars, Bar{int32(zoom), t.Level(zoom), 0, float64(w)})
	}
	scale := float64(w) / float64(total)
	type todo struct {
		node int32
		x    float64
	}
	stack := []todo{{int32(zoom), 0}}
	for len(stack) > 0 {
		at := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if len(bars) == cap(bars) { // append would copy hundreds of thousands of bars several times
			bars = slices.Grow(bars, max(1024, len(bars)))
		}
		bars = append(bars, Bar{at.node, t.Level(int(at.node)), at.x, at.x + float64(t.Width(int(at.node)))*scale})
		x := at.x
		drawn := math.Inf(-1) // right edge of the last pixel that a narrow bar occupies
		for _, k := range t.Children(int(at.node)) {
			kw := float64(t.Width(int(k))) * scale
			if kw <= 0 {
				continue
			}
			if kw >= 1 || math.Floor(x) >= drawn {
				stack = append(stack, todo{k, x})
				if kw < 1 {
					drawn = math.Floor(x) + 1
				}
			}
			x += kw
		}
	}
	return bars
}

// Picture draws a flamegraph.
type Picture struct {
	Rec     *recording.Recording
	Tree    *analyze.Tree
	Bars    []Bar
	Zoom    int
	Palette *theme.Palette
	Font    *raster.Face
	Scale   float32
	// Base is the y coordinate of the root's row in the canvas, in pixels: 0 if the root
	// is at the top and nothing is scrolled.
	Base int
	// Up makes rows grow upwards from the root instead of downwards.
	Up bool
	// First is the first row to draw; 0 is the root's.
	First int
	// Mark and DimOthers are as in the timeline.
	Mark      func(recording.FuncID) bool
	DimOthers bool
	// Waiting is each node's time off CPU, if known; that part of the node's bar is
	// darker.
	Waiting []int64
	// Root is the label of the outermost bar.
	Root string
	// Drawn counts the bars that were drawn.
	Drawn int

	funcs barFuncs
}

func (p *Picture) px(dp float32) int { return int(math.Round(float64(dp * p.Scale))) }

// RowTop returns the y coordinate of a row in the canvas.
func (p *Picture) RowTop(row int) int { return rowTop(row, p.Scale, p.Base, p.Up) }

func rowTop(row int, scale float32, base int, up bool) int {
	y := int(math.Round(float64(float32(row) * BarHeight * scale)))
	if up {
		return base - y
	}
	return base + y
}

// Height returns the height of the whole flamegraph in pixels.
func Height(t *analyze.Tree, scale float32) int { return HeightOf(t.Depth, scale) }

// HeightOf returns the height in pixels of a flamegraph whose deepest bar is at depth.
func HeightOf(depth int, scale float32) int {
	return int(math.Ceil(float64(float32(depth+1) * BarHeight * scale)))
}

// Paint draws on a surface already filled with the background colour.
func (p *Picture) Paint(c raster.Surface) {
	for i := range p.Bars {
		if y, ok := p.seen(c, &p.Bars[i]); ok {
			p.bar(c, &p.Bars[i], y)
		}
	}
}

// seen returns the top of a bar, and whether any of the bar is on the surface.
func (p *Picture) seen(c raster.Surface, b *Bar) (y int, ok bool) {
	_, h := c.Size()
	y = p.RowTop(b.Row)
	return y, b.Row >= p.First && y < h && y+p.px(BarHeight) > 0
}

func (p *Picture) bar(c raster.Surface, b *Bar, y int) {
	p.Drawn++
	x0, x1, gap, r := b.shape(p.px)
	h := p.px(BarHeight) - 1
	nd := &p.Tree.Nodes[b.Node]
	name, inlined := p.Root, false
	if b.Node != 0 {
		name = p.Tree.Function(p.Rec, int(b.Node)).Name
		inlined = nd.Group == 0 && p.Rec.Frames.At(int(nd.Frame)).Inlined
	}
	cc, ink, own := p.colours(b)
	col, text := raster.Pack(cc), raster.Pack(ink)
	if wait := p.waits(b, x1-x0); own && wait > 0 {
		raster.BarOfTwo(c, x0, x1-wait, x1-gap, y, y+h, col, raster.Pack(p.Palette.Theme.Waiting(cc)), r)
	} else {
		c.Bar(x0, y, x1-gap, y+h, col, r)
	}
	if inlined {
		// Inlined functions have a dotted foot: their code runs here, but there is no
		// call.
		for x := x0 + r; x < x1-gap-r; x += p.px(4) {
			c.Shade(x, y+h-p.px(2), min(x+p.px(2), x1-gap), y+h-p.px(1), text, 150)
		}
	}
	if nd.Total < 0 {
		strokes(c, p.px, x0, y, x1-gap, y+h, text, 200)
	}
	inset := p.px(6)
	lo, hi := x0+inset, x1-gap-p.px(3)
	if s := p.Font.Fit(name, float32(hi-lo)); s != "" {
		p.Font.Draw(c, float32(lo), y+p.px(14), s, text, lo, hi)
	}
}

// colours returns the colours of a bar and of its label. own reports whether the bar has
// its function's colour, that is, whether it is neither faded nor above the zoom.
func (p *Picture) colours(b *Bar) (bar, label color.NRGBA, own bool) {
	th := p.Palette.Theme
	nd := &p.Tree.Nodes[b.Node]
	switch {
	case b.Node == 0 && th.Dark:
		return th.Raised, th.Text, false
	case b.Node == 0:
		return th.Rule, th.Text, false
	case nd.Group > 0:
		fn := p.Tree.Function(p.Rec, int(b.Node))
		bar = th.Bar(&fn, p.Palette.Mode)
	default:
		bar = p.Palette.Func(p.Rec, nd.Func)
	}
	label, own = th.OnBar, true
	if p.Mark != nil {
		if !p.Mark(nd.Func) {
			if p.DimOthers {
				bar, label, own = th.Fade(bar), th.OnFaded(), false
			}
		} else if !p.DimOthers {
			bar = th.Lift(bar)
		}
	}
	if b.Row < int(p.Tree.Nodes[p.Zoom].Depth) || nd.Total < 0 {
		bar, label = th.Above(bar)
		own = false
	}
	return bar, label, own
}

// waits returns the width of a bar's off-CPU part in pixels.
func (p *Picture) waits(b *Bar, w int) int {
	if int(b.Node) >= len(p.Waiting) || w < p.px(leastTones) {
		return 0
	}
	nd := &p.Tree.Nodes[b.Node]
	return int(float64(w) * max(0, min(1, float64(p.Waiting[b.Node])/float64(max(1, nd.Total)))))
}

// leastTones is the least width, in dp, of a bar that shows its off-CPU part.
const leastTones = 6

// strokes draws strokes along the foot of a bar to show that something was removed: freed
// memory, or a call.
func strokes(c raster.Surface, px func(dp float32) int, x0, y0, x1, y1 int, ink raster.Color, strong uint32) {
	if x1-x0 < px(9) {
		return // too narrow for strokes
	}
	for x := x0; x < x1; x += px(6) {
		c.Shade(x, y1-px(3), min(x1, x+px(3)), y1-px(1), ink, strong)
	}
}

// At returns the bar under a pixel of the picture, or -1. If narrow bars share a pixel it
// returns the first.
func (p *Picture) At(x, y int) int {
	return barAt(p.Bars, x, y, p.First, p.Tree.Depth, p.px(BarHeight), p.RowTop)
}

func barAt(bars []Bar, x, y, first, last, height int, top func(row int) int) int {
	row := -1
	for r := first; r <= last; r++ {
		if top := top(r); y >= top && y < top+height {
			row = r
		}
	}
	for i := range bars {
		if x0, x1 := bars[i].pixels(); bars[i].Row == row && x >= x0 && x < x1 {
			return i
		}
	}
	return -1
}

// shape returns how to draw a bar: its columns, the gap at their right end and the radius
// of its corners.
func (b *Bar) shape(px func(dp float32) int) (x0, x1, gap, r int) {
	x0, x1 = b.pixels()
	if x1-x0 >= 3 {
		gap = 1
	}
	if x1-x0 > px(6) {
		r = px(2)
	}
	return x0, x1, gap, r
}

// pixels returns the columns of a bar, at least one.
func (b *Bar) pixels() (x0, x1 int) {
	x0, x1 = int(math.Floor(b.X0+.001)), int(math.Floor(b.X1+.001))
	return x0, max(x1, x0+1)
}
