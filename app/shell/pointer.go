package shell

import (
	"image"
	"runtime"
	"time"

	"gioui.org/f32"
	"gioui.org/io/event"
	"gioui.org/io/key"
	"gioui.org/io/pointer"
	"gioui.org/op/clip"

	"ashlar/render/ui"
)

// drag follows the pointer over an area: where it is, whether a button is held
// and whether it has moved far enough to be a drag and not a click.
type drag struct {
	inside  bool
	at      f32.Point // within the area
	pressed bool
	buttons pointer.Buttons
	mods    key.Modifiers
	start   f32.Point
	moved   bool

	clickAt   f32.Point
	clickTime time.Duration
}

// gesture is what an event means to an area.
type gesture uint8

const (
	gNone gesture = iota
	gMove
	gLeave
	gPress
	gDrag
	gDrop // the end of a drag
	gClick
	gDouble
	gScroll
	gMenu // the other button
)

// slop is how far, in dp, the pointer may move between press and release of a
// click.
const slop = 4

const everything = pointer.Press | pointer.Drag | pointer.Release | pointer.Move | pointer.Scroll | pointer.Enter | pointer.Leave | pointer.Cancel

// area makes r sensitive; events come back through next.
func (d *drag) area(u *ui.UI, r image.Rectangle, cursor pointer.Cursor) {
	defer clip.Rect(r).Push(u.Ops).Pop()
	event.Op(u.Ops, d)
	cursor.Add(u.Ops)
}

// next returns the next gesture on the area, whose corner was at origin.
func (d *drag) next(u *ui.UI, origin image.Point) (gesture, pointer.Event, bool) {
	far := pointer.ScrollRange{Min: -1 << 20, Max: 1 << 20}
	ev, ok := u.Event(pointer.Filter{Target: d, Kinds: everything, ScrollX: far, ScrollY: far})
	if !ok {
		return gNone, pointer.Event{}, false
	}
	e, ok := ev.(pointer.Event)
	if !ok {
		return gNone, pointer.Event{}, true
	}
	pos := e.Position.Sub(f32.Pt(float32(origin.X), float32(origin.Y)))
	switch e.Kind {
	case pointer.Enter, pointer.Move:
		d.inside, d.at = true, pos
		return gMove, e, true
	case pointer.Leave, pointer.Cancel:
		d.inside = false
		if e.Kind == pointer.Cancel {
			d.pressed, d.moved = false, false
		}
		return gLeave, e, true
	case pointer.Scroll:
		d.at = pos
		return gScroll, e, true
	case pointer.Press:
		u.Take(d)
		if e.Buttons.Contain(pointer.ButtonSecondary) {
			d.at, d.inside = pos, true
			return gMenu, e, true
		}
		d.inside = true // a press may come before any move
		d.pressed, d.moved, d.start, d.at = true, false, pos, pos
		d.buttons, d.mods = e.Buttons, e.Modifiers
		return gPress, e, true
	case pointer.Drag:
		d.at = pos
		delta := pos.Sub(d.start)
		if n := float32(u.Px(slop)); !d.moved && (delta.X > n || delta.X < -n || delta.Y > n || delta.Y < -n) {
			d.moved = true
		}
		if d.moved {
			return gDrag, e, true
		}
	case pointer.Release:
		return d.release(u, e, pos), e, true
	}
	return gNone, e, true
}

// doubleTime is how close two clicks are that make a double click.
const doubleTime = 400 * time.Millisecond

func (d *drag) release(u *ui.UI, e pointer.Event, pos f32.Point) gesture {
	was, moved := d.pressed, d.moved
	d.pressed, d.moved, d.at = false, false, pos
	switch {
	case !was:
		return gNone
	case moved:
		return gDrop
	}
	delta := pos.Sub(d.clickAt)
	n := float32(2 * u.Px(slop))
	if d.clickTime != 0 && e.Time-d.clickTime < doubleTime && delta.X < n && delta.X > -n && delta.Y < n && delta.Y > -n {
		d.clickTime = 0
		return gDouble
	}
	d.clickAt, d.clickTime = pos, e.Time
	return gClick
}

// notch is what a notch of a wheel scrolls by, as Gio reports it.
var notch = func() float32 {
	if runtime.GOOS == "windows" {
		return 120
	}
	return 20
}()

// rowsPerNotch is how far, in dp, lists move for a notch.
const rowsPerNotch = 66

// scrolled splits a scroll event into zoom or vertical and pan or horizontal
// amounts, in notches, whatever the platform does with Shift.
func scrolled(e pointer.Event) (x, y float32) {
	x, y = e.Scroll.X/notch, e.Scroll.Y/notch
	if e.Modifiers.Contain(key.ModShift) && x == 0 {
		x, y = y, 0
	}
	return x, y
}

// clickArea is a place that can be clicked and nothing else.
type clickArea struct{ drag }

// clicked makes r clickable and reports whether it was clicked, or pressed by a
// key, since the last frame; hovered whether the pointer is on it.
func (c *clickArea) clicked(u *ui.UI, r image.Rectangle) (clicked, hovered bool) {
	for {
		g, _, ok := c.next(u, r.Min)
		if !ok {
			break
		}
		clicked = clicked || g == gClick || g == gDouble
	}
	c.area(u, r, pointer.CursorPointer)
	return u.Item(&c.drag, r) || clicked, c.inside
}
