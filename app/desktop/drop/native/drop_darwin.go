package native

/*
#cgo CFLAGS: -Werror -Wno-deprecated-declarations -fobjc-arc -x objective-c
#cgo LDFLAGS: -framework AppKit
#include <stdint.h>

void ashlar_drop_register(uintptr_t view, uintptr_t handle);
*/
import "C"

import (
	"image"
	"runtime/cgo"
	"strings"
	"unsafe"

	"gioui.org/app"
	"gioui.org/io/event"

	"ashlar/app/desktop/drop"
)

// system adds the methods of a drag destination to Gio's view, which has none. They run
// on the main thread.
type system struct{ view uintptr }

func (*system) before() {}
func (*system) turn()   {}

func (s *system) window(d *Desktop, e event.Event) {
	v, ok := e.(app.AppKitViewEvent)
	if !ok || !v.Valid() || v.View == s.view {
		return
	}
	s.view = v.View
	// The handle is never deleted: nobody knows when the view receives its last drag
	// event.
	handle := cgo.NewHandle(d.t)
	d.run(func() { C.ashlar_drop_register(C.uintptr_t(v.View), C.uintptr_t(handle)) })
}

// The view's drag events, numbered as in drop_darwin.m.
const (
	dragOver = iota
	dragGone
	dragDropped
)

// ashlarMacDrag is called by the view; names are paths, each ended by a NUL. It
// returns whether they may be dropped.
//
//export ashlarMacDrag
func ashlarMacDrag(handle C.uintptr_t, what C.int, x, y C.double, names unsafe.Pointer, length C.int) C.int {
	t := cgo.Handle(handle).Value().(*drop.Target)
	if what == dragGone {
		t.Hold(drop.Over{})
		return 0
	}
	var f drop.Files
	for name := range strings.SplitSeq(string(C.GoBytes(names, length)), "\x00") {
		if name != "" {
			f.Paths = append(f.Paths, name)
		}
	}
	if len(f.Paths) == 0 {
		f.Reason = drop.NotFiles
	}
	at := image.Pt(int(x), int(y))
	if what == dragDropped {
		t.Take(drop.Drop{Files: f, At: at})
	} else {
		t.Hold(drop.Over{Held: true, At: at, Files: &f, Refused: f.Reason})
	}
	if f.Reason != "" {
		return 0
	}
	return 1
}
