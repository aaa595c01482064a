// Package theme defines Ashlar's colours and the sizes that views share.
package theme

import (
	"image/color"
	"math"
)

// A Theme is a set of colours. They are opaque unless noted.
type Theme struct {
	Name string
	Dark bool

	Background, Lane, Surface, Raised, Rule color.NRGBA
	Text, Dim, Faint                        color.NRGBA
	// Accent marks the selection, the current view and active items; OnAccent is the
	// colour of text on it.
	Accent, OnAccent color.NRGBA
	// OnBar is the colour of text on bars.
	OnBar color.NRGBA
	// Warn marks warnings and search hits.
	Warn color.NRGBA

	// Band is the opacity of the selection band. The same opacity looks far stronger on a
	// dark than on a light background, because the GPU blends linear light.
	Band float64

	// barL and barC are the lightness and chroma of bars (OKLCH).
	barL, barC float64
}

// Dark and Light are the themes for most people; Contrast is for people who need more
// contrast.
var (
	Dark = &Theme{
		Name: "dark", Dark: true,
		Background: hex(0x14161a), Lane: hex(0x171a1f), Surface: hex(0x1a1d22), Raised: hex(0x22262d), Rule: hex(0x2c313a),
		Text: hex(0xe4e8ee), Dim: hex(0x98a2b1), Faint: hex(0x67707f),
		Accent: hex(0x6cb2ff), OnAccent: hex(0x10131a), OnBar: hex(0x14161a), Warn: hex(0xffb454),
		Band: .035, barL: .74, barC: .085,
	}
	Light = &Theme{
		Name:       "light",
		Background: hex(0xfbfbfa), Lane: hex(0xf7f8f8), Surface: hex(0xf3f4f4), Raised: hex(0xffffff), Rule: hex(0xdcdfe3),
		Text: hex(0x1d2127), Dim: hex(0x5b6573), Faint: hex(0x858e9a),
		Accent: hex(0x1769c4), OnAccent: hex(0xffffff), OnBar: hex(0x1d2127), Warn: hex(0xa85705),
		Band: .13, barL: .86, barC: .065,
	}
	Contrast = &Theme{
		Name: "contrast", Dark: true,
		Background: hex(0x000000), Lane: hex(0x000000), Surface: hex(0x0b0b0b), Raised: hex(0x1c1c1c), Rule: hex(0x858585),
		Text: hex(0xffffff), Dim: hex(0xe0e0e0), Faint: hex(0xb8b8b8),
		Accent: hex(0xffd83d), OnAccent: hex(0x000000), OnBar: hex(0x000000), Warn: hex(0xff9e64),
		Band: .06, barL: .82, barC: .11,
	}
)

// All lists the themes in the order in which they are offered.
var All = []*Theme{Dark, Light, Contrast}

// ByName returns a theme; ok is false if no theme has the name.
func ByName(name string) (t *Theme, ok bool) {
	for _, t := range All {
		if t.Name == name {
			return t, true
		}
	}
	return nil, false
}

func hex(v uint32) color.NRGBA {
	return color.NRGBA{R: uint8(v >> 16), G: uint8(v >> 8), B: uint8(v), A: 0xff}
}

// WithAlpha returns c with its opacity set, 0 to 1.
func WithAlpha(c color.NRGBA, a float64) color.NRGBA {
	c.A = uint8(math.Round(a * 255))
	return c
}

// Mix returns a mixture of two colours: a if t is 0, b if t is 1.
func Mix(a, b color.NRGBA, t float64) color.NRGBA {
	m := func(x, y uint8) uint8 { return uint8(math.Round(float64(x) + (float64(y)-float64(x))*t)) }
	return color.NRGBA{R: m(a.R, b.R), G: m(a.G, b.G), B: m(a.B, b.B), A: m(a.A, b.A)}
}

// OKLCH converts lightness (0 to 1), chroma and hue (degrees) to sRGB, clipped
// to its gamut. After Björn Ottosson, "A perceptual color space for image
// processing".
func OKLCH(l, c, h float64) color.NRGBA {
	rad := h * math.Pi / 180
	b, a := math.Sincos(rad)
	a, b = c*a, c*b
	cube := func(x float64) float64 { return x * x * x }
	lp := cube(l + 0.3963377774*a + 0.2158037573*b)
	mp := cube(l - 0.1055613458*a - 0.0638541728*b)
	sp := cube(l - 0.0894841775*a - 1.2914855480*b)
	return color.NRGBA{
		R: gamma(4.0767416621*lp - 3.3077115913*mp + 0.2309699292*sp),
		G: gamma(-1.2684380046*lp + 2.6097574011*mp - 0.3413193965*sp),
		B: gamma(-0.0041960863*lp - 0.7034186147*mp + 1.7076147010*sp),
		A: 0xff,
	}
}

// gamma returns the nearest sRGB value for a linear light value. It uses a table, because
// a picture of many functions needs it thousands of times.
func gamma(x float64) uint8 {
	v := 0
	for step := 128; step > 0; step /= 2 {
		if x >= least[v+step] {
			v += step
		}
	}
	return uint8(v)
}

// least is the lowest linear light value that rounds to each sRGB value.
var least = func() (t [256]float64) {
	for v := 1; v < len(t); v++ {
		x := (float64(v) - .5) / 255
		if t[v] = x / 12.92; t[v] > 0.0031308 {
			t[v] = math.Pow((x+0.055)/1.055, 2.4)
		}
	}
	return t
}()

// Ratio returns the WCAG contrast ratio of two opaque colours, 1 to 21.
func Ratio(a, b color.NRGBA) float64 {
	x, y := luminance(a), luminance(b)
	if x < y {
		x, y = y, x
	}
	return (x + .05) / (y + .05)
}

func luminance(c color.NRGBA) float64 {
	return 0.2126*linear[c.R] + 0.7152*linear[c.G] + 0.0722*linear[c.B]
}

// linear is the linear light value of each sRGB value.
var linear = func() (t [256]float64) {
	for v := range t {
		x := float64(v) / 255
		if t[v] = x / 12.92; x > 0.04045 {
			t[v] = math.Pow((x+0.055)/1.055, 2.4)
		}
	}
	return t
}()

// Lift returns the colour of a highlighted bar: in a dark theme a lighter one; in a light
// theme, whose bars are nearly as pale as the background, a deeper shade of the same hue.
func (t *Theme) Lift(c color.NRGBA) color.NRGBA {
	if t.Dark {
		return Mix(c, color.NRGBA{0xff, 0xff, 0xff, 0xff}, .35)
	}
	return deeper(c, 15)
}

// Thin returns the colour of a bar of a pixel or two, with nothing beside it. In a light
// theme it is deeper, because the eye takes a thin line for paler than it is.
func (t *Theme) Thin(c color.NRGBA) color.NRGBA {
	if t.Dark {
		return c
	}
	return deeper(c, 17)
}

// deeper returns a colour that is as many tenths as far from white.
func deeper(c color.NRGBA, tenths int) color.NRGBA {
	far := func(v uint8) uint8 { return uint8(max(0, 255-(255-int(v))*tenths/10)) }
	return color.NRGBA{far(c.R), far(c.G), far(c.B), c.A}
}

// OnFaded returns the colour of labels on bars faded by [Theme.Fade].
func (t *Theme) OnFaded() color.NRGBA {
	if t.Dark && t != Contrast {
		return Mix(t.Dim, t.Text, .4)
	}
	return t.OnBar
}

// Above returns the colours, in a flamegraph, of a bar above the zoomed one and of its
// label.
func (t *Theme) Above(c color.NRGBA) (bar, label color.NRGBA) {
	if t.Dark {
		return Mix(c, t.Background, .55), t.Text
	}
	return Mix(c, t.Background, .45), t.OnBar
}

// Waiting returns the colour for the off-CPU part of a bar: a darker tone of the bar's
// colour, on which labels stay legible. A paler one would vanish on a light background.
func (t *Theme) Waiting(c color.NRGBA) color.NRGBA {
	if t.Dark {
		return Mix(c, t.Lane, .2)
	}
	return Mix(c, t.OnBar, .15)
}

// Fade returns the colour of a bar that is dimmed because others are highlighted.
func (t *Theme) Fade(c color.NRGBA) color.NRGBA {
	if t == Contrast {
		return Mix(c, t.Lane, .33) // labels on the bar must stay legible
	}
	return Mix(c, t.Lane, .72)
}
