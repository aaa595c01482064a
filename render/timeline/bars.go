package timeline

import (
	"ashlar/ingest/model/recording"
	"ashlar/render/raster"
)

// tint is a cached colour of a call's bars, with everything on which it depends.
type tint struct {
	call            recording.CallID
	of              int32
	hit, out, faded bool
	color, thin     raster.Color // color is 0 if not computed yet
}

// color returns the colour of a call's bars, faded if others are highlighted. A few calls
// make up most of a picture's bars, so their colours are cached.
func (p *Picture) color(call recording.CallID) raster.Color { return p.tint(call).color }

// tint returns the colours of a call's bars.
func (p *Picture) tint(call recording.CallID) *tint {
	t := &p.tints[int(call)%len(p.tints)]
	if t.call != call || t.of != int32(p.of) || t.hit != p.hit || t.out != p.out || t.color == 0 {
		*t = tint{call: call, of: int32(p.of), hit: p.hit, out: p.out}
		t.color, t.faded = p.colorOf(call)
		if t.thin = t.color; !t.faded {
			t.thin = raster.Pack(p.Palette.Theme.Thin(raster.Unpack(t.color)))
		}
	}
	p.faded = t.faded
	return t
}

func (p *Picture) colorOf(call recording.CallID) (c raster.Color, faded bool) {
	if call == recording.NoCall {
		return raster.Pack(p.Palette.Theme.Faint), false
	}
	col := p.Palette.On(p.Rec, p.of, call)
	if p.out {
		return raster.Pack(p.Palette.Theme.Fade(col)), true
	}
	if p.Mark != nil {
		marked := p.hit
		if p.MarkAt == nil {
			marked = p.Mark(p.Rec.Func(call))
		}
		if marked {
			if !p.DimOthers {
				col = p.Palette.Theme.Lift(col)
			}
		} else if p.DimOthers {
			return raster.Pack(p.Palette.Theme.Fade(col)), true
		}
	}
	return raster.Pack(col), false
}

// waiting returns the colour for the off-CPU part of a bar.
func (p *Picture) waiting(col raster.Color) raster.Color {
	return raster.Pack(p.Palette.Theme.Waiting(raster.Unpack(col)))
}

// bar draws a bar of a lane's height with its label.
func (p *Picture) bar(x0, x1, y int, call recording.CallID, unfinished bool) {
	b := wideBar{x0: x0, x1: x1, wait: x1, call: call, unfinished: unfinished, hit: p.hit, membership: membership{out: p.out}}
	p.box(p.c, &b, y, p.px(laneHeight)-1)
	p.label(&b, y, p.px(laneHeight)-1)
}

// box draws a bar without its label, at least wide enough to be seen.
func (p *Picture) box(on raster.Shapes, b *wideBar, y, h int) {
	p.Bars++
	x0, x1, gap := b.x0, b.x1, 0
	if x1-x0 >= 3 {
		gap = 1
	}
	p.hit, p.out = b.hit, b.out
	col := p.color(b.call)
	if b.thin {
		col, x1, gap = p.tint(b.call).thin, max(x1, x0+p.px(1)), 0
	}
	r := 0
	if x1-x0 > p.px(5) {
		r = p.px(1.5)
	}
	if b.wait < b.x1 && !p.faded {
		raster.BarOfTwo(on, max(x0, p.Gutter-8), max(b.wait, p.Gutter-8), x1-gap, y, y+h, col, p.waiting(col), r)
	} else {
		on.Bar(max(x0, p.Gutter-8), y, x1-gap, y+h, col, r)
	}
	if b.unfinished { // fades out in its second half
		n := min(p.px(10), (x1-x0)/2)
		for k := range n {
			on.Shade(x1-1-k, y, x1-k, y+h, p.lanes.bg, uint32(230-k*230/n))
		}
	}
}

// label writes the name of a bar's call where there is room for it.
func (p *Picture) label(b *wideBar, y, h int) {
	lo, hi := max(b.x0, p.Gutter)+p.px(5), min(b.x1, p.w)-p.px(3)
	if b.call == recording.NoCall || hi-lo < p.px(14) || h < p.px(14) {
		return
	}
	name := p.Rec.Functions.At(int(p.Rec.Func(b.call))).Name
	if s := p.Fonts.Bar.Fit(name, float32(hi-lo)); s != "" {
		p.hit, p.out = b.hit, b.out
		ink := p.onBar
		if p.color(b.call); p.faded {
			ink = p.onFaded
		}
		p.Fonts.Bar.Draw(p.c, float32(lo), y+p.px(12.8), s, ink, lo, hi)
	}
}
