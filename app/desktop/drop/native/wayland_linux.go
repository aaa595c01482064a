package native

/*
#cgo pkg-config: wayland-client
#cgo LDFLAGS: -Wl,--wrap=gio_onOutputScale -Wl,--wrap=gio_onSurfaceEnter -Wl,--wrap=gio_onSurfaceLeave
#cgo LDFLAGS: -Wl,--wrap=gio_onDataDeviceOffer -Wl,--wrap=gio_onDataOfferOffer -Wl,--wrap=gio_onDataDeviceEnter
#cgo LDFLAGS: -Wl,--wrap=gio_onDataDeviceMotion -Wl,--wrap=gio_onDataDeviceLeave -Wl,--wrap=gio_onDataDeviceDrop
#cgo LDFLAGS: -Wl,--wrap=gio_onDataDeviceSelection
#include <stdlib.h>
#include <stdint.h>
#include <wayland-client.h>

void ashlar_drop_gio_enter(void *data, struct wl_data_device *device, uint32_t serial, struct wl_data_offer *offer);
void ashlar_drop_gio_selection(void *data, struct wl_data_device *device, struct wl_data_offer *offer);
int ashlar_drop_wrapped(void);
*/
import "C"

import (
	"image"
	"io"
	"os"
	"slices"
	"sync"
	"time"
	"unsafe"

	"gioui.org/app"
	"golang.org/x/sys/unix"

	"ashlar/app/desktop/drop"
)

// wlDrag takes drops on Wayland. A seat has one data device, Gio's; a second one would
// break its clipboard. So Gio's listener is wrapped at link time. All of it runs on the
// goroutine that calls Window.Event.
//
// Gio destroys every offer except the clipboard's whenever a drag enters the window or
// the clipboard changes. While an offer is in use here, both events are withheld from
// Gio; they are delivered afterwards, so that Gio destroys that offer too.
type wlDrag struct {
	t       *drop.Target
	surface unsafe.Pointer

	fresh *wlOffer // announced; the next event says what it is for
	held  *wlOffer // is over the window, or was dropped and is being read
	owed  func()   // the event to deliver to Gio once no offer is in use
}

// wlOffer is an offer with the types that its source supports.
type wlOffer struct {
	offer  *C.struct_wl_data_offer
	types  []string
	serial C.uint32_t
	over   drop.Over

	asked, dropped bool
	list           chan []byte // receives nil if no list came
}

// outputs are the monitors: the scale of each, in pixels per unit of length, and whether
// the window is on it. Gio uses the largest scale.
var outputs struct {
	sync.Mutex
	scale map[unsafe.Pointer]int
	on    map[unsafe.Pointer]bool
}

// current is the window's drag, nil if there is no Wayland.
var current *wlDrag

// uriList is the media type of file lists.
const uriList = "text/uri-list"

func listenWayland(t *drop.Target, e app.WaylandViewEvent) *wlDrag {
	current = &wlDrag{t: t, surface: e.Surface}
	return current
}

func (d *wlDrag) close() {
	if current == d {
		current = nil
	}
}

// avoidWayland makes Gio open its window through XWayland if its listener could not be
// wrapped.
func avoidWayland() { chooseX11(wrapped(), os.Getenv("DISPLAY"), os.Setenv) }

// wrapped reports whether Gio's listener is wrapped.
func wrapped() bool { return C.ashlar_drop_wrapped() != 0 }

func chooseX11(wrapped bool, display string, set func(name, value string) error) {
	if !wrapped && display != "" {
		set("WAYLAND_DISPLAY", "none")
	}
}

// turn takes the lists that have arrived; it is called between frames.
func (d *wlDrag) turn() {
	if o := d.held; o != nil && o.list != nil {
		select {
		case list := <-o.list:
			o.list = nil
			d.fetched(o, list)
		default:
		}
	}
	d.settle()
}

// ask requests the list from the source; turn receives it.
func (d *wlDrag) ask(o *wlOffer) {
	var p [2]int
	if err := unix.Pipe2(p[:], unix.O_CLOEXEC|unix.O_NONBLOCK); err != nil {
		return
	}
	// The source expects a blocking pipe.
	_ = unix.SetNonblock(p[1], false)
	kind := C.CString(uriList)
	C.wl_data_offer_receive(o.offer, kind, C.int32_t(p[1]))
	C.free(unsafe.Pointer(kind))
	unix.Close(p[1]) // the request holds a copy
	list := make(chan []byte, 1)
	o.asked, o.list = true, list
	r := os.NewFile(uintptr(p[0]), "dropped")
	go func() {
		defer r.Close()
		_ = r.SetReadDeadline(time.Now().Add(patience))
		b, err := io.ReadAll(io.LimitReader(r, mostBytes))
		if err != nil || len(b) == 0 {
			b = nil
		}
		list <- b
		d.t.Wake()
	}()
}

func (d *wlDrag) fetched(o *wlOffer, list []byte) {
	if list == nil {
		if o.dropped {
			d.finish(o, drop.Files{Reason: drop.NoFiles})
		}
		return
	}
	f := files(list)
	if o.dropped {
		d.finish(o, f)
		return
	}
	o.over.Files = &f
	if len(f.Paths) == 0 {
		o.over.Refused = f.Reason
	}
	o.answer()
	d.t.Hold(o.over)
}

// answer tells the source whether the drag may be dropped. The action is always copy: the
// files stay in place.
func (o *wlOffer) answer() {
	if o.over.Refused != "" {
		C.wl_data_offer_accept(o.offer, o.serial, nil)
		C.wl_data_offer_set_actions(o.offer, C.WL_DATA_DEVICE_MANAGER_DND_ACTION_NONE, C.WL_DATA_DEVICE_MANAGER_DND_ACTION_NONE)
		return
	}
	kind := C.CString(uriList)
	defer C.free(unsafe.Pointer(kind))
	C.wl_data_offer_accept(o.offer, o.serial, kind)
	C.wl_data_offer_set_actions(o.offer, C.WL_DATA_DEVICE_MANAGER_DND_ACTION_COPY, C.WL_DATA_DEVICE_MANAGER_DND_ACTION_COPY)
}

// finish ends a drop and passes the files to the window.
func (d *wlDrag) finish(o *wlOffer, f drop.Files) {
	if len(f.Paths) > 0 {
		C.wl_data_offer_finish(o.offer)
	}
	if d.held == o {
		d.held = nil
	}
	d.t.Take(drop.Drop{Files: f, At: o.over.At})
	d.settle()
}

// settle delivers the event withheld from Gio once no offer is in use.
func (d *wlDrag) settle() {
	if d.owed != nil && d.held == nil && d.fresh == nil {
		owed := d.owed
		d.owed = nil
		owed()
	}
}

func pixels(x, y C.wl_fixed_t) image.Point {
	outputs.Lock()
	defer outputs.Unlock()
	scale := 1
	for o := range outputs.on {
		scale = max(scale, outputs.scale[o])
	}
	return image.Pt(int(x)*scale/256, int(y)*scale/256)
}

//export ashlarWaylandScale
func ashlarWaylandScale(output *C.struct_wl_output, scale C.int32_t) {
	outputs.Lock()
	defer outputs.Unlock()
	if outputs.scale == nil {
		outputs.scale = map[unsafe.Pointer]int{}
	}
	outputs.scale[unsafe.Pointer(output)] = int(scale)
}

//export ashlarWaylandOn
func ashlarWaylandOn(surface *C.struct_wl_surface, output *C.struct_wl_output, on C.int) {
	outputs.Lock()
	defer outputs.Unlock()
	if outputs.on == nil {
		outputs.on = map[unsafe.Pointer]bool{}
	}
	if on != 0 {
		outputs.on[unsafe.Pointer(output)] = true
	} else {
		delete(outputs.on, unsafe.Pointer(output))
	}
}

//export ashlarWaylandOffer
func ashlarWaylandOffer(offer *C.struct_wl_data_offer) {
	if current != nil {
		current.fresh = &wlOffer{offer: offer}
	}
}

//export ashlarWaylandType
func ashlarWaylandType(offer *C.struct_wl_data_offer, kind *C.char) {
	if d := current; d != nil && d.fresh != nil && d.fresh.offer == offer {
		d.fresh.types = append(d.fresh.types, C.GoString(kind))
	}
}

//export ashlarWaylandEnter
func ashlarWaylandEnter(data unsafe.Pointer, device *C.struct_wl_data_device, serial C.uint32_t, surface *C.struct_wl_surface, x, y C.wl_fixed_t, offer *C.struct_wl_data_offer) C.int {
	d := current
	if d == nil || d.fresh == nil {
		return 0
	}
	o := d.fresh
	d.fresh = nil
	if o.offer != offer || unsafe.Pointer(surface) != d.surface {
		return 0
	}
	slow := d.held
	d.held = o
	if slow != nil { // an earlier drop whose source has not answered
		d.finish(slow, drop.Files{Reason: drop.NoFiles})
	}
	if d.owed == nil {
		d.owed = func() { C.ashlar_drop_gio_enter(data, device, serial, offer) }
	}
	o.serial = serial
	o.over = drop.Over{Held: true, At: pixels(x, y)}
	if slices.Contains(o.types, uriList) {
		d.ask(o)
	} else {
		o.over.Refused = drop.NotFiles
	}
	o.answer()
	d.t.Hold(o.over)
	return 1
}

//export ashlarWaylandMotion
func ashlarWaylandMotion(x, y C.wl_fixed_t) {
	if d := current; d != nil && d.held != nil && !d.held.dropped {
		d.held.over.At = pixels(x, y)
		d.t.Hold(d.held.over)
	}
}

//export ashlarWaylandLeave
func ashlarWaylandLeave() {
	if d := current; d != nil && d.held != nil && !d.held.dropped {
		d.held = nil
		d.t.Hold(drop.Over{})
		d.settle()
	}
}

//export ashlarWaylandDrop
func ashlarWaylandDrop() {
	d := current
	if d == nil || d.held == nil || d.held.dropped {
		return
	}
	o := d.held
	o.dropped = true
	switch {
	case o.over.Refused != "":
		d.finish(o, drop.Files{Reason: o.over.Refused})
	case o.over.Files != nil:
		d.finish(o, *o.over.Files)
	default:
		if o.list == nil {
			d.ask(o)
		}
		if o.list == nil { // no pipes
			d.finish(o, drop.Files{Reason: drop.NoFiles})
			return
		}
		o.over.Waiting = true
		d.t.Hold(o.over)
	}
}

//export ashlarWaylandSelection
func ashlarWaylandSelection(data unsafe.Pointer, device *C.struct_wl_data_device, offer *C.struct_wl_data_offer) C.int {
	d := current
	if d == nil {
		return 0
	}
	if d.fresh != nil && d.fresh.offer == offer {
		d.fresh = nil
	}
	if d.held == nil && d.fresh == nil {
		d.owed = nil // Gio destroys the offer now, as the withheld event would have
		return 0
	}
	d.owed = func() { C.ashlar_drop_gio_selection(data, device, offer) }
	return 1
}
