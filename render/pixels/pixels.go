// Package pixels draws the shapes of package svg into an image on the CPU, for machines
// without a GPU and programs built without graphics libraries.
//
// It reads only the SVG that package svg writes. Glyphs are the same as in the window;
// the edges of curves may differ slightly in shade from a GPU's.
package pixels

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"image"
	"io"
	"math"
	"strconv"
	"strings"
	"sync"

	"github.com/go-text/typesetting/font"
	"golang.org/x/image/font/gofont/gomono"
	"golang.org/x/image/vector"

	"ashlar/render/raster"
	"ashlar/render/svg"
)

// Draw renders a canvas as an image.
func Draw(c *svg.Canvas) (*image.RGBA, error) {
	var b bytes.Buffer
	if err := c.Write(&b, ""); err != nil {
		return nil, err
	}
	w, h := c.Size()
	p := &painter{on: raster.NewCanvas(w, h, 0xff000000), clips: map[string]image.Rectangle{}, faces: map[faceKey]*raster.Face{}}
	if err := p.read(&b); err != nil {
		return nil, fmt.Errorf("cannot draw: %w", err)
	}
	return p.on.Img, nil
}

// painter draws elements as it reads them.
type painter struct {
	on    *raster.Canvas
	in    []frame                    // open elements, innermost last
	clips map[string]image.Rectangle // by name; a later one replaces an earlier one
	faces map[faceKey]*raster.Face
	fill  vector.Rasterizer
}

// frame holds the properties that apply within an element.
type frame struct {
	x, y int             // position of the element's corner
	clip image.Rectangle // limits all drawing
	// name is the id of a clipPath whose rectangle follows.
	name string
	// text is set in a text element.
	text *label
}

type label struct {
	attrs attributes
	s     strings.Builder
}

type faceKey struct {
	size   float32
	weight int
	mono   bool
}

func (p *painter) read(r io.Reader) error {
	d := xml.NewDecoder(r)
	p.in = []frame{{clip: p.on.Img.Rect}}
	for {
		tok, err := d.Token()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		f := &p.in[len(p.in)-1]
		switch t := tok.(type) {
		case xml.StartElement:
			if err := p.open(t); err != nil {
				return err
			}
		case xml.CharData:
			if f.text != nil {
				f.text.s.Write(t)
			}
		case xml.EndElement:
			if f.text != nil {
				p.write(f)
			}
			p.in = p.in[:len(p.in)-1]
		}
	}
}

// open draws an element, or begins one with children.
func (p *painter) open(e xml.StartElement) error {
	f := p.in[len(p.in)-1]
	of := f
	a := attributes{e.Attr, nil}
	f.text = nil
	switch e.Name.Local {
	case "svg":
		if len(p.in) > 1 { // a nested svg has a position
			r := image.Rect(0, 0, int(a.number("width")), int(a.number("height"))).Add(image.Pt(of.x+int(a.number("x")), of.y+int(a.number("y"))))
			f.x, f.y, f.clip = r.Min.X, r.Min.Y, of.clip.Intersect(r)
		}
	case "clipPath":
		f.name = a.text("id")
	case "g":
		if name, ok := strings.CutPrefix(a.text("clip-path"), "url(#"); ok {
			f.clip = f.clip.Intersect(p.clips[strings.TrimSuffix(name, ")")])
		}
	case "rect":
		p.rect(&f, &a)
	case "path":
		p.path(&f, &a)
	case "text":
		f.text = &label{attrs: a}
	}
	p.in = append(p.in, f)
	return a.err
}

func (p *painter) rect(f *frame, a *attributes) {
	x, y, w, h := a.number("x"), a.number("y"), a.number("width"), a.number("height")
	r := image.Rect(int(x), int(y), int(x+w), int(y+h)).Add(image.Pt(f.x, f.y))
	if f.name != "" {
		p.clips[f.name] = r
		return
	}
	x, y = x+float32(f.x), y+float32(f.y)
	if a.text("fill") == "none" {
		l := newOutline(nil)
		l.round(x, y, w, h, a.number("rx"))
		p.cover(f.clip, l.stroked(a.number("stroke-width")), a, "stroke")
		return
	}
	l := newOutline(nil)
	l.round(x, y, w, h, a.number("rx"))
	p.cover(f.clip, l.lines, a, "fill")
}

func (p *painter) path(f *frame, a *attributes) {
	data := a.text("d")
	if a.text("class") == "" { // rectangles of whole pixels
		p.blocks(f, a, data)
		return
	}
	at := transform{x: float32(f.x), y: float32(f.y), scale: 1}
	if t := a.text("transform"); t != "" {
		var x, y, s float32
		if _, err := fmt.Sscanf(t, "translate(%g %g) scale(%g)", &x, &y, &s); err != nil {
			a.err = fmt.Errorf("transform %q: %w", t, err)
			return
		}
		at = transform{at.x + x, at.y + y, s}
	}
	l := newOutline(&at)
	if err := l.read(data); err != nil {
		a.err = err
		return
	}
	if a.text("fill") == "none" {
		p.cover(f.clip, l.stroked(a.number("stroke-width")), a, "stroke")
		return
	}
	p.cover(f.clip, l.lines, a, "fill")
}

// blocks fills successive rectangles written as MX YhWvHh-Wz.
func (p *painter) blocks(f *frame, a *attributes, data string) {
	col, alpha := a.paint("fill")
	for data != "" && a.err == nil {
		block, rest, _ := strings.Cut(data, "z")
		data = rest
		var v [4]int
		for i, sep := range []string{" ", "h", "v", "h"} {
			n, more, ok := strings.Cut(strings.TrimPrefix(block, "M"), sep)
			block = more
			x, err := strconv.Atoi(n)
			if err != nil || !ok {
				a.err = fmt.Errorf("a path of rectangles has %q", n)
				return
			}
			v[i] = x
		}
		r := image.Rect(v[0], v[1], v[0]+v[2], v[1]+v[3]).Add(image.Pt(f.x, f.y)).Intersect(f.clip)
		if alpha == 255 {
			p.on.Rect(r.Min.X, r.Min.Y, r.Max.X, r.Max.Y, col)
		} else {
			p.on.Shade(r.Min.X, r.Min.Y, r.Max.X, r.Max.Y, col, alpha)
		}
	}
}

// cover fills polygons with a colour.
func (p *painter) cover(clip image.Rectangle, lines [][]svg.Point, a *attributes, name string) {
	col, alpha := a.paint(name)
	lo, hi := svg.Point{X: math.MaxFloat32, Y: math.MaxFloat32}, svg.Point{X: -math.MaxFloat32, Y: -math.MaxFloat32}
	for _, l := range lines {
		for _, q := range l {
			lo.X, lo.Y, hi.X, hi.Y = min(lo.X, q.X), min(lo.Y, q.Y), max(hi.X, q.X), max(hi.Y, q.Y)
		}
	}
	if lo.X > hi.X {
		return
	}
	within := func(v float32, from, to int) int { return int(min(max(v, float32(from)), float32(to))) }
	r := image.Rect(within(lo.X-1, clip.Min.X, clip.Max.X), within(lo.Y-1, clip.Min.Y, clip.Max.Y),
		within(hi.X+2, clip.Min.X, clip.Max.X), within(hi.Y+2, clip.Min.Y, clip.Max.Y))
	if r.Empty() || alpha == 0 {
		return
	}
	p.fill.Reset(r.Dx(), r.Dy())
	for _, l := range lines {
		for i, q := range l {
			x, y := q.X-float32(r.Min.X), q.Y-float32(r.Min.Y)
			if i == 0 {
				p.fill.MoveTo(x, y)
			} else {
				p.fill.LineTo(x, y)
			}
		}
		p.fill.ClosePath()
	}
	mask := image.NewAlpha(image.Rectangle{Max: r.Size()})
	p.fill.Draw(mask, mask.Rect, image.Opaque, image.Point{})
	for y := range r.Dy() {
		for x, m := range mask.Pix[y*mask.Stride : y*mask.Stride+r.Dx()] {
			if m != 0 {
				if line := p.on.Line(r.Min.X+x, r.Min.X+x+1, r.Min.Y+y); line != nil {
					line[0] = raster.Blend(line[0], col, uint32(m)*alpha/255)
				}
			}
		}
	}
}

// write draws the text of an element.
func (p *painter) write(f *frame) {
	a := &f.text.attrs
	s := f.text.s.String()
	face := p.face(faceKey{a.number("font-size"), int(a.number("font-weight")), a.text("font-family") != ""})
	x, y := a.number("x")+float32(f.x), int(math.Round(float64(a.number("y"))))+f.y
	wide := a.number("textLength")
	switch a.text("text-anchor") {
	case "end":
		x -= wide
	case "middle":
		x -= wide / 2
	}
	col, alpha := a.paint("fill")
	em := int(math.Ceil(float64(face.Size()))) + 1
	box := image.Rect(int(x)-em, y-2*em, int(x+wide)+2*em, y+em).Intersect(p.on.Img.Rect)
	if box.Intersect(f.clip).Empty() {
		return
	}
	if alpha == 255 && box.Min.Y >= f.clip.Min.Y && box.Max.Y <= f.clip.Max.Y {
		p.words(face, x, y, s, wide, col, f.clip)
		return
	}
	// Text is drawn opaque and clipped only at the sides. So restore the background
	// afterwards where the text is clipped or translucent.
	before := make([][]raster.Color, box.Dy())
	for k := range before {
		before[k] = append([]raster.Color{}, p.on.Line(box.Min.X, box.Max.X, box.Min.Y+k)...)
	}
	p.words(face, x, y, s, wide, col, f.clip)
	for k, old := range before {
		line := p.on.Line(box.Min.X, box.Max.X, box.Min.Y+k)
		if at := box.Min.Y + k; at < f.clip.Min.Y || at >= f.clip.Max.Y {
			copy(line, old)
			continue
		}
		for i := range line {
			if line[i] != old[i] {
				line[i] = raster.Blend(old[i], line[i], alpha)
			}
		}
	}
}

// words draws a text at the required width. The window's text may be narrower because of
// kerning, by some pixels in a long line.
func (p *painter) words(face *raster.Face, x float32, y int, s string, wide float32, col raster.Color, clip image.Rectangle) {
	own := face.Measure(s)
	// Right-to-left text may be in another order.
	turned := strings.ContainsFunc(s, func(r rune) bool { return r >= 0x590 })
	if wide <= 0 || math.Abs(float64(own-wide)) < .5 || turned {
		p.on.Text(face, x, y, s, col, clip.Min.X, clip.Max.X)
		return
	}
	at := 0
	for word := range strings.SplitAfterSeq(s, " ") {
		p.on.Text(face, x+face.Measure(s[:at])*wide/own, y, word, col, clip.Min.X, clip.Max.X)
		at += len(word)
	}
}

var mono = sync.OnceValue(func() *font.Face {
	f, err := font.ParseTTF(bytes.NewReader(gomono.TTF))
	if err != nil {
		panic("the built-in font cannot be read: " + err.Error())
	}
	return f
})

func (p *painter) face(k faceKey) *raster.Face {
	f := p.faces[k]
	if f == nil {
		switch {
		case k.mono:
			f = raster.NewFace(mono(), k.size)
		case k.weight >= 500:
			f = raster.Medium(k.size)
		default:
			f = raster.Regular(k.size)
		}
		p.faces[k] = f
	}
	return f
}

// attributes are an element's attributes; err is the first parse error.
type attributes struct {
	all []xml.Attr
	err error
}

func (a *attributes) text(name string) string {
	for i := range a.all {
		if a.all[i].Name.Local == name {
			return a.all[i].Value
		}
	}
	return ""
}

// number returns a numeric attribute, or 0 if there is none.
func (a *attributes) number(name string) float32 {
	s := a.text(name)
	if s == "" {
		return 0
	}
	v, err := strconv.ParseFloat(s, 32)
	if err != nil && a.err == nil {
		a.err = fmt.Errorf("%s is %q", name, s)
	}
	return float32(v)
}

// paint returns a colour, written as #rrggbb, and its opacity of 255.
func (a *attributes) paint(name string) (raster.Color, uint32) {
	v, err := strconv.ParseUint(strings.TrimPrefix(a.text(name), "#"), 16, 32)
	if err != nil && a.err == nil {
		a.err = fmt.Errorf("%s is %q", name, a.text(name))
	}
	alpha := uint32(255)
	if a.text(name+"-opacity") != "" {
		alpha = uint32(math.Round(float64(a.number(name+"-opacity") * 255)))
	}
	return raster.Color(0xff000000 | v&255<<16 | v&0xff00 | v>>16&255), alpha
}
