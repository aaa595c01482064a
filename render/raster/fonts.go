package raster

import (
	"bytes"
	"sync"

	"eliasnaur.com/font/roboto/robotomedium"
	"eliasnaur.com/font/roboto/robotoregular"
	"github.com/go-text/typesetting/font"
)

// regular is the font of labels, parsed once.
var regular = sync.OnceValue(func() *font.Face {
	f, err := font.ParseTTF(bytes.NewReader(robotoregular.TTF))
	if err != nil {
		panic("the built-in font cannot be read: " + err.Error())
	}
	return f
})

// Regular returns the label face at a size in pixels.
func Regular(px float32) *Face { return NewFace(regular(), px) }

var mediumFont = sync.OnceValue(func() *font.Face {
	f, err := font.ParseTTF(bytes.NewReader(robotomedium.TTF))
	if err != nil {
		panic("the built-in font cannot be read: " + err.Error())
	}
	return f
})

// Medium returns the face of names at a size in pixels.
func Medium(px float32) *Face {
	f := NewFace(mediumFont(), px)
	f.medium = true
	return f
}
