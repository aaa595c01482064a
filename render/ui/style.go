package ui

import (
	"image/color"

	"gioui.org/font"
	"gioui.org/text"
)

// Colour is the type of drawing colours.
type Colour = color.NRGBA

// The alignment of a text, and its weight.
const (
	Start  = text.Start
	Middle = text.Middle
	End    = text.End
	Medium = font.Medium
)
