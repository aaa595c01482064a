package ui

import (
	"cmp"
	"image"
	"slices"

	"gioui.org/io/event"
	"gioui.org/io/key"
	"gioui.org/op"
)

// Focus is where the keyboard is: in one of the window's areas, such as the
// toolbar or the timeline, and there on one of its items, such as a button.
// Areas and items say in every frame that they are there; the ring around what
// has the keyboard is drawn once keys have moved it, and goes when the pointer
// takes over.
type Focus struct {
	// Shown says that the ring is drawn.
	Shown bool

	covered    bool // by a menu or the like: nothing below has it
	area, item event.Tag
	pressed    event.Tag // the item that Return was pressed on
	last, now  []*focusArea
	current    *focusArea
	editors    []event.Tag
	was        []event.Tag // the editors of the last frame
	held       event.Tag   // what a pointer is pressed on
}

// Hold says that a pointer is pressed on something, or on that no more.
func (u *UI) Hold(tag event.Tag, on bool) {
	switch f := u.Focus; {
	case f == nil:
	case on:
		f.held = tag
	case f.held == tag:
		f.held = nil
	}
}

// Held says that a pointer is pressed on something, as in the middle of a drag.
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
		slices.SortStableFunc(a.items, func(x, y focusItem) int {
			return cmp.Or(cmp.Compare(x.at.Y, y.at.Y), cmp.Compare(x.at.X, y.at.X))
		})
	}
}

// Area begins an area: items that follow are in it. keys, which may be nil, is
// asked for what a key does there; parts are other tags that a pointer may be
// pressed on there. It reports whether the area itself, rather than one of its
// items, is to show that it has the keyboard. An area may be begun more than
// once in a frame; the first time gives its place in the order.
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
		if f.area == nil { // the first one that has a use for keys
			f.area = tag
		}
	}
	f.current.parts = append(f.current.parts, parts...)
	return f.shown() && f.area == tag && f.item == nil
}

func (f *Focus) shown() bool { return f.Shown && !f.covered }

// NoArea ends the area: items that follow are in none.
func (u *UI) NoArea() {
	if u.Focus != nil {
		u.Focus.current = nil
	}
}

// Item says that something that can be pressed is at r, and draws the ring if
// it has the keyboard. It reports whether Return has been pressed on it.
func (u *UI) Item(tag event.Tag, r image.Rectangle) (pressed bool) {
	f := u.Focus
	if f == nil || f.current == nil {
		return false
	}
	f.current.items = append(f.current.items, focusItem{tag, r.Min})
	if f.shown() && f.item == tag {
		// What is drawn of the item comes after this and must not cover it.
		m := op.Record(u.Ops)
		u.Ring(r.Inset(-u.Px(2)), 7)
		op.Defer(u.Ops, m.Stop())
	}
	if pressed = f.pressed == tag; pressed {
		f.pressed = nil
	}
	return pressed
}

// Ring draws the frame around what has the keyboard.
func (u *UI) Ring(r image.Rectangle, radius float32) {
	u.Border(r, radius, max(2, u.Px(2)), u.Theme.Accent)
}

// Editing says that a text field is shown.
func (u *UI) Editing(tag event.Tag) {
	if u.Focus != nil {
		u.Focus.editors = append(u.Focus.editors, tag)
	}
}

// Typing reports whether a text field of the last frame has the keyboard.
func (u *UI) Typing() bool {
	return u.Focus != nil && slices.ContainsFunc(u.Focus.was, u.Focused)
}

// StillTyping tells, at the end of a frame, whether one of this frame has it.
func (u *UI) StillTyping() bool {
	return u.Focus != nil && slices.ContainsFunc(u.Focus.editors, u.Focused)
}

// Key gives a key to the area that has the keyboard; it reports whether that
// has a use for it.
func (f *Focus) Key(k key.Event) bool {
	a := f.at()
	if a == nil {
		return false
	}
	if f.item == nil && a.keys != nil && a.keys(k) {
		return true
	}
	if k.Modifiers != 0 || !f.Shown || len(a.items) == 0 {
		return false
	}
	if f.item != nil && a.keys != nil && (k.Name == key.NameUpArrow || k.Name == key.NameDownArrow) {
		f.item = nil // back to what the area itself shows
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

// step moves to a neighbouring item of an area; one that has keys of its own is
// before its first item.
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

// at is the area that has the keyboard, nil for none.
func (f *Focus) at() *focusArea {
	for _, a := range f.last {
		if a.tag == f.area {
			return a
		}
	}
	return nil
}

// Next moves to the next area, or with -1 to the one before.
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

// In reports whether an area has the keyboard, shown or not.
func (f *Focus) In(area event.Tag) bool { return f != nil && f.area == area }

// Take gives the keyboard to what a pointer was pressed on, an area or an item.
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

// Give gives the keyboard to an area.
func (f *Focus) Give(area event.Tag, shown bool) { f.area, f.item, f.Shown = area, nil, shown }
