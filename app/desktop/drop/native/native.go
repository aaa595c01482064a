// Package native delivers the desktop's drag events to a [drop.Target], which Gio does not
// support. There is one file per platform:
//
//   - X11: a filter in Gio's own connection, and the XDND protocol on another
//   - Wayland: Gio's listener, wrapped when the program is linked
//   - Windows: the window's procedure, subclassed
//   - macOS: methods added to Gio's view
package native

import (
	"gioui.org/io/event"

	"ashlar/app/desktop/drop"
)

// Desktop handles drags for the window. Its methods are called on the goroutine that
// calls Window.Event.
type Desktop struct {
	t   *drop.Target
	run func(func())
	sys system
}

// Each platform has
//
//	type system struct
//	func (*system) before()
//	func (*system) window(*Desktop, event.Event)
//	func (*system) turn()

// New returns the drag handler of the window; call it before the window opens. run calls
// a function on the window's thread (Window.Run).
func New(t *drop.Target, run func(func())) *Desktop {
	d := &Desktop{t: t, run: run}
	d.sys.before()
	return d
}

// Window handles a window event; call it before anything else handles the event. Drag
// handling starts and stops with the window.
func (d *Desktop) Window(e event.Event) { d.sys.window(d, e) }

// Turn is called between frames.
func (d *Desktop) Turn() { d.sys.turn() }
