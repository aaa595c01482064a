package panel

import (
	"gioui.org/io/event"

	"ashlar/render/widget"
)

// List is a panel's list of rows; it implements the optional methods for scrolling and
// the keyboard focus.
type List[S any] struct{ widget.List }

// Scroll returns the scroll position of the rows.
func (l *List[S]) Scroll(S) *int { return &l.Down }

// ScrollBy scrolls the rows up by a number of pixels if the pointer is on them.
func (l *List[S]) ScrollBy(_ S, px int) bool {
	if l.Inside {
		l.Down += px
	}
	return l.Inside
}

// Areas returns the areas that focus the panel when clicked.
func (l *List[S]) Areas() []event.Tag { return []event.Tag{&l.Drag} }
