package ui

import (
	"image/color"

	"gioui.org/font"
	"gioui.org/text"
)

// Colour is one that is drawn with.
type Colour = color.NRGBA

// The alignment of a text, and its weight.
const (
	Start  = text.Start
	Middle = text.Middle
	End    = text.End
	Medium = font.Medium
)
