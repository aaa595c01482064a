package ui

import (
	"image"

	"gioui.org/op"
	"gioui.org/op/clip"
	"gioui.org/op/paint"

	"ashlar/render/raster"
	"ashlar/render/svg"
)

// A Picture is a dense drawing that is made once and shown in many frames: pixels that
// are uploaded once, or shapes if the frame is exported as SVG.
type Picture struct {
	op     paint.ImageOp
	size   image.Point
	shapes *svg.Canvas
}

// Paint makes a picture on the window's background. The pixels come from pool unless it
// is nil.
func (u *UI) Paint(pool *raster.Pool, size image.Point, paint func(on raster.Surface)) *Picture {
	bg := raster.Pack(u.Theme.Background)
	if u.Shapes != nil {
		c := svg.New(size.X, size.Y, bg)
		paint(c)
		return &Picture{size: size, shapes: c}
	}
	c := pool.Canvas(size.X, size.Y, bg)
	paint(c)
	return NewPicture(c)
}

// Cover is like Paint for drawings that cover the whole picture: the pixels are not
// cleared first.
func (u *UI) Cover(pool *raster.Pool, size image.Point, paint func(on raster.Surface)) *Picture {
	if u.Shapes != nil {
		return u.Paint(nil, size, paint)
	}
	c := pool.Used(size.X, size.Y)
	paint(c)
	return NewPicture(c)
}

// NewPicture takes ownership of a canvas; the caller must not draw into it afterwards.
func NewPicture(c *raster.Canvas) *Picture {
	op := paint.NewImageOp(c.Img)
	op.Filter = paint.FilterNearest
	return &Picture{op: op, size: image.Pt(c.W, c.H)}
}

// Serves reports whether a picture, which may be nil, can be drawn in this frame: shapes
// if the frame is exported, pixels otherwise.
func (p *Picture) Serves(u *UI) bool { return p != nil && (p.shapes != nil) == (u.Shapes != nil) }

// Draw shows a picture with its corner at a whole pixel: drawing it at any other place or
// scale takes a slower path.
func (u *UI) Draw(p *Picture, at image.Point) {
	if p == nil {
		return
	}
	if p.shapes != nil {
		if u.Shapes != nil {
			u.Shapes.Paste(at.X, at.Y, p.shapes)
		}
		return
	}
	defer op.Offset(at).Push(u.Ops).Pop()
	defer clip.Rect(image.Rectangle{Max: p.size}).Push(u.Ops).Pop()
	p.op.Add(u.Ops)
	paint.PaintOp{}.Add(u.Ops)
}
