package ui

import (
	"fmt"
	"slices"
	"sync"

	"eliasnaur.com/font/roboto/robotomedium"
	"eliasnaur.com/font/roboto/robotoregular"
	"gioui.org/font"
	"gioui.org/font/opentype"
	"gioui.org/text"
	typesetting "github.com/go-text/typesetting/font"
	"golang.org/x/image/font/gofont/gomono"

	"ashlar/render/fonts"
)

var faces = sync.OnceValue(func() []font.FontFace {
	var all []font.FontFace
	for _, f := range []struct {
		name   font.Typeface
		ttf    []byte
		weight font.Weight
	}{
		{"Roboto", robotoregular.TTF, font.Normal}, {"Roboto", robotomedium.TTF, font.Medium},
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

// NewShaper returns a shaper with the built-in fonts and the system fonts found so far
// for other characters.
func NewShaper() *text.Shaper {
	all := faces()
	for i, f := range fonts.System.Fonts() {
		for _, weight := range []font.Weight{font.Normal, font.Medium} { // the shaper takes no other weight
			all = append(all, font.FontFace{Font: font.Font{Typeface: font.Typeface(fmt.Sprintf("other %d", i)), Weight: weight}, Face: other{f}})
		}
	}
	return text.NewShaper(text.NoSystemFonts(), text.WithCollection(slices.Clip(all)))
}

// other is a font of the system.
type other struct{ font *typesetting.Font }

func (o other) Face() *typesetting.Face { return typesetting.NewFace(o.font) }

// Want requests fonts for those characters of a text that the built-in font lacks. They
// are drawn as soon as a font is found.
func Want(s string) {
	for i := range len(s) {
		if s[i] >= 0x80 {
			fonts.System.Want(s[i:], has)
			return
		}
	}
}

var builtIn = sync.OnceValue(func() *typesetting.Face { return faces()[0].Face.Face() })

func has(r rune) bool {
	_, ok := builtIn().NominalGlyph(r)
	return ok || r == '\u2009' || r == '\u00a0'
}
