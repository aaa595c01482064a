package native

/*
#cgo pkg-config: x11
#include <stdint.h>
#include <X11/Xlib.h>

void ashlar_drop_filter(Display *display, Window window, uintptr_t filter);
*/
import "C"

import (
	"runtime/cgo"
	"unsafe"

	"gioui.org/app"

	"ashlar/app/desktop/drop"
)

// x11Filter reads the window's client messages before Gio, which discards unknown ones.
// It uses Xlib's hook for input methods. Everything else happens on a separate connection
// (see xdnd), because Gio's belongs to Gio's goroutine and closes with the window.
//
// Alternatives fail: GTK 4 ignores a proxy window named by XdndProxy, and only one
// connection, Gio's, may select the messages to a window.
type x11Filter struct {
	xdnd   *xdnd
	handle cgo.Handle
}

// filterX11 starts taking drops; it must be called on the goroutine that calls
// Window.Event.
func filterX11(t *drop.Target, e app.X11ViewEvent) *x11Filter {
	f := &x11Filter{xdnd: newXDND(t, uint32(e.Window))}
	f.handle = cgo.NewHandle(f)
	C.ashlar_drop_filter((*C.Display)(e.Display), C.Window(e.Window), C.uintptr_t(f.handle))
	go f.xdnd.run(C.GoString(C.XDisplayString((*C.Display)(e.Display))))
	return f
}

// close stops taking drops. The Display and its filter are closed by now.
func (f *x11Filter) close() {
	close(f.xdnd.quit)
	f.handle.Delete()
}

// ashlarDropMessage is called for every client message; it returns 1 for those
// that are about drags, which Gio then does not see.
//
//export ashlarDropMessage
func ashlarDropMessage(filter C.uintptr_t, kind C.Atom, data *C.long) C.int {
	f := cgo.Handle(filter).Value().(*x11Filter)
	m := message{kind: uint32(kind)}
	for i, v := range unsafe.Slice(data, len(m.data)) {
		m.data[i] = uint32(v)
	}
	if f.xdnd.take(m) {
		return 1
	}
	return 0
}
