package widget

import (
	"image"
	"strings"

	"gioui.org/f32"

	"ashlar/render/flame"
	"ashlar/render/theme"
	"ashlar/render/ui"
)

// Swatch is a colour of a legend with its name.
type Swatch struct {
	Colour ui.Colour
	Name   string
}

// Tip draws a tooltip beside a point, inside the window: a title, lines and, if there is
// a legend, one more line with it.
func Tip(u *ui.UI, at image.Point, title string, lines []string, legend ...Swatch) {
	tip(u, at, false, title, lines, legend)
}

// FlameTip draws a tooltip about the bar at a point of a flamegraph, on the side of its
// callers, so that it covers neither the bar nor its callees. up means that the flamegraph
// grows upwards.
func FlameTip(u *ui.UI, at image.Point, up bool, title string, lines []string) {
	tip(u, at, !up, title, lines, nil)
}

// tip draws a tooltip below a point, or a bar's height above it.
func tip(u *ui.UI, at image.Point, above bool, title string, lines []string, legend []Swatch) {
	th := u.Theme
	ts := ui.Style{Size: 12.5, Weight: ui.Medium, Color: th.Text}
	ls := ui.Style{Size: 12, Color: th.Dim}
	most := u.Px(460)
	w := min(most, u.Width(title, ts))
	for _, l := range lines {
		w = max(w, min(most, u.Width(l, ls)))
	}
	size, gap := u.Px(10), u.Px(5)
	names := make([]int, len(legend)) // widths of the names
	named := 0
	for i := range legend {
		names[i] = u.Width(legend[i].Name, ls) + u.Px(10)
		named += size + gap + names[i]
	}
	w = max(w, named)
	line := u.Px(18)
	rows := 1 + len(lines)
	if legend != nil {
		rows++
	}
	box := tipBox(at, image.Pt(w+u.Px(22), line*rows+u.Px(14)), u.Constraints.Max, above, u.Px)
	u.Round(box.Add(image.Pt(0, u.Px(2))), 7, theme.WithAlpha(ui.Colour{}, .28))
	u.Round(box, 7, th.Raised)
	u.Border(box, 7, 1, th.Rule)
	u.Tip.Text(ui.Rect(0, 0, w, line), title, ts)
	for i, l := range lines {
		u.Tip.Text(ui.Rect(0, (i+1)*line, w, line), l, ls)
	}
	in := ui.Rect(box.Min.X+u.Px(11), box.Min.Y+u.Px(7), w, line*rows)
	x, y := 0, (rows-1)*line
	for i := range legend {
		u.Tip.Text(ui.Rect(x+size+gap, y, names[i], line), legend[i].Name, ls)
		x += size + gap + names[i]
	}
	u.Tip.Show(u, in, th.Raised)
	x = in.Min.X
	for i := range legend {
		u.Round(ui.Rect(x, in.Min.Y+y+(line-size)/2, size, size), 2, legend[i].Colour)
		x += size + gap + names[i]
	}
}

// tipBox returns the box of a tooltip at a point in a window: below the point or, where
// that is asked for or there is no room below, above it.
func tipBox(at, size, window image.Point, above bool, px func(float32) int) image.Rectangle {
	box := ui.Rect(at.X+px(14), at.Y+px(16), size.X, size.Y)
	if right := window.X - px(4); box.Max.X > right {
		box = box.Sub(image.Pt(box.Max.X-right, 0))
	}
	over := box.Sub(image.Pt(0, box.Max.Y-at.Y+px(flame.BarHeight+2)))
	switch {
	case above && over.Min.Y >= px(4):
		return over
	case box.Max.Y > window.Y-px(4):
		return box.Sub(image.Pt(0, box.Dy()+px(28)))
	}
	return box
}

// Point returns the place in the window of a point in an area.
func Point(origin image.Point, at f32.Point) image.Point {
	return origin.Add(image.Pt(int(at.X), int(at.Y)))
}

// lineLetters is the maximum length of a tooltip line, in characters, and mostLines the
// maximum number of lines of a text: more would fill the window.
const (
	lineLetters = 64
	mostLines   = 12
)

// Wrapped breaks a text into lines of a tooltip, preferably after a space or a vertical bar.
func Wrapped(s string) (lines []string) {
	r := []rune(s)
	for len(r) > lineLetters && len(lines) < mostLines-1 {
		at := lineLetters
		for k := at; k > lineLetters/2; k-- {
			if r[k-1] == ' ' || r[k-1] == '|' {
				at = k
				break
			}
		}
		lines = append(lines, strings.TrimRight(string(r[:at]), " "))
		r = r[at:]
	}
	if len(r) > lineLetters {
		r = append(r[:lineLetters-1:lineLetters-1], '…')
	}
	return append(lines, string(r))
}
