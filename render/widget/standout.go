package widget

import (
	"image"

	"ashlar/render/raster"
	"ashlar/render/ui"
)

// A Standout is a picture in which the bars of one function can be highlighted. It keeps
// the picture without highlights, so that only the highlights are drawn while the pointer
// moves.
type Standout struct {
	Shown          *ui.Picture
	plain          *raster.Canvas
	plains, marked raster.Pool
}

// Draw makes a picture of the given size. plain paints it without highlights and is
// called only if fresh is true or no plain picture is kept; over, unless nil, paints the
// highlights on top.
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
