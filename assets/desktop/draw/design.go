package main

import (
	"image/color"
	"math"

	"ashlar/render/theme"
)

// side is the side length of the square in which icons are designed.
const side = 128

// shape is a filled outline in units of the design.
type shape struct {
	fill color.NRGBA
	// A rounded rectangle from x0, y0 to x1, y1, or the polygon of points.
	x0, y0, x1, y1, radius float64
	points                 [][2]float64
}

// stone is a stone of a wall: its left and right edge as shares of the wall's width, and
// its lightness.
type stone struct{ from, to, light float64 }

// wall lists courses from the bottom up. As in any stable wall, no joint lies directly
// above another.
var wall = [][]stone{
	{{0, .42, .50}, {.42, 1, .55}},
	{{0, .26, .58}, {.26, .66, .64}, {.66, 1, .59}},
	{{.14, .50, .70}, {.50, .84, .66}},
	{{.34, .66, .79}},
}

// lowWall has three courses, for small icons.
var lowWall = [][]stone{
	{{0, .42, .53}, {.42, 1, .58}},
	{{.12, .62, .66}, {.62, 1, .61}},
	{{.32, .72, .78}},
}

// accentHue is the hue of the accent colours of both themes, in OKLCH.
const accentHue = 252

func stoneColor(light float64) color.NRGBA { return theme.OKLCH(light, .135, accentHue) }

// grid rounds to whole pixels of a picture n pixels wide. An n of 0 means SVG, which has
// no pixels.
type grid int

func (n grid) snap(v float64) float64 {
	if n == 0 {
		return v
	}
	px := side / float64(n)
	return math.Round(v/px) * px
}

// app returns the shapes of the program's icon.
func app(n int) []shape {
	g := grid(n)
	plate := shape{fill: theme.Dark.Surface, x0: g.snap(4), y0: g.snap(4), x1: g.snap(124), y1: g.snap(124), radius: 26}
	rim := plate
	rim.fill = theme.Mix(theme.Dark.Rule, theme.Dark.Faint, .35)
	if n == 0 || n >= 48 {
		w := math.Max(1.5, side/math.Max(float64(n), side))
		plate.x0, plate.y0, plate.x1, plate.y1, plate.radius = plate.x0+w, plate.y0+w, plate.x1-w, plate.y1-w, plate.radius-w
	} else {
		rim.fill = plate.fill
	}
	return append([]shape{rim, plate}, lay(g, 20, 24, 108, 104)...)
}

// document returns the shapes of the recordings' icon.
func document(n int) []shape {
	g := grid(n)
	x0, y0, x1, y1 := g.snap(20), g.snap(6), g.snap(108), g.snap(122)
	fold := g.snap(30)
	sheet := func(in float64, c color.NRGBA) shape {
		f := fold + in*(math.Sqrt2-1)
		return shape{fill: c, points: [][2]float64{
			{x0 + in, y0 + in}, {x1 - f, y0 + in}, {x1 - in, y0 + f}, {x1 - in, y1 - in}, {x0 + in, y1 - in},
		}}
	}
	edge := math.Max(3, side/math.Max(float64(n), 1))
	if n == 0 {
		edge = 3
	}
	shapes := []shape{
		sheet(0, theme.Light.Faint),
		sheet(edge, theme.Light.Raised),
		{fill: theme.Light.Faint, points: [][2]float64{{x1 - fold, y0}, {x1, y0 + fold}, {x1 - fold, y0 + fold}}},
	}
	return append(shapes, lay(g, 36, 54, 92, 106)...)
}

// lay builds the wall in a rectangle, its joints on whole pixels.
func lay(g grid, x0, y0, x1, y1 float64) []shape {
	courses := wall
	if g != 0 && g <= 24 {
		courses = lowWall
	}
	x0, y0, x1, y1 = g.snap(x0), g.snap(y0), g.snap(x1), g.snap(y1)
	joint := 4.0
	if g != 0 {
		joint = math.Max(side/float64(g), g.snap(3.6))
	}
	height := g.snap((y1 - y0 - joint*float64(len(courses)-1)) / float64(len(courses)))
	var shapes []shape
	for i, course := range courses {
		bottom := y1 - float64(i)*(height+joint)
		for _, s := range course {
			from, to := g.snap(x0+s.from*(x1-x0)), g.snap(x0+s.to*(x1-x0))
			if s.to < 1 && to < x1 {
				to -= joint
			}
			shapes = append(shapes, shape{fill: stoneColor(s.light), x0: from, y0: bottom - height, x1: to, y1: bottom, radius: 2.5})
		}
	}
	return shapes
}
