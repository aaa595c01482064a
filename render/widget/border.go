package widget

import (
	"image"

	"gioui.org/io/pointer"

	"ashlar/render/theme"
	"ashlar/render/ui"
)

// Border is the draggable vertical border of a column.
type Border struct {
	Drag
	grip float32 // distance of the border from the pressed point, in pixels
}

// Layout handles drags of the border, which is at the left of r. It reports whether the
// border is to move to a new position, and whether a double click resets it.
func (b *Border) Layout(u *ui.UI, r image.Rectangle) (x float32, moved, reset bool) {
	for {
		g, _, ok := b.Next(u, image.Point{})
		if !ok {
			break
		}
		switch g {
		case Pressed:
			b.grip = float32(r.Min.X) - b.At.X
		case Dragged:
			x, moved = b.At.X+b.grip, true
		case DoubleClicked:
			reset = true
		}
	}
	if b.Pressed || b.Inside {
		u.Fill(image.Rect(r.Min.X-u.Px(1), r.Min.Y, r.Min.X+u.Px(1), r.Max.Y), theme.WithAlpha(u.Theme.Accent, .7))
	}
	b.Area(u, image.Rect(r.Min.X-u.Px(4), r.Min.Y, r.Min.X+u.Px(4), r.Max.Y), pointer.CursorColResize)
	return x, moved, reset
}
