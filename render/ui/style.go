package ui

import (
	"image/color"

	"gioui.org/font"
	"gioui.org/text"
)

// Colour is one that is drawn with.
type Colour = color.NRGBA

// How a text is in its place, and how thick it is.
const (
	Start  = text.Start
	Middle = text.Middle
	End    = text.End
	Medium = font.Medium
)
