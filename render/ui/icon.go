package ui

import (
	"image"
	"image/color"
	"math"
	"sync"

	"ashlar/render/icon"
	"ashlar/render/raster"
)

// iconSize is the size of icons next to text, in dp.
const iconSize = 16

// Icon draws an icon in the middle of r, at the size used next to text.
func (u *UI) Icon(i *icon.Icon, r image.Rectangle, c color.NRGBA) {
	px := u.Px(iconSize)
	at := image.Pt(r.Min.X+(r.Dx()-px)/2, r.Min.Y+(r.Dy()-px)/2)
	if u.Shapes != nil {
		u.Shapes.Drawing(i.Path(), float32(at.X)+float32(px)/2, float32(at.Y)+float32(px)/2, float32(px)/icon.Box, u.ink(c))
	}
	u.Draw(tintedIcons.picture(i, px, c), at)
}

// tintedIcons are the icons drawn so far, one per size and colour.
var tintedIcons tinted

type tinted struct {
	mu  sync.Mutex
	all map[tintedIcon]*Picture
}

type tintedIcon struct {
	icon  *icon.Icon
	px    int
	color color.NRGBA
}

// mostTinted is the number of icons cached: more than a window uses in one size and
// theme.
const mostTinted = 256

func (t *tinted) picture(i *icon.Icon, px int, c color.NRGBA) *Picture {
	t.mu.Lock()
	defer t.mu.Unlock()
	k := tintedIcon{i, px, c}
	if p := t.all[k]; p != nil {
		return p
	}
	if t.all == nil || len(t.all) >= mostTinted {
		t.all = map[tintedIcon]*Picture{}
	}
	p := inColour(i.Mask(px), c)
	t.all[k] = p
	return p
}

// inColour returns a mask painted in a colour. As in all images, the colour is
// premultiplied by alpha, but in linear light, because the window blends colours in
// linear light.
func inColour(mask *image.Alpha, c color.NRGBA) *Picture {
	size := mask.Rect.Size()
	canvas := raster.NewCanvas(size.X, size.Y, 0)
	for k, a := range mask.Pix {
		cover := float64(a) / 255 * float64(c.A) / 255
		for n, v := range channels(c) {
			canvas.Img.Pix[4*k+n] = uint8(math.Round(fromLight(cover * toLight(float64(v)))))
		}
		canvas.Img.Pix[4*k+3] = uint8(math.Round(cover * 255))
	}
	return NewPicture(canvas)
}
