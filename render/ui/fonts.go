package ui

import (
	"sync"

	"eliasnaur.com/font/roboto/robotobold"
	"eliasnaur.com/font/roboto/robotomedium"
	"eliasnaur.com/font/roboto/robotoregular"
	"gioui.org/font"
	"gioui.org/font/opentype"
	"gioui.org/text"
)

var faces = sync.OnceValue(func() []font.FontFace {
	var all []font.FontFace
	for _, f := range []struct {
		ttf    []byte
		weight font.Weight
	}{{robotoregular.TTF, font.Normal}, {robotomedium.TTF, font.Medium}, {robotobold.TTF, font.Bold}} {
		face, err := opentype.Parse(f.ttf)
		if err != nil {
			panic("the built-in font cannot be read: " + err.Error())
		}
		all = append(all, font.FontFace{Font: font.Font{Typeface: "Roboto", Weight: f.weight}, Face: face})
	}
	return all
})

// NewShaper returns a shaper with the built-in fonts.
func NewShaper() *text.Shaper {
	return text.NewShaper(text.NoSystemFonts(), text.WithCollection(faces()))
}
