package shell

import (
	"image"

	"ashlar/render/raster"
	"ashlar/render/ui"
)

// standout is a picture in which the bars of a function may stand out. The
// picture without them is kept: while the pointer moves, only they are drawn.
type standout struct {
	shown          *ui.Picture
	plain          *raster.Canvas
	plains, marked raster.Pool
}

// draw makes the picture of a size: plain paints it without what stands out, and
// is asked to where that is not known yet (fresh); over, if set, paints what does
// over it.
func (o *standout) draw(u *ui.UI, size image.Point, fresh bool, plain, over func(on raster.Surface)) {
	if u.Shapes != nil {
		o.shown = u.Paint(nil, size, func(on raster.Surface) {
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
		o.shown = ui.NewPicture(o.plain)
		return
	}
	c := o.marked.Copy(o.plain)
	over(c)
	o.shown = ui.NewPicture(c)
}
