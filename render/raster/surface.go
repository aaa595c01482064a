package raster

// A Surface is something to draw on: a [Canvas] of pixels, or a canvas that records the
// same shapes for another program. Coordinates are pixels, x1 and y1 excluded. Later
// shapes cover earlier ones.
type Surface interface {
	Shapes
	// Size returns the surface's width and height.
	Size() (w, h int)
	// Text draws s, beginning at x with its baseline at y, clipped horizontally to
	// clip0..clip1.
	Text(f *Face, x float32, y int, s string, col Color, clip0, clip1 int)
}

// Shapes is the part of a [Surface] that needs no fonts.
type Shapes interface {
	// Rect fills a rectangle.
	Rect(x0, y0, x1, y1 int, col Color)
	// Shade lays a colour over a rectangle with opacity a of 255.
	Shade(x0, y0, x1, y1 int, col Color, a uint32)
	// Bar fills a rectangle with corners of radius r, if it is large enough for them.
	Bar(x0, y0, x1, y1 int, col Color, r int)
}

// BarOfTwo draws a bar of x0..x1 by y0..y1 that changes to a second colour at mid.
func BarOfTwo(on Shapes, x0, mid, x1, y0, y1 int, col, second Color, r int) {
	on.Bar(x0, y0, x1, y1, second, r)
	if mid = min(mid, x1); mid <= x0 {
		return
	}
	on.Bar(x0, y0, mid, y1, col, r)
	if mid < x1-r { // only the ends of the whole bar are round
		on.Rect(max(x0+r, mid-r), y0, mid, y1, col)
	}
}

// Size returns the canvas's width and height.
func (c *Canvas) Size() (w, h int) { return c.W, c.H }

// Draw writes s on a surface; see [Surface.Text].
func (f *Face) Draw(on Surface, x float32, y int, s string, col Color, clip0, clip1 int) {
	on.Text(f, x, y, s, col, clip0, clip1)
}
