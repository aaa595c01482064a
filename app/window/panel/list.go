package panel

import (
	"gioui.org/io/event"

	"ashlar/render/widget"
)

// List is a panel's list of rows: what it is scrolled by, and where a press gives the
// lower half the keyboard.
type List[S any] struct{ widget.List }

// Scroll is how far rows are scrolled.
func (l *List[S]) Scroll(S) *int { return &l.Down }

// ScrollBy moves the rows up by some pixels where the pointer is on them.
func (l *List[S]) ScrollBy(_ S, px int) bool {
	if l.Inside {
		l.Down += px
	}
	return l.Inside
}

// Areas are where a press gives it the keyboard.
func (l *List[S]) Areas() []event.Tag { return []event.Tag{&l.Drag} }
