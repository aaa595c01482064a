package ui

import (
	"cmp"
	"image"
	"slices"

	"gioui.org/io/event"
	"gioui.org/io/key"
	"gioui.org/op"

	"ashlar/ingest/model/order"
)

// A Focus tracks the keyboard focus: one of the window's areas, such as the toolbar or
// the timeline, and in it one of the area's items, such as a button. Areas and items
// register in every frame. The focus ring is drawn once the focus has been moved by keys,
// and disappears when the pointer is used.
type Focus struct {
	// Shown says that the ring is drawn.
	Shown bool

	covered    bool // a menu or the like covers the window, so nothing below it has the focus
	area, item event.Tag
	pressed    event.Tag // the item on which Return was pressed
	last, now  []*focusArea
	current    *focusArea
	editors    []event.Tag
	was        []event.Tag // the editors of the last frame
	held       event.Tag   // the tag on which a pointer is pressed
}

// Hold records that a pointer is pressed on tag or, if on is false, has been released.
func (u *UI) Hold(tag event.Tag, on bool) {
	switch f := u.Focus; {
	case f == nil:
	case on:
		f.held = tag
	case f.held == tag:
		f.held = nil
	}
}

// Held reports whether a pointer is pressed on something, such as during a drag.
func (f *Focus) Held() bool { return f.held != nil }

// focusArea is an area with its items in a frame.
type focusArea struct {
	tag   event.Tag
	keys  func(key.Event) bool
	parts []event.Tag
	items []focusItem
}

type focusItem struct {
	tag event.Tag
	at  image.Point
}

// Begin starts a frame. While something covers the window, no ring is drawn.
func (f *Focus) Begin(covered bool) {
	f.covered = covered
	f.last, f.now, f.current = f.now, nil, nil
	f.was, f.editors = f.editors, f.was[:0]
	if f.at() == nil {
		f.area, f.item = nil, nil
	}
	for _, a := range f.last {
		order.By(a.items, func(x, y focusItem) int {
			return cmp.Or(cmp.Compare(x.at.Y, y.at.Y), cmp.Compare(x.at.X, y.at.X))
		})
	}
}

// Area begins an area; the items that follow belong to it. keys, which may be nil,
// handles keys in the area; parts are other tags in it on which a pointer may be pressed.
// Area reports whether to draw the focus on the area itself rather than on one of its
// items. If an area begins more than once in a frame, the first time determines its place
// in the order.
func (u *UI) Area(tag event.Tag, keys func(key.Event) bool, parts ...event.Tag) bool {
	f := u.Focus
	if f == nil {
		return false
	}
	i := slices.IndexFunc(f.now, func(a *focusArea) bool { return a.tag == tag })
	if i < 0 {
		i = len(f.now)
		f.now = append(f.now, &focusArea{tag: tag})
	}
	f.current = f.now[i]
	if keys != nil {
		f.current.keys = keys
		if f.area == nil { // the first area that handles keys gets the focus
			f.area = tag
		}
	}
	f.current.parts = append(f.current.parts, parts...)
	return f.shown() && f.area == tag && f.item == nil
}

func (f *Focus) shown() bool { return f.Shown && !f.covered }

// NoArea ends the area; the items that follow belong to none.
func (u *UI) NoArea() {
	if u.Focus != nil {
		u.Focus.current = nil
	}
}

// Item registers an item at r that can be pressed, and draws the ring if it has the
// focus. It reports whether Return has been pressed on it.
func (u *UI) Item(tag event.Tag, r image.Rectangle) (pressed bool) {
	f := u.Focus
	if f == nil || f.current == nil {
		return false
	}
	f.current.items = append(f.current.items, focusItem{tag, r.Min})
	if f.shown() && f.item == tag {
		// The item is drawn after the ring and must not cover it.
		m := op.Record(u.Ops)
		u.Ring(r.Inset(-u.Px(2)), 7)
		op.Defer(u.Ops, m.Stop())
	}
	if pressed = f.pressed == tag; pressed {
		f.pressed = nil
	}
	return pressed
}

// Ring draws the focus ring around r.
func (u *UI) Ring(r image.Rectangle, radius float32) {
	u.Border(r, radius, max(2, u.Px(2)), u.Theme.Accent)
}

// Editing registers a text field of this frame.
func (u *UI) Editing(tag event.Tag) {
	if u.Focus != nil {
		u.Focus.editors = append(u.Focus.editors, tag)
	}
}

// Typing reports whether a text field of the last frame has the keyboard.
func (u *UI) Typing() bool {
	return u.Focus != nil && slices.ContainsFunc(u.Focus.was, u.Focused)
}

// StillTyping reports, at the end of a frame, whether a text field of this frame has the
// keyboard focus.
func (u *UI) StillTyping() bool {
	return u.Focus != nil && slices.ContainsFunc(u.Focus.editors, u.Focused)
}

// Key passes a key to the area that has the focus and reports whether the area used it.
func (f *Focus) Key(k key.Event) bool {
	a := f.at()
	if a == nil {
		return false
	}
	if (f.item == nil || k.Modifiers != 0) && a.keys != nil && a.keys(k) {
		return true
	}
	if k.Modifiers != 0 || !f.Shown || len(a.items) == 0 {
		return false
	}
	if f.item != nil && a.keys != nil && (k.Name == key.NameUpArrow || k.Name == key.NameDownArrow) {
		f.item = nil // back to the area itself
		return true
	}
	switch k.Name {
	case key.NameLeftArrow, key.NameUpArrow:
		return f.step(a, -1)
	case key.NameRightArrow, key.NameDownArrow:
		return f.step(a, 1)
	case key.NameHome:
		f.item = a.items[0].tag
	case key.NameEnd:
		f.item = a.items[len(a.items)-1].tag
	case key.NameReturn, key.NameEnter, key.NameSpace:
		if f.item == nil {
			return false
		}
		f.pressed = f.item
	default:
		return false
	}
	return true
}

// step moves the focus to a neighbouring item of an area. If the area handles keys
// itself, it comes before its first item.
func (f *Focus) step(a *focusArea, d int) bool {
	i := slices.IndexFunc(a.items, func(it focusItem) bool { return it.tag == f.item })
	switch i += d; {
	case i < 0 && a.keys != nil:
		f.item = nil
	case f.item == nil && d < 0:
		return false
	default:
		f.item = a.items[max(0, min(i, len(a.items)-1))].tag
	}
	return true
}

// at returns the area that has the keyboard, nil for none.
func (f *Focus) at() *focusArea {
	for _, a := range f.last {
		if a.tag == f.area {
			return a
		}
	}
	return nil
}

// Next moves the focus to the next area or, if d is -1, to the previous one.
func (f *Focus) Next(d int) {
	var all []*focusArea
	for _, a := range f.last {
		if a.keys != nil || len(a.items) > 0 {
			all = append(all, a)
		}
	}
	if len(all) == 0 {
		return
	}
	i := slices.IndexFunc(all, func(a *focusArea) bool { return a.tag == f.area })
	switch {
	case i >= 0 && f.Shown:
		i = (i + d + len(all)) % len(all)
	case i < 0 && d > 0:
		i = 0
	case i < 0:
		i = len(all) - 1
	}
	f.area, f.item, f.Shown = all[i].tag, nil, true
	if all[i].keys == nil {
		f.item = all[i].items[0].tag
	}
}

// In reports whether an area has the focus, even if the ring is not drawn.
func (f *Focus) In(area event.Tag) bool { return f != nil && f.area == area }

// On reports whether an item has the focus and shows it.
func (f *Focus) On(item event.Tag) bool { return f != nil && f.shown() && f.item == item }

// Take gives the focus to the area or item on which a pointer was pressed.
func (u *UI) Take(tag event.Tag) {
	f := u.Focus
	if f == nil {
		return
	}
	f.Shown = false
	for _, a := range f.last {
		if a.tag == tag || slices.Contains(a.parts, tag) {
			f.area, f.item = a.tag, nil
			return
		}
		for _, it := range a.items {
			if it.tag == tag {
				f.area, f.item = a.tag, tag
				return
			}
		}
	}
}

// Give gives the focus to an area; shown says whether to draw the ring.
func (f *Focus) Give(area event.Tag, shown bool) { f.area, f.item, f.Shown = area, nil, shown }
