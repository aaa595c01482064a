// Package svg writes pictures as SVG 1.1 with text as text, from the same shapes as the
// pixel canvas.
package svg

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"ashlar/render/raster"
)

// A Canvas is a [raster.Surface] that records shapes as SVG. Create one with [New]. It
// must be used by one goroutine only.
type Canvas struct {
	w, h int
	// x0 and y0 are the position of a part's corner in the whole picture.
	x0, y0 int
	out    *bytes.Buffer
	// run collects successive rectangles of one colour and opacity. Most of a dense
	// picture consists of such rectangles.
	run *run
	// clips counts the clipping areas, to name them.
	clips *int
}

type run struct {
	col  raster.Color
	a    uint32
	path bytes.Buffer
}

// New returns a canvas of w by h pixels on a background.
func New(w, h int, bg raster.Color) *Canvas {
	c := &Canvas{w: max(1, w), h: max(1, h), out: new(bytes.Buffer), run: new(run), clips: new(int)}
	c.Rect(0, 0, c.w, c.h, bg)
	return c
}

// Part draws on a part of the canvas, in coordinates relative to its corner. Drawing is
// clipped to the part.
func (c *Canvas) Part(x0, y0, x1, y1 int, draw func(part *Canvas)) {
	c.flush()
	before := c.out.Len()
	*c.clips++
	id := *c.clips
	fmt.Fprintf(c.out, `<clipPath id="c%d"><rect x="%d" y="%d" width="%d" height="%d"/></clipPath><g clip-path="url(#c%d)">`+"\n",
		id, c.x0+x0, c.y0+y0, max(0, x1-x0), max(0, y1-y0), id)
	empty := c.out.Len()
	p := &Canvas{w: max(1, x1-x0), h: max(1, y1-y0), x0: c.x0 + x0, y0: c.y0 + y0, out: c.out, run: c.run, clips: c.clips}
	draw(p)
	p.flush()
	if c.out.Len() == empty {
		c.out.Truncate(before)
		return
	}
	c.out.WriteString("</g>\n")
}

// Paste draws a separate canvas on this one, with its corner at x, y.
func (c *Canvas) Paste(x, y int, p *Canvas) {
	p.flush()
	if x >= c.w || y >= c.h || x+p.w <= 0 || y+p.h <= 0 {
		return
	}
	c.flush()
	fmt.Fprintf(c.out, `<svg x="%d" y="%d" width="%d" height="%d">`+"\n", c.x0+x, c.y0+y, p.w, p.h)
	c.out.Write(p.out.Bytes())
	c.out.WriteString("</svg>\n")
}

// Size returns the canvas's width and height.
func (c *Canvas) Size() (w, h int) { return c.w, c.h }

// Rect fills a rectangle.
func (c *Canvas) Rect(x0, y0, x1, y1 int, col raster.Color) { c.Shade(x0, y0, x1, y1, col, 255) }

// Shade lays a colour over a rectangle with opacity a of 255.
func (c *Canvas) Shade(x0, y0, x1, y1 int, col raster.Color, a uint32) {
	x0, y0, x1, y1 = max(0, x0), max(0, y0), min(c.w, x1), min(c.h, y1)
	if x0 >= x1 || y0 >= y1 || a == 0 {
		return
	}
	r := c.run
	// Opaque rectangles of one colour may overlap in one path. Translucent ones must not,
	// because each adds to the colour.
	if r.path.Len() > 0 && (r.col != col || r.a != a || a < 255) {
		c.flush()
	}
	r.a = a
	r.col = col
	fmt.Fprintf(&r.path, "M%d %dh%dv%dh%dz", c.x0+x0, c.y0+y0, x1-x0, y1-y0, x0-x1)
}

// Bar fills a rectangle with corners of radius r, if it is large enough for them.
func (c *Canvas) Bar(x0, y0, x1, y1 int, col raster.Color, r int) {
	if r <= 0 || x1-x0 < 4*r || y1-y0 < 4*r {
		c.Rect(x0, y0, x1, y1, col)
		return
	}
	if x1 <= 0 || y1 <= 0 || x0 >= c.w || y0 >= c.h {
		return
	}
	c.flush()
	fmt.Fprintf(c.out, `<rect x="%d" y="%d" width="%d" height="%d" rx="%d" fill="%s"/>`+"\n", c.x0+x0, c.y0+y0, x1-x0, y1-y0, r, hex(col))
}

// Text draws s, beginning at x with its baseline at y.
func (c *Canvas) Text(f *raster.Face, x float32, y int, s string, col raster.Color, clip0, clip1 int) {
	clip0, clip1 = max(0, clip0), min(c.w, clip1)
	wide := f.Measure(s)
	if s == "" || x >= float32(clip1) || x+wide <= float32(clip0) {
		return
	}
	if y+int(f.Size()) <= 0 || y-int(2*f.Size()) >= c.h {
		return
	}
	// A viewer without the font uses another one, which may be wider, so allow for that
	// when clipping.
	c.label(Label{X: x, Y: float32(y), Text: s, Width: wide, Size: f.Size(), Weight: f.Weight(), Color: Paint{Color: col, Alpha: 255}, Clip: [2]int{clip0, clip1}}, .4*wide)
}

// flush writes the collected rectangles.
func (c *Canvas) flush() {
	r := c.run
	if r.path.Len() == 0 {
		return
	}
	opacity := ""
	if r.a < 255 {
		opacity = fmt.Sprintf(` fill-opacity="%s"`, number(float32(r.a)/255))
	}
	fmt.Fprintf(c.out, `<path fill="%s"%s d="%s"/>`+"\n", hex(r.col), opacity, r.path.String())
	r.path.Reset()
}

// Write writes the whole picture. title names it, for readers and screen
// readers.
func (c *Canvas) Write(w io.Writer, title string) error {
	c.flush()
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, `<?xml version="1.0" encoding="UTF-8"?>
<svg xmlns="http://www.w3.org/2000/svg" version="1.1" width="%d" height="%d" viewBox="0 0 %d %d">
<title>`, c.w, c.h, c.w, c.h)
	escape(b, title)
	b.WriteString(`</title>
<style>path{shape-rendering:crispEdges}path.l{shape-rendering:auto}</style>
<g font-family="Roboto, 'Helvetica Neue', Arial, sans-serif" xml:space="preserve">
`)
	b.Write(c.out.Bytes())
	b.WriteString("</g>\n</svg>\n")
	return b.Flush()
}

func hex(c raster.Color) string {
	return fmt.Sprintf("#%02x%02x%02x", c&255, c>>8&255, c>>16&255)
}

// number returns a coordinate with at most two decimals.
func number(v float32) string {
	s := strconv.FormatFloat(float64(v), 'f', 2, 32)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// escape writes text as well-formed XML; control characters and what XML does not
// allow become the replacement character. A viewer shows what [raster.Face] draws: an
// override keeps letters in order, and a separator does not break the line. Invisible
// characters that change the order of a text are references, so that the source reads
// in order in an editor.
func escape(w io.StringWriter, s string) {
	for _, r := range s {
		var t string
		switch {
		case r == '&':
			t = "&amp;"
		case r == '<':
			t = "&lt;"
		case r == '>':
			t = "&gt;"
		case r == '"':
			t = "&quot;"
		case r == '\t' || r == '\n' || r == '\r' || r == '\u2028' || r == '\u2029':
			t = " "
		case r == '\u202d' || r == '\u202e': // an embedding instead of the override
			t = fmt.Sprintf("&#x%x;", r-3)
		case unicode.Is(unicode.Bidi_Control, r):
			t = fmt.Sprintf("&#x%x;", r)
		case r < ' ' || r >= 0x7f && r <= 0x9f || r == utf8.RuneError || r == 0xfffe || r == 0xffff:
			t = "\ufffd"
		default:
			t = string(r)
		}
		w.WriteString(t) // writes to memory, or to a writer that keeps its error
	}
}
