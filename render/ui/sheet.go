package ui

import (
	"image"
	"image/color"
	"math"
	"slices"

	"gioui.org/font"
	"gioui.org/text"

	"ashlar/render/fonts"
	"ashlar/render/raster"
)

// A Sheet is a picture of many small texts, such as the rows of a scrolled table. It is
// faster than [UI.Text], which outlines each new text, at a hundred times the cost, and
// fills a path for every text in each frame. The zero value is ready to use; Show draws
// the contents.
type Sheet struct {
	items, last []sheetItem
	of          sheetOf
	pool        raster.Pool
	shown       *Picture
}

// sheetItem is a text, or a filled shape if text is empty.
type sheetItem struct {
	box    image.Rectangle
	text   string
	color  color.NRGBA
	size   float32 // size of the text, or radius of the corners, in dp
	align  text.Alignment
	weight font.Weight
}

// sheetOf holds everything that the picture depends on besides its items.
type sheetOf struct {
	size   image.Point
	ground color.NRGBA
	scale  float32
	fonts  int64 // version of the system fonts; more are found in the background
}

// Fill adds a filled rectangle, in coordinates from the sheet's corner.
func (s *Sheet) Fill(r image.Rectangle, radius float32, c color.NRGBA) {
	s.items = append(s.items, sheetItem{box: r, color: c, size: radius})
}

// Text adds a line of text, placed in r as [UI.Text] does. Lines and typeface of the
// style are ignored.
func (s *Sheet) Text(r image.Rectangle, t string, st Style) {
	if t != "" {
		Want(t)
		s.items = append(s.items, sheetItem{r, t, st.Color, st.Size, st.Align, st.Weight})
	}
}

// Paragraph adds a text of up to st.Lines lines in the width of r, from its top, and
// returns the height of the text.
func (s *Sheet) Paragraph(u *UI, r image.Rectangle, t string, st Style) int {
	step := float64(st.Size*u.Metric.PxPerSp) * 1.2 // Gio's line spacing
	at := func(line int) int { return r.Min.Y + int(math.Round(float64(line)*step)) }
	lines := u.face(st.Size, st.Weight).Wrap(t, float32(r.Dx()), max(1, st.Lines))
	for i, l := range lines {
		s.Text(image.Rect(r.Min.X, at(i), r.Max.X, at(i+1)), l, st)
	}
	return at(len(lines)) - r.Min.Y
}

// Show draws the sheet in r on a background of one colour, and clears the sheet for the
// next frame.
func (s *Sheet) Show(u *UI, r image.Rectangle, ground color.NRGBA) {
	of := sheetOf{r.Size(), ground, u.Metric.PxPerDp, fonts.System.Version()}
	if !s.shown.Serves(u) || s.of != of || !slices.Equal(s.items, s.last) {
		s.shown = u.Cover(&s.pool, r.Size(), func(on raster.Surface) {
			on.Rect(0, 0, r.Dx(), r.Dy(), raster.Pack(ground))
			for i := range s.items {
				s.items[i].paint(u, on, ground)
			}
		})
		s.of = of
	}
	s.items, s.last = s.last[:0], s.items
	u.Draw(s.shown, r.Min)
}

// Width returns the width of a text on a sheet.
func (u *UI) Width(t string, st Style) int {
	return int(math.Ceil(float64(u.face(st.Size, st.Weight).Measure(t))))
}

func (u *UI) face(size float32, weight font.Weight) *raster.Face {
	if weight == font.Medium {
		return u.Faces.Medium(size * u.Metric.PxPerSp)
	}
	return u.Faces.Regular(size * u.Metric.PxPerSp)
}

func (i *sheetItem) paint(u *UI, on raster.Surface, ground color.NRGBA) {
	b := i.box
	if i.text == "" {
		on.Bar(b.Min.X, b.Min.Y, b.Max.X, b.Max.Y, raster.Pack(mix(ground, i.color)), u.Px(i.size))
		return
	}
	f := u.face(i.size, i.weight)
	w := float32(b.Dx())
	t := f.Cut(i.text, w)
	x := float32(b.Min.X)
	switch i.align {
	case text.End:
		x += w - f.Measure(t)
	case text.Middle:
		x += (w - f.Measure(t)) / 2
	}
	f.Draw(on, x, f.Baseline(b.Min.Y, b.Max.Y), t, raster.Pack(i.color), b.Min.X, b.Max.X)
}

// mix returns a colour, which may be translucent, laid over a background. It blends in
// linear light, as the rest of the window does.
func mix(ground, c color.NRGBA) color.NRGBA {
	a := float64(c.A) / 255
	on, over := channels(ground), channels(c)
	part := func(i int) uint8 {
		return uint8(math.Round(lay(float64(on[i]), float64(over[i]), a)))
	}
	return color.NRGBA{R: part(0), G: part(1), B: part(2), A: 255}
}
