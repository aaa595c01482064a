package raster

import (
	"fmt"
	"os"
	"slices"
	"sync"
	"unicode"

	"github.com/go-text/typesetting/bidi"
	"github.com/go-text/typesetting/di"
	"github.com/go-text/typesetting/font"
	"github.com/go-text/typesetting/language"
	"github.com/go-text/typesetting/shaping"
	"golang.org/x/image/math/fixed"
	unibidi "golang.org/x/text/unicode/bidi"

	"ashlar/render/fonts"
)

// Nearly all names consist of characters that stand side by side in the built-in font;
// these are drawn one by one. All others are shaped: characters of other fonts, scripts
// with joined letters or written from right to left, and combining marks.

// line is a shaped text.
type line struct {
	glyphs []placed
	width  float32
	// advances are the widths of the characters in logical order. If several characters
	// form one glyph, the first has the whole width of the glyph.
	advances []float32
}

// placed is a glyph of some font, positioned relative to the start of the text.
type placed struct {
	face *font.Face
	gid  font.GID
	x, y float32
}

// mostLines limits the number of cached shaped texts.
const mostLines = 2048

// simple reports whether a text can be drawn one character at a time.
func (f *Face) simple(s string) bool {
	for i := 0; i < len(s); i++ {
		if s[i] >= 0x80 {
			return f.simpleRunes(s[i:])
		}
	}
	return true
}

func (f *Face) simpleRunes(s string) bool {
	for _, r := range s {
		if r < 0x80 {
			continue
		}
		is, known := f.alone[r]
		if !known {
			_, is = f.face.NominalGlyph(r)
			is = (is || r == missing || r == '\u2009' || r == '\u00a0') && !unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf)
			f.alone[r] = is
		}
		if !is {
			return false
		}
	}
	return true
}

// shaped returns a text's glyphs from left to right.
func (f *Face) shaped(s string) *line {
	f.fresh()
	l := f.lines[s]
	if l == nil {
		l = f.guarded(s, func() *line { return f.shape(s) })
		if f.lines == nil || len(f.lines) >= mostLines {
			f.lines = map[string]*line{}
		}
		f.lines[s] = l
	}
	return l
}

// fresh drops shaped texts if more fonts have been found since.
func (f *Face) fresh() {
	if v := fonts.System.Version(); v != f.linesOf {
		f.lines, f.short, f.linesOf = nil, nil, v
	}
}

// guarded returns the result of shape. If shape panics, as libraries do on some texts and
// broken fonts, the text becomes a row of boxes.
func (f *Face) guarded(s string, shape func() *line) (l *line) {
	defer func() {
		if why := recover(); why != nil {
			f.fall(s, why)
			l = f.boxes(s)
		}
	}()
	return shape()
}

// fall resets the state that a panic left behind, and reports the first panic.
func (f *Face) fall(s string, why any) {
	f.fallen = true
	f.levels, f.segments, f.shaper = bidi.Paragraph{}, shaping.Segmenter{}, shaping.HarfbuzzShaper{}
	TellFallen(s, why)
}

// TellFallen reports on standard error that a text could not be shaped. It reports only
// the first: a picture has thousands of labels, many times a second.
func TellFallen(s string, why any) {
	tellFallen.Do(func() {
		fmt.Fprintf(os.Stderr, "ashlar: text %+.100q cannot be shaped, so it is drawn as boxes: %v\n", s, why)
	})
}

var tellFallen sync.Once

// boxes returns a text with every character drawn as a missing one.
func (f *Face) boxes(s string) *line {
	l := new(line)
	box := f.gid(missing)
	for range s {
		l.glyphs = append(l.glyphs, placed{face: f.face, gid: box, x: l.width})
		l.advances = append(l.advances, f.Advance(missing))
		l.width += f.Advance(missing)
	}
	return l
}

// shape finds the glyphs of a text and puts them in visual order. The first letter
// determines the direction of the whole text.
func (f *Face) shape(s string) *line {
	runes := f.drawable(f.readable(s))
	var outs []leveled
	for _, run := range f.runs(runes) {
		in := shaping.Input{Text: runes, RunStart: run.Start, RunEnd: run.End, Direction: di.DirectionLTR, Size: fixed.Int26_6(f.size * 64), Language: language.DefaultLanguage()}
		if !run.IsLeftToRight() {
			in.Direction = di.DirectionRTL
		}
		parts := f.segments.Split(in, f)
		for k := range parts {
			if parts[k].Face == nil { // the part has no visible characters
				parts[k].Face = f.face
			}
			outs = append(outs, leveled{f.shaper.ShapeNoExtents(parts[k]), run.Level})
		}
	}
	visual(outs)
	l := &line{advances: make([]float32, len(runes))}
	for i := range outs {
		for _, g := range outs[i].Glyphs {
			l.glyphs = append(l.glyphs, placed{outs[i].Face, g.GlyphID, l.width + points(g.XOffset), -points(g.YOffset)})
			l.width += points(g.Advance)
			l.advances[g.TextIndex()] += points(g.Advance)
		}
	}
	return l
}

// readable returns a text with the numbers of characters that no font has.
func (f *Face) readable(s string) string {
	return fonts.System.Readable(s, func(r rune) bool { _, ok := f.face.NominalGlyph(r); return ok })
}

// drawable returns the characters of a text. Line breaks and other control characters
// become blanks; characters for which no font is known become the replacement character.
func (f *Face) drawable(s string) []rune {
	runes := []rune(s)
	for i, r := range runes {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			runes[i] = ' '
		} else if _, ok := f.ResolveFace(r).NominalGlyph(r); !ok && !unicode.Is(unicode.Cf, r) {
			runes[i] = missing
		}
	}
	return runes
}

// runs splits a text into runs of one bidi level.
func (f *Face) runs(text []rune) []bidi.Run {
	levels := f.levels.Segment(text, bidi.Neutral)
	var runs []bidi.Run
	for i := range levels.NumRuns() {
		run := levels.Run(i)
		// In a left-to-right text, a number after right-to-left text has level 2 and the
		// text after it level 0, but they arrive as one run. Inside an embedding or
		// isolate, the whole run has level 2.
		if run.Level == 2 && leftToRight(text) && !embedded(text[:run.Start]) {
			if n := number(text[run.Start:run.End]); 0 < n && n < run.End-run.Start {
				runs = append(runs, bidi.Run{Start: run.Start, End: run.Start + n, Level: 2})
				run.Start, run.Level = run.Start+n, 0
			}
		}
		runs = append(runs, run)
	}
	return runs
}

// embedded reports whether an embedding or isolate is open at the end of a text.
func embedded(text []rune) bool {
	depth := 0
	for _, r := range text {
		switch class(r) {
		case unibidi.LRE, unibidi.RLE, unibidi.LRO, unibidi.RLO, unibidi.LRI, unibidi.RLI, unibidi.FSI:
			depth++
		case unibidi.PDF, unibidi.PDI:
			depth = max(0, depth-1)
		}
	}
	return depth > 0
}

// leftToRight reports whether a text as a whole runs from left to right, by its first
// letter.
func leftToRight(text []rune) bool {
	for _, r := range text {
		switch class(r) {
		case unibidi.L:
			return true
		case unibidi.R, unibidi.AL:
			return false
		}
	}
	return true
}

// number returns the length of the number at the start of a text, in characters.
func number(text []rune) int {
	end := 0
	for i, r := range text {
		switch class(r) {
		case unibidi.EN, unibidi.AN, unibidi.ET, unibidi.NSM:
			end = i + 1
		case unibidi.ES, unibidi.CS: // part of the number if between digits
		default:
			return end
		}
	}
	return end
}

func class(r rune) unibidi.Class {
	p, _ := unibidi.LookupRune(r)
	return p.Class()
}

// leveled is a shaped run with its bidi level; odd levels run from right to left.
type leveled struct {
	shaping.Output
	level bidi.Level
}

// visual puts runs in visual order, by rule L2 of the Unicode Bidirectional Algorithm.
func visual(runs []leveled) {
	var most bidi.Level
	for i := range runs {
		most = max(most, runs[i].level)
	}
	for level := most; level > 0; level-- {
		for i := 0; i < len(runs); i++ {
			k := i
			for k < len(runs) && runs[k].level >= level {
				k++
			}
			slices.Reverse(runs[i:k])
			i = k
		}
	}
}

func points(v fixed.Int26_6) float32 { return float32(v) / 64 }

// ResolveFace returns the font for a character: the built-in one if it has the character
// or no font does. It makes Face a [shaping.Fontmap].
func (f *Face) ResolveFace(r rune) *font.Face {
	if _, ok := f.face.NominalGlyph(r); ok {
		return f.face
	}
	ft := fonts.System.Font(r)
	if ft == nil {
		return f.face
	}
	other := f.others[ft]
	if other == nil {
		other = font.NewFace(ft)
		if f.others == nil {
			f.others = map[*font.Font]*font.Face{}
		}
		f.others[ft] = other
	}
	return other
}

// mostOther limits the number of cached glyphs from other fonts.
const mostOther = 1 << 14

type otherKey struct {
	face  *font.Face
	gid   font.GID
	phase uint8
}

// other returns the rendered glyph of a shaped text.
func (f *Face) other(p *placed, phase uint8) *glyph {
	k := otherKey{p.face, p.gid, phase}
	g, ok := f.pictures[k]
	if !ok {
		if f.pictures == nil || len(f.pictures) >= mostOther {
			f.pictures = map[otherKey]*glyph{}
		}
		g = f.guardedOutline(p, float32(phase)/phases)
		f.pictures[k] = g
	}
	return g
}

// guardedOutline renders a glyph of any font; if the glyph cannot be read, it returns a
// frame.
func (f *Face) guardedOutline(p *placed, shift float32) (g *glyph) {
	defer func() {
		if why := recover(); why != nil {
			f.fall(fmt.Sprintf("glyph %d", p.gid), why)
			g = frame(f.size, f.size)
		}
	}()
	return outline(p.face, p.gid, f.size/float32(p.face.Upem()), shift)
}
