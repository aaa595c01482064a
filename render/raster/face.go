package raster

import (
	"image"
	"math"

	"github.com/go-text/typesetting/bidi"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/font/opentype"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/vector"

	"ashlar/ingest/model/funcname"
)

// A Face draws text in one font at one size. It caches glyphs and must be used by one
// goroutine only.
type Face struct {
	face            *font.Face
	size            float32 // pixels per em
	medium          bool
	scale           float32 // font units to pixels
	ascent, descent float32 // pixels above and below the baseline
	// ascii holds the advances of the characters in nearly all names; runes holds the
	// others.
	ascii  [128]float32
	runes  map[rune]float32
	glyphs map[glyphKey]*glyph

	// alone reports whether a character can be drawn by itself. The fields below are for
	// text that must be shaped.
	alone    map[rune]bool
	lines    map[string]*line
	short    map[fitKey]string
	labels   map[fitKey]string
	names    *funcname.Labels // the labels in use; labelsOf holds those that filled the cache labels
	labelsOf *funcname.Labels
	linesOf  int64
	others   map[*font.Font]*font.Face
	pictures map[otherKey]*glyph
	levels   bidi.Paragraph
	segments shaping.Segmenter
	shaper   shaping.HarfbuzzShaper
	fallen   bool // a text could not be shaped
}

// phases is the number of horizontal subpixel positions for which a glyph is rendered
// separately.
const phases = 4

type glyphKey struct {
	r     rune
	phase uint8
}

type glyph struct {
	mask *image.Alpha // nil for blanks and pictures
	// picture is a glyph with colours of its own, such as an emoji.
	picture *image.RGBA
	x, y    int // position of the corner, relative to the pen
}

// NewFace returns a face of the font at a size in pixels per em.
func NewFace(f *font.Face, px float32) *Face {
	fc := &Face{face: font.NewFace(f.Font), size: px, scale: px / float32(f.Upem()), runes: map[rune]float32{}, glyphs: map[glyphKey]*glyph{}, alone: map[rune]bool{}}
	if e, ok := f.FontHExtents(); ok {
		fc.ascent, fc.descent = e.Ascender*fc.scale, -e.Descender*fc.scale
	}
	for r := range fc.ascii {
		fc.ascii[r] = fc.advance(rune(r))
	}
	return fc
}

// Size returns the face's size in pixels per em.
func (f *Face) Size() float32 { return f.size }

// Baseline returns the baseline of a line of text centred vertically between top and
// bottom.
func (f *Face) Baseline(top, bottom int) int {
	return top + int(math.Round(float64(float32(bottom-top)-f.ascent-f.descent)/2+float64(f.ascent)))
}

// Weight returns the weight of the face's font in CSS units.
func (f *Face) Weight() int {
	if f.medium {
		return 500
	}
	return 400
}

// missing replaces characters that the font does not have.
const missing = '\ufffd'

func (f *Face) gid(r rune) font.GID {
	if g, ok := f.face.NominalGlyph(r); ok {
		return g
	}
	if r < ' ' || r == '\u2009' || r == '\u00a0' {
		g, _ := f.face.NominalGlyph(' ')
		return g
	}
	g, _ := f.face.NominalGlyph(missing)
	return g
}

func (f *Face) advance(r rune) float32 { return f.face.HorizontalAdvance(f.gid(r)) * f.scale }

// Advance returns the width of a character in pixels.
func (f *Face) Advance(r rune) float32 {
	if r < 128 && r >= 0 {
		return f.ascii[r]
	}
	a, ok := f.runes[r]
	if !ok {
		a = f.advance(r)
		f.runes[r] = a
	}
	return a
}

// Measure returns the width of a text in pixels.
func (f *Face) Measure(s string) float32 {
	if !f.simple(s) {
		return f.shaped(s).width
	}
	var w float32
	for _, r := range s {
		w += f.Advance(r)
	}
	return w
}

// Text draws s in opaque col, beginning at x with its baseline at y, clipped horizontally
// to clip0..clip1.
func (c *Canvas) Text(f *Face, x float32, y int, s string, col Color, clip0, clip1 int) {
	clip0, clip1 = max(0, clip0), min(c.W, clip1)
	if !f.simple(s) {
		l := f.shaped(s)
		for i := range l.glyphs {
			g := &l.glyphs[i]
			px := math.Floor(float64(x + g.x))
			if px >= float64(clip1) || px < float64(clip0)-float64(3*f.size) {
				continue
			}
			m := f.other(g, uint8((float64(x+g.x)-px)*phases))
			switch x, y := int(px)+m.x, y+m.y+int(math.Round(float64(g.y))); {
			case m.mask != nil:
				c.mask(m, x, y, col, clip0, clip1)
			case m.picture != nil:
				c.picture(m.picture, x, y, clip0, clip1)
			}
		}
		return
	}
	for _, r := range s {
		if x >= float32(clip1) {
			return
		}
		adv := f.Advance(r)
		if x+adv*2 > float32(clip0) {
			px := math.Floor(float64(x))
			g := f.glyph(r, uint8((float64(x)-px)*phases))
			if g.mask != nil {
				c.mask(g, int(px)+g.x, y+g.y, col, clip0, clip1)
			}
		}
		x += adv
	}
}

// glyph returns the rendered glyph of a character at a phase.
func (f *Face) glyph(r rune, phase uint8) *glyph {
	k := glyphKey{r, phase}
	g, ok := f.glyphs[k]
	if !ok {
		g = f.draw(r, float32(phase)/phases)
		f.glyphs[k] = g
	}
	return g
}

func (f *Face) draw(r rune, shift float32) *glyph { return outline(f.face, f.gid(r), f.scale, shift) }

// outline renders a glyph from its outline or, without one, from its bitmap.
func outline(face *font.Face, gid font.GID, scale, shift float32) *glyph {
	out, _ := face.GlyphDataOutline(gid)
	if len(out.Segments) == 0 {
		return withoutOutline(face, gid, scale)
	}
	minX, minY, maxX, maxY := float32(math.MaxFloat32), float32(math.MaxFloat32), float32(-math.MaxFloat32), float32(-math.MaxFloat32)
	pt := func(p opentype.SegmentPoint) (x, y float32) { return p.X*scale + shift, -p.Y * scale }
	for i := range out.Segments {
		for _, p := range out.Segments[i].ArgsSlice() {
			x, y := pt(p)
			minX, minY, maxX, maxY = min(minX, x), min(minY, y), max(maxX, x), max(maxY, y)
		}
	}
	x0, y0 := int(math.Floor(float64(minX))), int(math.Floor(float64(minY)))
	w, h := int(math.Ceil(float64(maxX)))-x0, int(math.Ceil(float64(maxY)))-y0
	if w <= 0 || h <= 0 || w > 512 || h > 512 {
		return &glyph{}
	}
	v := vector.NewRasterizer(w, h)
	at := func(p opentype.SegmentPoint) (float32, float32) {
		x, y := pt(p)
		return x - float32(x0), y - float32(y0)
	}
	for _, s := range out.Segments {
		x, y := at(s.Args[0])
		switch s.Op {
		case opentype.SegmentOpMoveTo:
			v.ClosePath()
			v.MoveTo(x, y)
		case opentype.SegmentOpLineTo:
			v.LineTo(x, y)
		case opentype.SegmentOpQuadTo:
			x1, y1 := at(s.Args[1])
			v.QuadTo(x, y, x1, y1)
		case opentype.SegmentOpCubeTo:
			x1, y1 := at(s.Args[1])
			x2, y2 := at(s.Args[2])
			v.CubeTo(x, y, x1, y1, x2, y2)
		}
	}
	v.ClosePath()
	m := image.NewAlpha(image.Rect(0, 0, w, h))
	v.Draw(m, m.Bounds(), image.Opaque, image.Point{})
	return &glyph{mask: m, x: x0, y: y0}
}

// mask paints a glyph in a colour; the glyph's mask is the opacity.
func (c *Canvas) mask(g *glyph, x, y int, col Color, clip0, clip1 int) {
	b := g.mask.Bounds()
	cover := &plainCover
	if isLight(col) {
		cover = &lightCover
	}
	for my := range b.Dy() {
		py := y + my
		if py < 0 || py >= c.H {
			continue
		}
		row := c.pix[py*c.W : (py+1)*c.W]
		src := g.mask.Pix[my*g.mask.Stride:]
		for mx := range b.Dx() {
			px := x + mx
			if a := src[mx]; a != 0 && px >= clip0 && px < clip1 {
				row[px] = blend(row[px], uint32(col), uint32(cover[a]))
			}
		}
	}
}

// Light text on dark looks thinner than dark text on light, because colours are blended
// without gamma correction. To make up for that, partly covered pixels of light text get
// more weight.
var plainCover, lightCover = func() (plain, light [256]uint8) {
	for a := range plain {
		plain[a] = uint8(a)
		light[a] = uint8(math.Round(255 * math.Pow(float64(a)/255, .78)))
	}
	return plain, light
}()

func isLight(c Color) bool {
	return uint32(c)&0xff*30+uint32(c)>>8&0xff*59+uint32(c)>>16&0xff*11 > 128*100
}
