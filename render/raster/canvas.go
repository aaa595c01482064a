// Package raster draws bars and their labels into an image on the CPU.
//
// On a GPU, each bar would cost several driver calls, while one image costs the same
// whatever it contains. So dense lanes are drawn here and uploaded as one texture.
package raster

import (
	"image"
	"image/color"
	"unsafe"
)

// Color is an opaque pixel in the memory order of image.RGBA.
type Color uint32

// Pack converts a colour, ignoring its alpha.
func Pack(c color.NRGBA) Color {
	return Color(uint32(c.R) | uint32(c.G)<<8 | uint32(c.B)<<16 | 0xff000000)
}

// Unpack is the inverse of Pack.
func Unpack(c Color) color.NRGBA {
	return color.NRGBA{R: uint8(c), G: uint8(c >> 8), B: uint8(c >> 16), A: 0xff}
}

// A Canvas is an image to draw on. All drawing is clipped to it.
type Canvas struct {
	Img  *image.RGBA
	W, H int
	pix  []uint32
}

// NewCanvas returns a canvas of w by h pixels, at least 1 by 1, on a
// background.
func NewCanvas(w, h int, bg Color) *Canvas {
	w, h = max(1, w), max(1, h)
	c := canvasOf(image.NewRGBA(image.Rect(0, 0, w, h)))
	fill(c.pix, uint32(bg))
	return c
}

func canvasOf(img *image.RGBA) *Canvas {
	w, h := img.Rect.Dx(), img.Rect.Dy()
	return &Canvas{Img: img, W: w, H: h, pix: unsafe.Slice((*uint32)(unsafe.Pointer(&img.Pix[0])), w*h)}
}

// Pool provides canvases for a picture that is drawn repeatedly, and reuses their memory.
// A canvas is valid until the fourth request after it; by then its frame was uploaded
// long ago. The zero value is ready to use. A Pool must be used by one goroutine only.
type Pool struct {
	ring [4][]uint8
	next int
	// ready has memory prepared for the next canvases; nil if none is being prepared.
	ready chan []uint8
}

// Limits of the memory that a pool prepares and keeps, in bytes.
const (
	// leastPrepared is the size above which memory is prepared: the first use of a fresh
	// page takes the kernel as long as drawing it, so several pages would delay a frame.
	leastPrepared = 64 << 10
	// mostKept is the size up to which memory is kept for canvases that need less than a
	// quarter of it.
	mostKept = 1 << 20
)

// Canvas is NewCanvas from the pool, which may be nil.
func (p *Pool) Canvas(w, h int, bg Color) *Canvas {
	c := p.Used(w, h)
	fill(c.pix, uint32(bg))
	return c
}

// Used returns a canvas with undefined content, for a picture that covers all of it.
func (p *Pool) Used(w, h int) *Canvas {
	if p == nil {
		return NewCanvas(w, h, 0)
	}
	w, h = max(1, w), max(1, h)
	n := 4 * w * h
	p.next = (p.next + 1) % len(p.ring)
	if pix := p.ring[p.next]; cap(pix) < n || cap(pix) > max(4*n, mostKept) {
		p.ring[p.next] = p.memory(n)
	}
	// The image is a new one, because images are identified by address.
	return canvasOf(&image.RGBA{Pix: p.ring[p.next][:n], Stride: 4 * w, Rect: image.Rect(0, 0, w, h)})
}

// memory returns memory for n bytes and some more, so that a picture that is dragged larger
// does not need other memory in each frame. Memory for the rest of the ring is prepared in
// the background.
func (p *Pool) memory(n int) []uint8 {
	most := n + n/8
	if n < leastPrepared {
		return make([]uint8, most)
	}
	if p.ready == nil {
		ready := make(chan []uint8, len(p.ring)-1)
		p.ready = ready
		go func() {
			defer close(ready)
			for range cap(ready) {
				pix := make([]uint8, most)
				clear(pix) // touches the pages
				ready <- pix
			}
		}()
	}
	select {
	case pix, ok := <-p.ready:
		if cap(pix) >= n && cap(pix) <= 4*n {
			return pix
		}
		if !ok {
			p.ready = nil
		}
	default: // not ready yet
	}
	return make([]uint8, most)
}

// Copy returns a canvas from the pool with the content of another one.
func (p *Pool) Copy(of *Canvas) *Canvas {
	c := p.Used(of.W, of.H)
	copy(c.pix, of.pix)
	return c
}

func fill(p []uint32, v uint32) {
	if len(p) == 0 {
		return
	}
	if len(p) < 16 {
		for i := range p {
			p[i] = v
		}
		return
	}
	p[0] = v
	for n := 1; n < len(p); n *= 2 {
		copy(p[n:], p[:n])
	}
}

// Rect fills x0..x1 by y0..y1.
func (c *Canvas) Rect(x0, y0, x1, y1 int, col Color) {
	x0, y0, x1, y1 = max(0, x0), max(0, y0), min(c.W, x1), min(c.H, y1)
	if x0 >= x1 || y0 >= y1 {
		return
	}
	first := c.pix[y0*c.W+x0 : y0*c.W+x1]
	fill(first, uint32(col))
	if len(first) < 16 { // a loop is quicker
		for y := y0 + 1; y < y1; y++ {
			fill(c.pix[y*c.W+x0:y*c.W+x1], uint32(col))
		}
		return
	}
	for y := y0 + 1; y < y1; y++ {
		copy(c.pix[y*c.W+x0:], first)
	}
}

// Shade lays a colour over x0..x1 by y0..y1 with opacity a of 255.
func (c *Canvas) Shade(x0, y0, x1, y1 int, col Color, a uint32) {
	x0, y0, x1, y1 = max(0, x0), max(0, y0), min(c.W, x1), min(c.H, y1)
	for y := y0; y < y1; y++ {
		row := c.pix[y*c.W : (y+1)*c.W]
		for x := x0; x < x1; x++ {
			row[x] = blend(row[x], uint32(col), a)
		}
	}
}

// Line returns the pixels x0..x1 of row y, for writing; nil if they are not all on the
// canvas.
func (c *Canvas) Line(x0, x1, y int) []Color {
	if x0 < 0 || x1 > c.W || x0 >= x1 || y < 0 || y >= c.H {
		return nil
	}
	line := c.pix[y*c.W+x0 : y*c.W+x1]
	return unsafe.Slice((*Color)(unsafe.Pointer(&line[0])), len(line))
}

// Repeat copies the pixels x0..x1 of the row at y into the rows y0..y1.
func (c *Canvas) Repeat(x0, x1, y, y0, y1 int) {
	line := c.Line(x0, x1, y)
	for y0 = max(0, y0); y0 < min(c.H, y1); y0++ {
		if y0 != y {
			copy(c.Line(x0, x1, y0), line)
		}
	}
}

// Blend returns a colour laid over another with opacity a of 255.
func Blend(under, over Color, a uint32) Color { return Color(blend(uint32(under), uint32(over), a)) }

// Bar fills a rectangle and, if it is large enough, rounds its corners with radius r (1
// or 2 pixels look right).
func (c *Canvas) Bar(x0, y0, x1, y1 int, col Color, r int) {
	if r <= 0 || x1-x0 < 4*r || y1-y0 < 4*r {
		c.Rect(x0, y0, x1, y1, col)
		return
	}
	bgs := [4]struct{ x, y, dx, dy int }{{x0, y0, 1, 1}, {x1 - 1, y0, -1, 1}, {x0, y1 - 1, 1, -1}, {x1 - 1, y1 - 1, -1, -1}}
	var keep [4][4]uint32
	for i, k := range bgs {
		keep[i] = [4]uint32{c.at(k.x, k.y), c.at(k.x+k.dx, k.y), c.at(k.x, k.y+k.dy), c.at(k.x+2*k.dx, k.y)}
	}
	c.Rect(x0, y0, x1, y1, col)
	for i, k := range bgs {
		if r == 1 {
			c.set(k.x, k.y, blend(uint32(col), keep[i][0], 150))
			continue
		}
		c.set(k.x, k.y, blend(uint32(col), keep[i][0], 235))
		c.set(k.x+k.dx, k.y, blend(uint32(col), keep[i][1], 90))
		c.set(k.x, k.y+k.dy, blend(uint32(col), keep[i][2], 90))
	}
}

func (c *Canvas) at(x, y int) uint32 {
	if x < 0 || y < 0 || x >= c.W || y >= c.H {
		return 0
	}
	return c.pix[y*c.W+x]
}

func (c *Canvas) set(x, y int, v uint32) {
	if x >= 0 && y >= 0 && x < c.W && y < c.H {
		c.pix[y*c.W+x] = v
	}
}

// blend lays s over d with opacity a of 255.
func blend(d, s, a uint32) uint32 {
	a += a >> 7 // 0..256
	rb := d&0xff00ff + ((s&0xff00ff-d&0xff00ff)*a)>>8
	g := d&0x00ff00 + ((s&0x00ff00-d&0x00ff00)*a)>>8
	return rb&0xff00ff | g&0x00ff00 | 0xff000000
}
