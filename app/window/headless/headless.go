// Package headless draws the window's content into an image without a display, on a GPU or
// a software renderer.
package headless

import (
	"errors"
	"fmt"
	"image"
	"image/draw"
	"os"
	"runtime"

	"gioui.org/gpu/headless"
	"gioui.org/op"

	"ashlar/app/window/drawing"
	"ashlar/app/window/shell"
	"ashlar/ingest/input/memory"
)

// Draw draws a shell into a picture of w by h pixels with scale pixels per dp.
func Draw(s *shell.Shell, w, h int, scale float32) (*image.RGBA, error) {
	if runtime.GOOS == "linux" && os.Getenv("EGL_PLATFORM") == "" {
		// Without a display Mesa must be told not to look for one; Gio would
		// fall back to a slower way of drawing.
		os.Setenv("EGL_PLATFORM", "surfaceless")
	}
	var ops op.Ops
	whole := drawing.Frame(s, &ops, w, h, scale) // layout takes memory too
	if err := memory.Need(openGL, "OpenGL"); err != nil {
		return nil, fmt.Errorf("cannot draw: %w (%v)", ErrNoGPU, err)
	}
	return drawTiled(whole, image.Rect(0, 0, w, h), mostTile)
}

// openGL is the number of bytes that an OpenGL driver may need for its compiler and
// threads. A driver that cannot allocate them ends the program.
const openGL = 768 << 20

// DrawBeside is like Draw, for a program that has a window: it uses the window's graphics
// API.
func DrawBeside(s *shell.Shell, w, h int, scale float32) (*image.RGBA, error) {
	var ops op.Ops
	whole := drawing.Frame(s, &ops, w, h, scale)
	return drawTiled(whole, image.Rect(0, 0, w, h), mostTile)
}

// ErrNoGPU means that there is no OpenGL, not even in software.
var ErrNoGPU = errors.New("OpenGL is not available")

// mostTile is the longest side of a picture drawn in one piece: every driver supports
// textures of that size. Gio panics if it needs a larger one.
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

// drawTile draws the part of a picture within a rectangle. Gio panics if the driver runs
// out of memory; that is reported as having no GPU.
func drawTile(img *image.RGBA, whole op.CallOp, r image.Rectangle) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("cannot draw: %w (%v)", ErrNoGPU, p)
		}
	}()
	win, err := headless.NewWindow(r.Dx(), r.Dy())
	if err != nil {
		return fmt.Errorf("cannot draw: %w (%v); on Debian install libegl1, libegl-mesa0 and libgl1-mesa-dri", ErrNoGPU, err)
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
