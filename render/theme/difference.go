package theme

import (
	"image/color"
	"math"
	"sync"
)

// Hues of differences: orange for more in B, blue for less. People with red-green colour
// blindness can tell these apart.
const (
	hueMore = 55
	hueLess = 245
)

// shades is the number of shades for more, and for less.
const shades = 128

// shade is the colour of a bar and of the text on it.
type shade struct{ bar, text color.NRGBA }

// differences are the shades by theme, from less through equal to more.
var differences = map[*Theme]func() *[2*shades + 1]shade{Dark: Dark.shades(), Light: Light.shades(), Contrast: Contrast.shades()}

func (t *Theme) shades() func() *[2*shades + 1]shade {
	return sync.OnceValue(func() *[2*shades + 1]shade {
		var all [2*shades + 1]shade
		for i := range all {
			all[i].bar, all[i].text = t.difference(float64(i-shades) / shades)
		}
		return &all
	})
}

// Difference returns the colours of a bar and of the text on it, by how its weight
// differs: from -1 (far less in B) through 0 (the same, grey) to 1 (far more).
func (t *Theme) Difference(d float64) (bar, text color.NRGBA) {
	i := int(math.Round(math.Max(-1, math.Min(1, d)) * shades))
	if i == 0 && d != 0 {
		i = int(math.Copysign(1, d)) // a small difference is still visible
	}
	s := &differences[t]()[i+shades]
	return s.bar, s.text
}

func (t *Theme) difference(d float64) (bar, text color.NRGBA) {
	size := math.Min(1, math.Abs(d))
	hue := float64(hueMore)
	if d < 0 {
		hue = hueLess
	}
	grey, full, chroma := .36, .74, .135
	if !t.Dark {
		grey, full, chroma = .885, .70, .145
	}
	for l := grey + (full-grey)*size; ; l += .005 {
		// Even the smallest difference has some tint, so that it does not look like none.
		c := 0.0
		if size > 0 {
			c = chroma * (.25 + .75*size)
		}
		bar = OKLCH(l, c, hue)
		// Skip the shades between dark and light on which no text is legible.
		if text = t.OnDifference(bar); Ratio(bar, text) >= 4.5 {
			return bar, text
		}
	}
}

// OnDifference returns a legible text colour for a bar's colour.
func (t *Theme) OnDifference(bar color.NRGBA) color.NRGBA {
	dark, light := color.NRGBA{0x0b, 0x0d, 0x10, 0xff}, color.NRGBA{0xff, 0xff, 0xff, 0xff}
	if Ratio(bar, light) > Ratio(bar, dark) {
		return light
	}
	return dark
}

// More returns the colour of numbers that are higher in B.
func (t *Theme) More() color.NRGBA { return t.amount(hueMore) }

// Less returns the colour of numbers that are lower in B.
func (t *Theme) Less() color.NRGBA { return t.amount(hueLess) }

func (t *Theme) amount(hue float64) color.NRGBA {
	if t.Dark {
		return OKLCH(.78, .13, hue)
	}
	return OKLCH(.5, .14, hue)
}
