package drawing

import (
	"io"
	"path/filepath"
	"strings"

	"gioui.org/op"

	"ashlar/app/desktop/outfile"
	"ashlar/app/window/shell"
	"ashlar/render/raster"
	"ashlar/render/svg"
)

// SVG draws a settled shell as shapes, in w by h pixels with scale pixels per dp. It
// contains everything that the GPU would draw; text stays text.
func SVG(s *shell.Shell, w, h int, scale float32) *svg.Canvas {
	var ops op.Ops
	defer func() { s.Shapes = nil }()
	frame(s, &ops, w, h, scale, func() { s.Shapes = svg.New(w, h, raster.Pack(s.Theme.Background)) })
	return s.Shapes
}

// WriteSVG writes a picture of shapes to a file, atomically; "-" is standard output.
func WriteSVG(path string, o outfile.Options, c *svg.Canvas, title string, stdout io.Writer) error {
	if path == "-" {
		return c.Write(stdout, title)
	}
	return outfile.Write(path, o, func(w io.Writer) error { return c.Write(w, title) })
}

// IsSVG reports whether the file name calls for SVG.
func IsSVG(path string) bool { return strings.EqualFold(filepath.Ext(path), ".svg") }
