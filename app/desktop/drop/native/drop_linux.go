package native

import (
	"time"

	"gioui.org/app"
	"gioui.org/io/event"

	"ashlar/app/desktop/drop"
)

// patience is how long the source of a drag may stay silent.
const patience = 10 * time.Second

// mostBytes is the maximum size of a list of files, in bytes: enough for more than a
// hundred thousand files.
const mostBytes = 64 << 20

// system is X11 or Wayland, whichever the window uses.
type system struct {
	x11     *x11Filter
	wayland *wlDrag
}

func (s *system) before() { avoidWayland() }

func (s *system) window(d *Desktop, e event.Event) {
	switch e := e.(type) {
	case app.X11ViewEvent:
		if s.x11 != nil {
			s.x11.close()
			s.x11 = nil
		}
		if e.Valid() {
			s.x11 = filterX11(d.t, e)
		}
	case app.WaylandViewEvent:
		if s.wayland != nil {
			s.wayland.close()
			s.wayland = nil
		}
		if e.Valid() {
			s.wayland = listenWayland(d.t, e)
		}
	}
}

func (s *system) turn() {
	if s.wayland != nil {
		s.wayland.turn()
	}
}

// files parses the list sent by the source of a drag.
func files(list []byte) drop.Files {
	f := drop.Parse(list)
	if len(f.Paths) == 0 && f.Reason == "" {
		f.Reason = drop.NoFiles
	}
	return f
}
