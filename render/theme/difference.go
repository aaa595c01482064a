package theme

import (
	"image/color"
	"math"
)

// Hues of differences: orange for more in B, blue for less. People who cannot
// tell red from green tell these apart.
const (
	hueMore = 55
	hueLess = 245
)

// Difference is the colour of a bar by how its weight differs, from -1 (far less
// in B) over 0 (the same, grey) to 1 (far more), and that of text on it.
func (t *Theme) Difference(d float64) (bar, text color.NRGBA) {
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
		// A little tint at once, so that a small difference is not taken for none.
		c := 0.0
		if size > 0 {
			c = chroma * (.25 + .75*size)
		}
		bar = OKLCH(l, c, hue)
		// Between dark and light there are shades on which no text is legible.
		if text = t.OnDifference(bar); Contrast(bar, text) >= 4.5 {
			return bar, text
		}
	}
}

// OnDifference is the text that is legible on a colour.
func (t *Theme) OnDifference(bar color.NRGBA) color.NRGBA {
	dark, light := color.NRGBA{0x0b, 0x0d, 0x10, 0xff}, color.NRGBA{0xff, 0xff, 0xff, 0xff}
	if Contrast(bar, light) > Contrast(bar, dark) {
		return light
	}
	return dark
}

// More and Less are the colours of numbers that say there is more or less in B.
func (t *Theme) More() color.NRGBA { return t.amount(hueMore) }

// Less is More for less.
func (t *Theme) Less() color.NRGBA { return t.amount(hueLess) }

func (t *Theme) amount(hue float64) color.NRGBA {
	if t.Dark {
		return OKLCH(.78, .13, hue)
	}
	return OKLCH(.5, .14, hue)
}
