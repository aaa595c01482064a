package widget

import (
	"image"

	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/render/theme"
	"ashlar/render/ui"
)

// List is rows of one height, as many as there are: those that are seen are drawn.
// The wheel, drags and keys
// scroll it.
type List struct {
	Drag
	Down int // how far it is scrolled, in pixels

	seen, line int // the heights of all and of a row in the last frame, in pixels
}

// Events takes what was done on the list, which is in r and has n rows: what
// scrolls it does so, the rest is for do, with the row it is on; -1 for none.
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

// Rows calls row for the rows that are seen of n, each with its place in a frame of
// r's size. Behind the last there is room for one more.
func (l *List) Rows(r image.Rectangle, line, n int, row func(i int, at image.Rectangle)) {
	l.seen, l.line = r.Dy(), line
	l.Down = max(0, min(l.Down, n*line-r.Dy()+line))
	for i := l.Down / line; i < n && i*line-l.Down < r.Dy(); i++ {
		row(i, ui.Rect(0, i*line-l.Down, r.Dx(), line))
	}
}

// Ground is the colour behind a row that is chosen or has the pointer on it; false
// for other rows.
func (l *List) Ground(u *ui.UI, at image.Rectangle, chosen bool) (ui.Colour, bool) {
	switch {
	case chosen:
		return theme.WithAlpha(u.Theme.Accent, .16), true
	case l.Inside && int(l.At.Y) >= at.Min.Y && int(l.At.Y) < at.Max.Y:
		return theme.WithAlpha(u.Theme.Text, .05), true
	}
	return ui.Colour{}, false
}

// Key goes from row at, -1 for none, to the one that a key means, which is scrolled
// into view; false for a key that means none.
func (l *List) Key(k key.Event, at, n int) (int, bool) {
	line := max(1, l.line)
	to, ok := RowKey(at, k, n, l.seen/line)
	if ok {
		l.Into(to)
	}
	return to, ok
}

// Turn scrolls by keys; false for others.
func (l *List) Turn(k key.Event) bool { return ScrollKey(&l.Down, k, l.line, l.seen) }

// Into scrolls just so far that a row is seen.
func (l *List) Into(row int) { ScrollInto(&l.Down, row, l.line, l.seen-l.line) }

// Scrolls moves down, in pixels, where a gesture is one that scrolls, and reports
// whether it is.
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

// ScrollBar shows which part of something is seen, and can be dragged.
type ScrollBar struct{ Drag }

// Layout draws the bar in r, beside what is as high and shows as much of all, in
// pixels; down is how far that is scrolled. It is not there where all is seen.
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
