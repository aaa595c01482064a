package widget

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

// Drag follows the pointer over an area: its position, whether a button is held, and
// whether it has moved far enough for a drag rather than a click.
type Drag struct {
	Inside  bool
	At      f32.Point // within the area
	Pressed bool
	buttons pointer.Buttons
	Mods    key.Modifiers
	Start   f32.Point
	moved   bool

	clickAt   f32.Point
	clickTime time.Duration
}

// Gesture is the meaning of an event to an area.
type Gesture uint8

const (
	None Gesture = iota
	Moved
	Left
	Pressed
	Dragged
	Dropped // the end of a drag
	Clicked
	DoubleClicked
	Wheeled
	MenuAsked // press of the secondary button
)

// Slop is the distance, in dp, that the pointer may move during a click.
const Slop = 4

const everything = pointer.Press | pointer.Drag | pointer.Release | pointer.Move | pointer.Scroll | pointer.Enter | pointer.Leave | pointer.Cancel

// Area makes r receive pointer events; Next returns them.
func (d *Drag) Area(u *ui.UI, r image.Rectangle, cursor pointer.Cursor) {
	defer clip.Rect(r).Push(u.Ops).Pop()
	event.Op(u.Ops, d)
	cursor.Add(u.Ops)
}

// Next returns the next gesture on the area. origin is the area's corner.
func (d *Drag) Next(u *ui.UI, origin image.Point) (Gesture, pointer.Event, bool) {
	far := pointer.ScrollRange{Min: -1 << 20, Max: 1 << 20}
	ev, ok := u.Event(pointer.Filter{Target: d, Kinds: everything, ScrollX: far, ScrollY: far})
	if !ok {
		return None, pointer.Event{}, false
	}
	e, ok := ev.(pointer.Event)
	if !ok {
		return None, pointer.Event{}, true
	}
	pos := e.Position.Sub(f32.Pt(float32(origin.X), float32(origin.Y)))
	switch e.Kind {
	case pointer.Enter, pointer.Move:
		d.Inside, d.At = true, pos
		return Moved, e, true
	case pointer.Leave, pointer.Cancel:
		d.Inside = false
		if e.Kind == pointer.Cancel {
			d.Pressed, d.moved = false, false
			u.Hold(d, false)
		}
		return Left, e, true
	case pointer.Scroll:
		d.At = pos
		return Wheeled, e, true
	case pointer.Press:
		u.Take(d)
		if e.Buttons.Contain(pointer.ButtonSecondary) {
			d.At, d.Inside = pos, true
			return MenuAsked, e, true
		}
		d.Inside = true // a press may come before any move
		d.Pressed, d.moved, d.Start, d.At = true, false, pos, pos
		d.buttons, d.Mods = e.Buttons, e.Modifiers
		u.Hold(d, true)
		return Pressed, e, true
	case pointer.Drag:
		d.At = pos
		delta := pos.Sub(d.Start)
		if n := float32(u.Px(Slop)); !d.moved && (delta.X > n || delta.X < -n || delta.Y > n || delta.Y < -n) {
			d.moved = true
		}
		if d.moved {
			return Dragged, e, true
		}
	case pointer.Release:
		return d.release(u, e, pos), e, true
	}
	return None, e, true
}

// doubleTime is the longest time between the two clicks of a double click.
const doubleTime = 400 * time.Millisecond

func (d *Drag) release(u *ui.UI, e pointer.Event, pos f32.Point) Gesture {
	was, moved := d.Pressed, d.moved
	d.Pressed, d.moved, d.At = false, false, pos
	u.Hold(d, false)
	switch {
	case !was:
		return None
	case moved:
		return Dropped
	}
	delta := pos.Sub(d.clickAt)
	n := float32(2 * u.Px(Slop))
	if d.clickTime != 0 && e.Time-d.clickTime < doubleTime && delta.X < n && delta.X > -n && delta.Y < n && delta.Y > -n {
		d.clickTime = 0
		return DoubleClicked
	}
	d.clickAt, d.clickTime = pos, e.Time
	return Clicked
}

// notch is the scroll distance that Gio reports for one notch of the wheel.
var notch = func() float32 {
	if runtime.GOOS == "windows" {
		return 120
	}
	return 20
}()

// RowsPerNotch is the distance, in dp, that lists scroll per notch.
const RowsPerNotch = 66

// Notches converts a scroll event to horizontal (or pan) and vertical (or zoom) amounts,
// in notches, whatever the platform does with Shift.
func Notches(e pointer.Event) (x, y float32) {
	x, y = e.Scroll.X/notch, e.Scroll.Y/notch
	if e.Modifiers.Contain(key.ModShift) && x == 0 {
		x, y = y, 0
	}
	return x, y
}

// ClickArea is a place that can be clicked and nothing else.
type ClickArea struct{ Drag }

// Clicked makes r clickable. It reports whether r was clicked, or pressed by a key, since
// the last frame, and whether the pointer is over it.
func (c *ClickArea) Clicked(u *ui.UI, r image.Rectangle) (clicked, hovered bool) {
	for {
		g, _, ok := c.Next(u, r.Min)
		if !ok {
			break
		}
		clicked = clicked || g == Clicked || g == DoubleClicked
	}
	c.Area(u, r, pointer.CursorPointer)
	return u.Item(&c.Drag, r) || clicked, c.Inside
}
