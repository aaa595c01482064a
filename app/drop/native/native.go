// Package native tells a [drop.Target] what the desktop drags over the window,
// which Gio has no notion of. There is one file a platform:
//
//   - X11: a filter in Gio's own connection, and the XDND protocol on another
//   - Wayland: Gio's listener, wrapped when the program is linked
//   - Windows: the window's procedure, subclassed
//   - macOS: methods added to Gio's view
package native

import (
	"gioui.org/io/event"

	"ashlar/app/drop"
)

// Desktop is the window's part in drags. Its methods are called on the goroutine
// that calls Window.Event.
type Desktop struct{ sys system }

// Each platform has
//
//	type system struct
//	func (*system) before()
//	func (*system) window(*drop.Target, event.Event)
//	func (*system) turn()

// New returns the window's part in drags; it is called before the window opens.
func New() *Desktop {
	d := new(Desktop)
	d.sys.before()
	return d
}

// Window hears of an event of the window, before anything else is done about it:
// drops begin and end with the window itself.
func (d *Desktop) Window(t *drop.Target, e event.Event) { d.sys.window(t, e) }

// Turn is called between frames.
func (d *Desktop) Turn() { d.sys.turn() }
