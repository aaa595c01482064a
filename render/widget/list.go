package widget

import (
	"image"

	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/render/theme"
	"ashlar/render/ui"
)

// A List shows rows of equal height and draws only the visible ones. The wheel, drags and
// keys scroll it.
type List struct {
	Drag
	Down int // scroll position, in pixels

	seen, line int // the heights of the list and of a row in the last frame, in pixels
}

// Events handles the gestures on the list, which is in r and has n rows, each line pixels
// high. It handles gestures that scroll, and passes all others to do with the row under
// the pointer, -1 for none.
func (l *List) Events(u *ui.UI, r image.Rectangle, line, n int, do func(g Gesture, row int)) {
	for {
		g, e, ok := l.Next(u, r.Min)
		if !ok {
			return
		}
		if l.Scrolls(u, g, e, &l.Down) {
			continue
		}
		row := (int(l.At.Y) + l.Down) / line
		if l.At.Y < 0 || row < 0 || row >= n {
			row = -1
		}
		do(g, row)
	}
}

// Rows calls row for each visible one of n rows, with its rectangle relative to r's
// corner. The list can be scrolled one row past the end.
func (l *List) Rows(r image.Rectangle, line, n int, row func(i int, at image.Rectangle)) {
	l.seen, l.line = r.Dy(), line
	l.Down = max(0, min(l.Down, n*line-r.Dy()+line))
	for i := l.Down / line; i < n && i*line-l.Down < r.Dy(); i++ {
		row(i, ui.Rect(0, i*line-l.Down, r.Dx(), line))
	}
}

// Ground returns the background colour of a row that is chosen or under the pointer, and
// false for other rows.
func (l *List) Ground(u *ui.UI, at image.Rectangle, chosen bool) (ui.Colour, bool) {
	switch {
	case chosen:
		return theme.WithAlpha(u.Theme.Accent, .16), true
	case l.Inside && int(l.At.Y) >= at.Min.Y && int(l.At.Y) < at.Max.Y:
		return theme.WithAlpha(u.Theme.Text, .05), true
	}
	return ui.Colour{}, false
}

// Key returns the row to which a key moves from row at (-1 for none), and scrolls that
// row into view; it returns false if the key does not move.
func (l *List) Key(k key.Event, at, n int) (int, bool) {
	line := max(1, l.line)
	to, ok := RowKey(at, k, n, l.seen/line)
	if ok {
		l.Into(to)
	}
	return to, ok
}

// Turn scrolls if k is a scroll key; it returns false for other keys.
func (l *List) Turn(k key.Event) bool { return ScrollKey(&l.Down, k, l.line, l.seen) }

// Into scrolls just far enough to make a row visible.
func (l *List) Into(row int) { ScrollInto(&l.Down, row, l.line, l.seen-l.line) }

// Scrolls changes *down, in pixels, if the gesture scrolls, and reports whether it does.
func (d *Drag) Scrolls(u *ui.UI, g Gesture, e pointer.Event, down *int) bool {
	switch g {
	case Wheeled:
		_, y := Notches(e)
		*down += int(y * float32(u.Px(RowsPerNotch)))
	case Dragged:
		*down += int(d.Start.Y - d.At.Y)
		d.Start = d.At
	default:
		return false
	}
	return true
}

// A ScrollBar shows which part of the content is visible, and can be dragged.
type ScrollBar struct{ Drag }

// Layout draws the bar in r. The view beside it is as high as r, all is the height of its
// content in pixels, and down is the scroll position. There is no bar if everything is
// visible.
func (b *ScrollBar) Layout(u *ui.UI, r image.Rectangle, all int, down *int, plain, over ui.Colour) {
	most := all - r.Dy()
	if most <= 0 {
		return
	}
	size := max(u.Px(28), r.Dy()*r.Dy()/all)
	free := r.Dy() - size
	for {
		g, _, ok := b.Next(u, r.Min)
		if !ok {
			break
		}
		if g == Pressed || g == Dragged {
			*down = int(float64(b.At.Y-float32(size)/2) / float64(max(1, free)) * float64(most))
		}
	}
	*down = max(0, min(*down, most))
	y := r.Min.Y + int(float64(*down)/float64(most)*float64(free))
	if b.Inside || b.Pressed {
		plain = over
	}
	u.Round(ui.Rect(r.Min.X+u.Px(3), y, u.Px(6), size), 3, plain)
	b.Area(u, r, pointer.CursorDefault)
}
