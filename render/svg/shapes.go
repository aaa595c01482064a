package svg

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"ashlar/render/raster"
)

// Paint is a colour and its opacity of 255.
type Paint struct {
	Color raster.Color
	Alpha uint32
}

// attributes returns a paint as SVG attributes; name is fill or stroke.
func (p Paint) attributes(name string) string {
	s := fmt.Sprintf(`%s="%s"`, name, hex(p.Color))
	if p.Alpha < 255 {
		s += fmt.Sprintf(` %s-opacity="%s"`, name, number(float32(p.Alpha)/255))
	}
	return s
}

// Round fills a rectangle with rounded corners.
func (c *Canvas) Round(x0, y0, x1, y1 int, radius float32, p Paint) {
	if radius <= 0 {
		c.Shade(x0, y0, x1, y1, p.Color, p.Alpha)
		return
	}
	if x0 >= x1 || y0 >= y1 || p.Alpha == 0 || c.outside(x0, y0, x1, y1) {
		return
	}
	c.flush()
	fmt.Fprintf(c.out, `<rect x="%d" y="%d" width="%d" height="%d" rx="%s" %s/>`+"\n", c.x0+x0, c.y0+y0, x1-x0, y1-y0, number(radius), p.attributes("fill"))
}

// Frame outlines a rectangle with a line centred on its edges; width is in pixels.
func (c *Canvas) Frame(x0, y0, x1, y1 int, radius, width float32, p Paint) {
	if x0 >= x1 || y0 >= y1 || p.Alpha == 0 || c.outside(x0, y0, x1, y1) {
		return
	}
	c.flush()
	fmt.Fprintf(c.out, `<rect x="%d" y="%d" width="%d" height="%d" rx="%s" fill="none" stroke-width="%s" %s/>`+"\n",
		c.x0+x0, c.y0+y0, x1-x0, y1-y0, number(radius), number(width), p.attributes("stroke"))
}

// Point is a place on a canvas.
type Point struct{ X, Y float32 }

// A Line is a line that begins at From and goes through Steps. A step of one point is a
// straight line to that point, a step of three a cubic Bézier curve.
type Line struct {
	From   Point
	Steps  [][]Point
	Closed bool
}

// Path fills the area inside a line or, if width is not 0, strokes the line.
func (c *Canvas) Path(l Line, width float32, p Paint) {
	if p.Alpha == 0 {
		return
	}
	c.flush()
	at := func(p Point) string { return number(float32(c.x0)+p.X) + " " + number(float32(c.y0)+p.Y) }
	var d strings.Builder
	d.WriteString("M" + at(l.From))
	for _, s := range l.Steps {
		d.WriteString(map[int]string{1: "L", 3: "C"}[len(s)])
		for i, q := range s {
			if i > 0 {
				d.WriteByte(' ')
			}
			d.WriteString(at(q))
		}
	}
	if l.Closed {
		d.WriteByte('Z')
	}
	if width > 0 {
		fmt.Fprintf(c.out, `<path class="l" fill="none" stroke-width="%s" %s d="%s"/>`+"\n", number(width), p.attributes("stroke"), d.String())
		return
	}
	fmt.Fprintf(c.out, `<path class="l" %s d="%s"/>`+"\n", p.attributes("fill"), d.String())
}

// Drawing fills the outline given as SVG path data, scaled and with its origin at x, y.
func (c *Canvas) Drawing(data string, x, y, scale float32, p Paint) {
	if p.Alpha == 0 {
		return
	}
	c.flush()
	fmt.Fprintf(c.out, `<path class="l" transform="translate(%s %s) scale(%s)" %s d="%s"/>`+"\n",
		number(float32(c.x0)+x), number(float32(c.y0)+y), strconv.FormatFloat(float64(scale), 'g', 4, 32), p.attributes("fill"), data)
}

func (c *Canvas) outside(x0, y0, x1, y1 int) bool {
	return x1 <= 0 || y1 <= 0 || x0 >= c.w || y0 >= c.h
}

// Label is a line of text.
type Label struct {
	// X is the left edge, Y the baseline, and Width the width of the text.
	X, Y, Width  float32
	Text         string
	Size         float32 // pixels per em
	Weight       int     // in CSS units
	Mono, Middle bool    // in a monospaced font; anchored at the middle
	End          bool    // anchored at the end
	Color        Paint
	// Clip bounds the text from left to right.
	Clip [2]int
}

// Label writes a line of text.
func (c *Canvas) Label(l Label) {
	l.Clip = [2]int{max(0, l.Clip[0]), min(c.w, l.Clip[1])}
	if strings.TrimSpace(l.Text) == "" || l.Clip[0] >= l.Clip[1] || l.X >= float32(l.Clip[1]) || l.X+l.Width <= float32(l.Clip[0]) ||
		l.Y+l.Size <= 0 || l.Y-2*l.Size >= float32(c.h) {
		return
	}
	// A viewer without the font uses another one, which may be wider: better to overlap
	// the neighbour than to lose a digit. So clip only if the expected width exceeds the
	// bounds.
	c.label(l, -1)
}

// label writes a line of text, clipped if its width plus some slack exceeds the bounds.
func (c *Canvas) label(l Label, slack float32) {
	c.flush()
	left, right := l.X, l.X+l.Width+slack
	switch {
	case l.End:
		left, right = l.X-slack, l.X+l.Width
	case l.Middle:
		left, right = l.X-slack/2, l.X+l.Width+slack/2
	}
	if left < float32(l.Clip[0]) || right > float32(l.Clip[1]) {
		top := int(math.Floor(float64(l.Y - l.Size*1.25)))
		fmt.Fprintf(c.out, `<svg x="%d" y="%d" width="%d" height="%d">`, c.x0+l.Clip[0], c.y0+top, l.Clip[1]-l.Clip[0], int(l.Size*1.7))
		c.write(l, l.X-float32(l.Clip[0]), l.Y-float32(top))
		c.out.WriteString("</svg>\n")
		return
	}
	c.write(l, float32(c.x0)+l.X, float32(c.y0)+l.Y)
	c.out.WriteByte('\n')
}

// write writes a label at a position within the current element.
func (c *Canvas) write(l Label, x, y float32) {
	more := ""
	switch {
	case l.End:
		x += l.Width
		more = ` text-anchor="end"`
	case l.Middle:
		x += l.Width / 2
		more = ` text-anchor="middle"`
	}
	if l.Weight != 400 && l.Weight != 0 {
		more += fmt.Sprintf(` font-weight="%d"`, l.Weight)
	}
	if l.Mono {
		more += ` font-family="'Go Mono', monospace"`
	}
	// The width keeps a label inside its bar even in another font.
	fmt.Fprintf(c.out, `<text x="%s" y="%s" font-size="%s"%s %s textLength="%s" lengthAdjust="spacingAndGlyphs">`,
		number(x), number(y), number(l.Size), more, l.Color.attributes("fill"), number(l.Width))
	escape(c.out, l.Text)
	c.out.WriteString("</text>")
}
