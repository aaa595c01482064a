// Package ui provides the basic elements of the window in Ashlar's style: text, filled
// shapes, buttons and menus.
//
// Everything is placed by rectangles in pixels. Panes are few and their sizes are known,
// and a rectangle is easier to test and to reason about than a tree of boxes.
package ui

import (
	"image"
	"image/color"
	"math"
	"strings"
	"unicode/utf8"

	"gioui.org/font"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/op/clip"
	"gioui.org/op/paint"
	"gioui.org/text"
	"gioui.org/unit"
	"golang.org/x/image/math/fixed"

	"ashlar/render/fonts"
	"ashlar/render/raster"
	"ashlar/render/svg"
	"ashlar/render/theme"
)

// UI is a frame being laid out.
type UI struct {
	layout.Context
	Theme  *theme.Theme
	Shaper *text.Shaper
	// Labels caches texts between frames; nil if there is only one.
	Labels *Labels
	// Faces are the fonts of labels in pictures.
	Faces *raster.Faces
	// Tip is the sheet on which tooltips are drawn.
	Tip *Sheet
	// Focus tracks the keyboard focus; nil if there is none.
	Focus *Focus
	// Shapes, if not nil, also receives everything that is drawn, in the same
	// coordinates.
	Shapes *svg.Canvas
}

// Px converts dp to whole pixels.
func (u *UI) Px(dp float32) int { return int(math.Round(float64(dp * u.Metric.PxPerDp))) }

// Rect returns the rectangle with a corner and size in pixels.
func Rect(x, y, w, h int) image.Rectangle { return image.Rect(x, y, x+w, y+h) }

// Fill paints a rectangle.
func (u *UI) Fill(r image.Rectangle, c color.NRGBA) {
	if r.Empty() || c.A == 0 {
		return
	}
	paint.FillShape(u.Ops, c, clip.Rect(r).Op())
	if u.Shapes != nil {
		u.Shapes.Round(r.Min.X, r.Min.Y, r.Max.X, r.Max.Y, 0, u.ink(c))
	}
}

// Round paints a rectangle with rounded corners.
func (u *UI) Round(r image.Rectangle, radius float32, c color.NRGBA) {
	if r.Empty() {
		return
	}
	paint.FillShape(u.Ops, c, clip.UniformRRect(r, u.Px(radius)).Op(u.Ops))
	if u.Shapes != nil {
		u.Shapes.Round(r.Min.X, r.Min.Y, r.Max.X, r.Max.Y, float32(u.Px(radius)), u.ink(c))
	}
}

// Border draws the outline of a rounded rectangle, w pixels thick, inside it.
func (u *UI) Border(r image.Rectangle, radius float32, w int, c color.NRGBA) {
	if r.Dx() <= 2*w || r.Dy() <= 2*w {
		return
	}
	if radius == 0 {
		u.Fill(image.Rect(r.Min.X, r.Min.Y, r.Max.X, r.Min.Y+w), c)
		u.Fill(image.Rect(r.Min.X, r.Max.Y-w, r.Max.X, r.Max.Y), c)
		u.Fill(image.Rect(r.Min.X, r.Min.Y+w, r.Min.X+w, r.Max.Y-w), c)
		u.Fill(image.Rect(r.Max.X-w, r.Min.Y+w, r.Max.X, r.Max.Y-w), c)
		return
	}
	if u.Shapes != nil {
		u.Shapes.Frame(r.Min.X, r.Min.Y, r.Max.X, r.Max.Y, float32(u.Px(radius)), float32(w), u.ink(c))
	}
	half := float32(w) / 2
	rr := clip.UniformRRect(image.Rectangle{Max: r.Size()}.Inset(0), u.Px(radius))
	defer op.Offset(r.Min).Push(u.Ops).Pop()
	paint.FillShape(u.Ops, c, clip.Stroke{Path: rr.Path(u.Ops), Width: half * 2}.Op())
}

// HLine draws a horizontal rule one pixel high.
func (u *UI) HLine(x0, x1, y int, c color.NRGBA) { u.Fill(image.Rect(x0, y, x1, y+1), c) }

// VLine draws a vertical rule one pixel wide.
func (u *UI) VLine(x, y0, y1 int, c color.NRGBA) { u.Fill(image.Rect(x, y0, x+1, y1), c) }

// Style is the appearance of a text.
type Style struct {
	Size   float32 // sp
	Weight font.Weight
	Color  color.NRGBA
	Align  text.Alignment
	Lines  int // at most; 0 means 1
	Mono   bool
}

// Text draws s in r, its lines centred vertically, shortened with an ellipsis if it is
// too long. It returns the size of the text.
func (u *UI) Text(r image.Rectangle, s string, st Style) image.Point {
	if s == "" || r.Empty() {
		return image.Point{}
	}
	call, dims := u.record(r.Dx(), s, st)
	y := r.Min.Y
	if st.Lines <= 1 {
		y += (r.Dy() - dims.Size.Y) / 2
	}
	x := r.Min.X
	switch st.Align {
	case text.End:
		x = r.Max.X - dims.Size.X
	case text.Middle:
		x += (r.Dx() - dims.Size.X) / 2
	}
	if u.Shapes != nil {
		u.write(r, image.Pt(x, y), s, st)
	}
	defer clip.Rect(r).Push(u.Ops).Pop()
	defer op.Offset(image.Pt(x, y)).Push(u.Ops).Pop()
	call.Add(u.Ops)
	return dims.Size
}

// Measure returns the size a text would take on one line.
func (u *UI) Measure(s string, st Style) image.Point {
	_, dims := u.record(1<<20, s, st)
	return dims.Size
}

// longestLine is the number of bytes of a text that are shaped for a line. No line is wide
// enough to show more, and shaping a name of a megabyte takes seconds.
const longestLine = 4096

// shapeable returns s without what its lines cannot show and with the numbers of
// characters that no font has, or boxes if the shaper panics on it. The shaper caches the
// shaped text, so the next call for it is cheap.
func (u *UI) shapeable(width int, s string, st Style) string {
	if most := longestLine * max(1, st.Lines); len(s) > most {
		s = strings.ToValidUTF8(s[:most], "") + raster.Ellipsis
	}
	if strings.IndexFunc(s, func(r rune) bool { return r >= 0x300 }) < 0 {
		return s // nearly all texts
	}
	s = fonts.System.Readable(s, has)
	return u.orBoxes(s, func() { u.Shaper.LayoutString(u.parameters(width, st), s) })
}

// orBoxes calls shape, which shapes s, and returns s; if shape panics, it returns a box
// for each character.
func (u *UI) orBoxes(s string, shape func()) (drawn string) {
	defer func() {
		if why := recover(); why != nil {
			raster.TellFallen(s, why)
			*u.Shaper = *NewShaper()
			drawn = strings.Repeat("\ufffd", utf8.RuneCountInString(s))
		}
	}()
	shape()
	return s
}

// parameters returns the parameters for shaping a label of the window.
func (u *UI) parameters(width int, st Style) text.Parameters {
	return text.Parameters{Font: st.font(), PxPerEm: fixed.I(u.Sp(unit.Sp(st.Size))), MaxLines: max(1, st.Lines), MaxWidth: width, Locale: u.Locale}
}

// font returns the font for texts of a style.
func (st Style) font() font.Font {
	if st.Mono {
		return font.Font{Typeface: "Go Mono"}
	}
	return font.Font{Typeface: "Roboto", Weight: st.Weight}
}

// At runs f with the origin moved and everything clipped to r; f sees r's size
// as its constraints.
func (u *UI) At(r image.Rectangle, f func(u *UI)) {
	defer op.Offset(r.Min).Push(u.Ops).Pop()
	defer clip.Rect(image.Rectangle{Max: r.Size()}).Push(u.Ops).Pop()
	v := *u
	v.Constraints = layout.Exact(r.Size())
	if u.Shapes == nil {
		f(&v)
		return
	}
	u.Shapes.Part(r.Min.X, r.Min.Y, r.Max.X, r.Max.Y, func(part *svg.Canvas) {
		v.Shapes = part
		f(&v)
	})
}
