package ui

import (
	"image/color"

	"gioui.org/f32"
	"gioui.org/op/clip"
	"gioui.org/op/paint"

	"ashlar/render/svg"
)

// A Line is a path that is stroked or filled. Begin one with [LineFrom].
type Line struct {
	from   f32.Point
	steps  [][]f32.Point
	closed bool
}

// LineFrom begins a line at a point.
func LineFrom(p f32.Point) *Line { return &Line{from: p} }

// To adds a straight line to p.
func (l *Line) To(p f32.Point) *Line {
	l.steps = append(l.steps, []f32.Point{p})
	return l
}

// Curve adds a cubic Bézier curve to a point, with two control points.
func (l *Line) Curve(c0, c1, to f32.Point) *Line {
	l.steps = append(l.steps, []f32.Point{c0, c1, to})
	return l
}

// Close adds a straight line back to the start.
func (l *Line) Close() *Line {
	l.closed = true
	return l
}

func (l *Line) spec(u *UI) clip.PathSpec {
	var p clip.Path
	p.Begin(u.Ops)
	p.MoveTo(l.from)
	for _, s := range l.steps {
		if len(s) == 3 {
			p.CubeTo(s[0], s[1], s[2])
		} else {
			p.LineTo(s[0])
		}
	}
	if l.closed {
		p.Close()
	}
	return p.End()
}

// Stroke draws a line width pixels thick.
func (u *UI) Stroke(l *Line, width float32, c color.NRGBA) {
	paint.FillShape(u.Ops, c, clip.Stroke{Path: l.spec(u), Width: width}.Op())
	u.writeLine(l, width, c)
}

// FillIn fills the area inside a closed line.
func (u *UI) FillIn(l *Line, c color.NRGBA) {
	paint.FillShape(u.Ops, c, clip.Outline{Path: l.spec(u)}.Op())
	u.writeLine(l, 0, c)
}

func (u *UI) writeLine(l *Line, width float32, c color.NRGBA) {
	if u.Shapes == nil {
		return
	}
	out := svg.Line{From: svg.Point(l.from), Closed: l.closed}
	for _, s := range l.steps {
		step := make([]svg.Point, len(s))
		for i := range s {
			step[i] = svg.Point(s[i])
		}
		out.Steps = append(out.Steps, step)
	}
	u.Shapes.Path(out, width, u.ink(c))
}
