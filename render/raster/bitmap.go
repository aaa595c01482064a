package raster

import (
	"bytes"
	"image"
	"image/draw"
	"image/png"
	"math"

	"github.com/go-text/typesetting/font"
)

// withoutOutline renders a glyph that has no outline: a blank, or an emoji, of which only
// bitmaps are read. Others become a small frame.
func withoutOutline(face *font.Face, gid font.GID, scale float32) *glyph {
	data := face.GlyphData(gid)
	if _, blank := data.(font.GlyphOutline); blank || data == nil {
		return &glyph{}
	}
	if b, ok := data.(font.GlyphBitmap); ok && b.Format == font.PNG {
		if g := bitmap(face, gid, b.Data, scale); g != nil {
			return g
		}
	}
	return frame(scale*float32(face.Upem()), face.HorizontalAdvance(gid)*scale)
}

// bitmap renders a glyph that is a PNG picture, nil if it cannot be read.
func bitmap(face *font.Face, gid font.GID, data []byte, scale float32) *glyph {
	e, ok := face.GlyphExtents(gid)
	if !ok {
		return nil
	}
	size, err := png.DecodeConfig(bytes.NewReader(data))
	if err != nil || size.Width > mostBitmap || size.Height > mostBitmap {
		return nil
	}
	img, err := png.Decode(bytes.NewReader(data))
	if err != nil {
		return nil
	}
	w, h := int(math.Round(float64(e.Width*scale))), int(math.Round(math.Abs(float64(e.Height*scale))))
	if w <= 0 || h <= 0 || w > img.Bounds().Dx() || h > img.Bounds().Dy() {
		return nil
	}
	return &glyph{picture: smaller(img, w, h), x: int(math.Round(float64(e.XBearing * scale))), y: -int(math.Round(float64(e.YBearing * scale)))}
}

// mostBitmap is the largest width and height of a glyph's bitmap, in pixels.
const mostBitmap = 1024

// smaller returns an image reduced to w by h pixels, each the average of those it covers.
func smaller(img image.Image, w, h int) *image.RGBA {
	of := image.NewRGBA(image.Rectangle{Max: img.Bounds().Size()})
	draw.Draw(of, of.Rect, img, img.Bounds().Min, draw.Src)
	out := image.NewRGBA(image.Rect(0, 0, w, h))
	for y := range h {
		y0, y1 := y*of.Rect.Dy()/h, (y+1)*of.Rect.Dy()/h
		for x := range w {
			x0, x1 := x*of.Rect.Dx()/w, (x+1)*of.Rect.Dx()/w
			var sum [4]int
			for sy := y0; sy < y1; sy++ {
				for i, v := range of.Pix[of.PixOffset(x0, sy):][:4*(x1-x0)] {
					sum[i%4] += int(v)
				}
			}
			for i, v := range sum {
				out.Pix[out.PixOffset(x, y)+i] = uint8(v / ((y1 - y0) * (x1 - x0)))
			}
		}
	}
	return out
}

// picture paints a glyph with colours of its own.
func (c *Canvas) picture(img *image.RGBA, x, y, clip0, clip1 int) {
	r := image.Rectangle{Min: image.Pt(x, y), Max: image.Pt(x, y).Add(img.Rect.Size())}
	r = r.Intersect(image.Rect(clip0, 0, clip1, c.H))
	draw.Draw(c.Img, r, img, r.Min.Sub(image.Pt(x, y)), draw.Over)
}

// frame returns a small frame for a glyph that cannot be drawn; em is the font size and w
// the glyph's width, in pixels.
func frame(em, w float32) *glyph {
	n := max(4, int(em*.7))
	m := image.NewAlpha(image.Rect(0, 0, n, n))
	for i := range n {
		for _, p := range [][2]int{{i, 0}, {i, n - 1}, {0, i}, {n - 1, i}} {
			m.Pix[p[1]*m.Stride+p[0]] = 170
		}
	}
	for _, p := range [][2]int{{0, 0}, {n - 1, 0}, {0, n - 1}, {n - 1, n - 1}} {
		m.Pix[p[1]*m.Stride+p[0]] = 60
	}
	return &glyph{mask: m, x: max(0, int((w-float32(n))/2)), y: -n}
}
