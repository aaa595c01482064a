// Package headless draws what the window would show into an image, on a GPU or
// a software one, without a display.
package headless

import (
	"fmt"
	"image"
	"image/draw"
	"image/png"
	"io"
	"os"
	"runtime"
	"time"

	"gioui.org/gpu/headless"
	"gioui.org/io/input"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/unit"

	"ashlar/app/outfile"
	"ashlar/app/shell"
)

// Draw lays out and draws a shell in a picture of w by h pixels with scale
// pixels a dp.
func Draw(s *shell.Shell, w, h int, scale float32) (*image.RGBA, error) {
	if runtime.GOOS == "linux" && os.Getenv("EGL_PLATFORM") == "" {
		// Without a display Mesa must be told not to look for one; Gio would
		// fall back to a slower way of drawing.
		os.Setenv("EGL_PLATFORM", "surfaceless")
	}
	return DrawBeside(s, w, h, scale)
}

// DrawBeside is Draw in a program that has a window: it draws with what that
// draws with.
func DrawBeside(s *shell.Shell, w, h int, scale float32) (*image.RGBA, error) {
	var ops op.Ops
	whole := frame(s, &ops, w, h, scale, func() {})
	return drawTiled(whole, image.Rect(0, 0, w, h), mostTile)
}

// mostTile is the longest side of a picture that is drawn at once: what every
// driver's textures can have. Gio panics where one of its own would be larger.
const mostTile = 4096

// drawTiled draws a picture in parts whose sides are at most most.
func drawTiled(whole op.CallOp, size image.Rectangle, most int) (*image.RGBA, error) {
	img := image.NewRGBA(size)
	for y := 0; y < size.Max.Y; y += most {
		for x := 0; x < size.Max.X; x += most {
			if err := drawTile(img, whole, image.Rect(x, y, x+most, y+most).Intersect(size)); err != nil {
				return nil, err
			}
		}
	}
	return img, nil
}

// drawTile draws the part of a picture that lies in a rectangle.
func drawTile(img *image.RGBA, whole op.CallOp, r image.Rectangle) error {
	win, err := headless.NewWindow(r.Dx(), r.Dy())
	if err != nil {
		return fmt.Errorf("cannot draw: no OpenGL is to be had (%v); on Debian install libegl1, libegl-mesa0 and libgl1-mesa-dri", err)
	}
	defer win.Release()
	var ops op.Ops
	defer op.Offset(image.Point{}.Sub(r.Min)).Push(&ops).Pop()
	whole.Add(&ops)
	if err := win.Frame(&ops); err != nil {
		return fmt.Errorf("cannot draw: %w", err)
	}
	part := image.NewRGBA(image.Rectangle{Max: r.Size()})
	if err := win.Screenshot(part); err != nil {
		return fmt.Errorf("cannot read the picture back: %w", err)
	}
	draw.Draw(img, r, part, image.Point{}, draw.Src)
	return nil
}

// Frame lays a shell out twice, as a window would: what the first pass learns
// about places the second one uses.
func Frame(s *shell.Shell, ops *op.Ops, w, h int, scale float32) {
	frame(s, ops, w, h, scale, func() {})
}

// frame calls before before each pass, and returns what was laid out last.
func frame(s *shell.Shell, ops *op.Ops, w, h int, scale float32, before func()) (laid op.CallOp) {
	var router input.Router
	for range 2 {
		before()
		ops.Reset()
		gtx := layout.Context{
			Ops:         ops,
			Now:         time.Now(),
			Source:      router.Source(),
			Metric:      unit.Metric{PxPerDp: scale, PxPerSp: scale},
			Constraints: layout.Exact(image.Pt(w, h)),
		}
		recorded := op.Record(ops)
		s.Layout(gtx)
		laid = recorded.Stop()
		laid.Add(ops)
		router.Frame(ops)
	}
	return laid
}

// WritePNG writes a picture to a file ("-" is standard output), whole or not
// at all.
func WritePNG(path string, o outfile.Options, img image.Image, stdout io.Writer) error {
	if path == "-" {
		return png.Encode(stdout, img)
	}
	return outfile.Write(path, o, func(w io.Writer) error { return png.Encode(w, img) })
}
