// Package drawing draws the window's content as shapes or pixels without a window or a
// GPU.
package drawing

import (
	"image"
	"image/png"
	"io"
	"time"

	"gioui.org/io/input"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/unit"

	"ashlar/app/desktop/outfile"
	"ashlar/app/window/shell"
	"ashlar/render/pixels"
)

// Draw draws a settled shell on the CPU, in w by h pixels with scale pixels per dp.
func Draw(s *shell.Shell, w, h int, scale float32) (*image.RGBA, error) {
	return pixels.Draw(SVG(s, w, h, scale))
}

// Frame lays out a shell twice, as a window would: the second pass uses positions found
// by the first. It returns the second layout.
func Frame(s *shell.Shell, ops *op.Ops, w, h int, scale float32) op.CallOp {
	return frame(s, ops, w, h, scale, func() {})
}

// frame is like Frame, but calls before ahead of each pass.
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

// WritePNG writes a picture to a file, atomically; "-" is standard output.
func WritePNG(path string, o outfile.Options, img image.Image, stdout io.Writer) error {
	if path == "-" {
		return png.Encode(stdout, img)
	}
	return outfile.Write(path, o, func(w io.Writer) error { return png.Encode(w, img) })
}
