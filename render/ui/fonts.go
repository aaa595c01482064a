package ui

import (
	"sync"

	"eliasnaur.com/font/roboto/robotobold"
	"eliasnaur.com/font/roboto/robotomedium"
	"eliasnaur.com/font/roboto/robotoregular"
	"gioui.org/font"
	"gioui.org/font/opentype"
	"gioui.org/text"
	"golang.org/x/image/font/gofont/gomono"
)

var faces = sync.OnceValue(func() []font.FontFace {
	var all []font.FontFace
	for _, f := range []struct {
		name   font.Typeface
		ttf    []byte
		weight font.Weight
	}{
		{"Roboto", robotoregular.TTF, font.Normal}, {"Roboto", robotomedium.TTF, font.Medium}, {"Roboto", robotobold.TTF, font.Bold},
		{"Go Mono", gomono.TTF, font.Normal},
	} {
		face, err := opentype.Parse(f.ttf)
		if err != nil {
			panic("the built-in font cannot be read: " + err.Error())
		}
		all = append(all, font.FontFace{Font: font.Font{Typeface: f.name, Weight: f.weight}, Face: face})
	}
	return all
})

// NewShaper returns a shaper with the built-in fonts.
func NewShaper() *text.Shaper {
	return text.NewShaper(text.NoSystemFonts(), text.WithCollection(faces()))
}
