package widget

import (
	"image"

	"ashlar/render/raster"
	"ashlar/render/ui"
)

// Standout is a picture in which the bars of a function may stand out. The
// picture without them is kept: while the pointer moves, only they are drawn.
type Standout struct {
	Shown          *ui.Picture
	plain          *raster.Canvas
	plains, marked raster.Pool
}

// Draw makes the picture of a size: plain paints it without what stands out, and
// is asked to where that is not known yet (fresh); over, if set, paints what does
// over it.
func (o *Standout) Draw(u *ui.UI, size image.Point, fresh bool, plain, over func(on raster.Surface)) {
	if u.Shapes != nil {
		o.Shown = u.Paint(nil, size, func(on raster.Surface) {
			plain(on)
			if over != nil {
				over(on)
			}
		})
		o.plain = nil
		return
	}
	if fresh || o.plain == nil {
		o.plain = o.plains.Canvas(size.X, size.Y, raster.Pack(u.Theme.Background))
		plain(o.plain)
	}
	if over == nil {
		o.Shown = ui.NewPicture(o.plain)
		return
	}
	c := o.marked.Copy(o.plain)
	over(c)
	o.Shown = ui.NewPicture(c)
}
