package timeline

import "math"

// A View is the visible time range, in the recording's picoseconds, and the vertical
// scroll position, in pixels.
type View struct {
	From, To int64
	Scroll   int
}

// minSpan is the shortest time range of a view, in picoseconds. A shorter one would show
// nothing.
const minSpan = 100

// Span returns the length of the visible time range.
func (v View) Span() int64 { return max(1, v.To-v.From) }

// X returns the position of a time in a picture w pixels wide. It subtracts as integers
// first: a float of an absolute time would lose the low digits.
func (v View) X(t int64, w int) float64 {
	return float64(t-v.From) / float64(v.Span()) * float64(w)
}

// Time returns the time at a pixel.
func (v View) Time(x float64, w int) int64 {
	return v.From + int64(math.Round(x/float64(max(1, w))*float64(v.Span())))
}

// Zoom scales the span by factor, keeping the time at x in place, and stays within
// from..to plus a small margin.
func (v View) Zoom(factor, x float64, w int, from, to int64) View {
	at := v.Time(x, w)
	span := math.Max(minSpan, float64(v.Span())*factor)
	span = math.Min(span, float64(to-from)*1.1+minSpan)
	v.From = at - int64(math.Round(span*x/float64(max(1, w))))
	v.To = v.From + int64(math.Round(span))
	return v.whole(w).Clamp(from, to)
}

// whole returns the view with a whole number of picoseconds per pixel if that makes no
// visible difference.
func (v View) whole(w int) View {
	if px := v.Span() / int64(max(1, w)); px >= 10*int64(w) {
		v.To = v.From + px*int64(w)
	}
	return v
}

// Pan moves the view by dx pixels. If dx is at least a pixel, the view moves by whole
// pixels that are also whole numbers of picoseconds, so that the previous picture can be
// reused.
func (v View) Pan(dx float64, w int, from, to int64) View {
	if dx <= -1 || dx >= 1 {
		dx = math.Round(dx)
	}
	v = v.whole(w)
	d := int64(math.Round(dx / float64(max(1, w)) * float64(v.Span())))
	moved := v
	moved.From += d
	moved.To += d
	moved = moved.Clamp(from, to)
	if px := v.Span() / int64(max(1, w)); px*int64(w) == v.Span() { // stops at the last whole pixel
		rest := (moved.From - v.From) % px
		moved.From -= rest
		moved.To -= rest
	}
	return moved
}

// Clamp keeps the view from leaving the recording: a twentieth of its width
// may be outside on either side.
func (v View) Clamp(from, to int64) View {
	span := v.Span()
	air := span / 20
	if span >= to-from {
		air = max(air, (span-(to-from))/2)
	}
	if v.To > to+air {
		v.From, v.To = to+air-span, to+air
	}
	if v.From < from-air {
		v.From, v.To = from-air, from-air+span
	}
	return v
}

// Fit returns the view that shows from..to with a small margin.
func (v View) Fit(from, to int64) View {
	air := max((to-from)/100, minSpan/2)
	v.From, v.To = from-air, to+air
	return v
}
