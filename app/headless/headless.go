// Package headless draws what the window would show into an image, on a GPU or
// a software one, without a display.
package headless

import (
	"fmt"
	"image"
	"image/png"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"time"

	"gioui.org/gpu/headless"
	"gioui.org/io/input"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/unit"

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
	win, err := headless.NewWindow(w, h)
	if err != nil {
		return nil, fmt.Errorf("cannot draw: no OpenGL is to be had (%v); on Debian install libegl1, libegl-mesa0 and libgl1-mesa-dri", err)
	}
	defer win.Release()
	var ops op.Ops
	Frame(s, &ops, w, h, scale)
	if err := win.Frame(&ops); err != nil {
		return nil, fmt.Errorf("cannot draw: %w", err)
	}
	img := image.NewRGBA(image.Rect(0, 0, w, h))
	if err := win.Screenshot(img); err != nil {
		return nil, fmt.Errorf("cannot read the picture back: %w", err)
	}
	return img, nil
}

// Frame lays a shell out twice, as a window would: what the first pass learns
// about places the second one uses.
func Frame(s *shell.Shell, ops *op.Ops, w, h int, scale float32) {
	frame(s, ops, w, h, scale, func() {})
}

// frame calls before before each pass.
func frame(s *shell.Shell, ops *op.Ops, w, h int, scale float32, before func()) {
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
		s.Layout(gtx)
		router.Frame(ops)
	}
}

// WritePNG writes a picture to a file ("-" is standard output), whole or not
// at all.
func WritePNG(path string, img image.Image, stdout io.Writer) error {
	if path == "-" {
		return png.Encode(stdout, img)
	}
	return writeWhole(path, func(f *os.File) error { return png.Encode(f, img) })
}

// writeWhole writes a file under another name and renames it when it is whole.
func writeWhole(path string, write func(*os.File) error) error {
	f, err := os.CreateTemp(filepath.Dir(path), ".ashlar-*"+filepath.Ext(path))
	if err != nil {
		return fmt.Errorf("%s: cannot be written: %w", path, err)
	}
	err = write(f)
	if err == nil {
		err = f.Chmod(0o644)
	}
	if cerr := f.Close(); err == nil {
		err = cerr
	}
	if err == nil {
		err = os.Rename(f.Name(), path)
	}
	if err != nil {
		os.Remove(f.Name())
		return fmt.Errorf("%s: cannot be written: %w", path, err)
	}
	return nil
}
