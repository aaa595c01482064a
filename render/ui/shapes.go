package ui

import (
	"image"
	"image/color"
	"math"

	"gioui.org/font"
	"gioui.org/text"
	"gioui.org/unit"
	"golang.org/x/image/math/fixed"

	"ashlar/render/raster"
	"ashlar/render/svg"
)

// Exported shapes should look as they do in the window, which blends colours in linear
// light, while programs that draw SVG blend the sRGB values.

// ink returns the SVG paint for a colour. A translucent colour gets the opacity and
// colour that look right both on the background and on bars.
func (u *UI) ink(c color.NRGBA) svg.Paint {
	if c.A == 255 {
		return svg.Paint{Color: raster.Pack(c), Alpha: 255}
	}
	if c.A == 0 {
		return svg.Paint{}
	}
	a := float64(c.A) / 255
	bg := u.Theme.Background
	const bar = 185 // typical brightness of a bar, in each channel
	var on, over [3]float64
	slope := 0.0
	for i, ch := range channels(c) {
		b := float64(channels(bg)[i])
		on[i], over[i] = lay(b, float64(ch), a), lay(bar, float64(ch), a)
		slope += (over[i] - on[i]) / (bar - b) / 3
	}
	slope = max(0, min(1-1.0/255, slope))
	out := color.NRGBA{A: 255}
	for i, p := range []*uint8{&out.R, &out.G, &out.B} {
		v := (on[i] - slope*float64(channels(bg)[i])) / (1 - slope)
		*p = uint8(math.Round(max(0, min(255, v))))
	}
	return svg.Paint{Color: raster.Pack(out), Alpha: uint32(math.Round((1 - slope) * 255))}
}

func channels(c color.NRGBA) [3]uint8 { return [3]uint8{c.R, c.G, c.B} }

// lay returns one channel of a colour with opacity a, 0 to 1, over another colour,
// blended in linear light.
func lay(under, over, a float64) float64 {
	return fromLight((1-a)*toLight(under) + a*toLight(over))
}

// toLight and fromLight convert between the numbers of sRGB, 0 to 255, and
// light, 0 to 1.
func toLight(v float64) float64 {
	v /= 255
	if v <= .04045 {
		return v / 12.92
	}
	return math.Pow((v+.055)/1.055, 2.4)
}

func fromLight(v float64) float64 {
	if v <= .0031308 {
		return v * 12.92 * 255
	}
	return (1.055*math.Pow(v, 1/2.4) - .055) * 255
}

// WriteDown exports a text in the frame's corner that other code, such as a text field,
// draws.
func (u *UI) WriteDown(s string, st Style) {
	if u.Shapes != nil {
		u.write(image.Rectangle{Max: u.Constraints.Max}, image.Point{}, s, st)
	}
}

// write exports a text whose lines begin at a place, clipped to r.
func (u *UI) write(r image.Rectangle, at image.Point, s string, st Style) {
	for _, l := range u.lines(r.Dx(), s, st) {
		l.X += float32(at.X)
		l.Y += float32(at.Y)
		if st.Lines <= 1 { // multiple lines are all aligned left
			l.End, l.Middle = st.Align == text.End, st.Align == text.Middle
		}
		l.Color, l.Clip = u.ink(st.Color), [2]int{r.Min.X, r.Max.X}
		u.Shapes.Label(l)
	}
}

// lines returns the lines of a text shaped to a width, relative to its corner.
func (u *UI) lines(width int, s string, st Style) []svg.Label {
	size := u.Sp(unit.Sp(st.Size))
	s = u.shapeable(width, s, st)
	u.Shaper.LayoutString(u.parameters(width, st), s)
	var all []svg.Label
	blank := svg.Label{Size: float32(size), Weight: weight(st.Weight), Mono: st.Mono}
	line, left := blank, fixed.Int26_6(math.MaxInt32)
	right := fixed.Int26_6(0)
	runes := []rune(s)
	for g, ok := u.Shaper.NextGlyph(); ok; g, ok = u.Shaper.NextGlyph() {
		left, right = min(left, g.X), max(right, g.X+g.Advance)
		line.Y = float32(g.Y)
		n := min(int(g.Runes), len(runes))
		switch {
		case g.Flags&text.FlagTruncator == 0:
			line.Text += string(runes[:n])
		case g.Flags&text.FlagClusterBreak != 0:
			line.Text += raster.Ellipsis
		}
		runes = runes[n:]
		if g.Flags&text.FlagLineBreak != 0 {
			line.X, line.Width = float32(left)/64, float32(right-left)/64
			all = append(all, line)
			line, left, right = blank, math.MaxInt32, 0
		}
	}
	return all
}

// weight returns a font's weight in CSS units.
func weight(w font.Weight) int { return int(w) + 400 }
