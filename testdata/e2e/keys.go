//go:build linux

package e2e

import (
	"strings"

	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"
)

// keysyms maps names of keys to X's keysyms: keys without a character, and characters
// that are separators in this package's key names. Other keys are named by their
// character.
var keysyms = map[string]xproto.Keysym{
	"shift": 0xffe1, "ctrl": 0xffe3, "alt": 0xffe9,
	"BackSpace": 0xff08, "Tab": 0xff09, "Return": 0xff0d, "Escape": 0xff1b, "Delete": 0xffff, "F10": 0xffc7,
	"Home": 0xff50, "Left": 0xff51, "Up": 0xff52, "Right": 0xff53, "Down": 0xff54,
	"space": ' ', "plus": '+', "minus": '-', "slash": '/', "less": '<',
}

// stroke is the key to press, with or without Shift, for a character.
type stroke struct {
	code  byte
	shift bool
}

// strokes returns the strokes for everything that the display's keyboard can type, alone
// and with Shift.
func strokes(c *xproto.SetupInfo, table *xproto.GetKeyboardMappingReply) map[xproto.Keysym]stroke {
	all := map[xproto.Keysym]stroke{}
	per := int(table.KeysymsPerKeycode)
	for _, shifted := range []int{0, 1} {
		for i := shifted; i < len(table.Keysyms); i += per {
			sym := table.Keysyms[i]
			if _, has := all[sym]; !has {
				all[sym] = stroke{byte(c.MinKeycode) + byte(i/per), shifted == 1}
			}
		}
	}
	return all
}

// stroke returns the stroke of a key, given X's name for it or its character.
func (d *Display) stroke(name string) stroke {
	d.t.Helper()
	sym, named := keysyms[name]
	if r := []rune(name); !named && len(r) == 1 && r[0] < 0x100 {
		sym = xproto.Keysym(r[0]) // keysyms of Latin-1 equal the characters
	}
	s, has := d.grip().strokes[sym]
	if !has {
		d.t.Fatalf("the display's keyboard has no %s", name)
	}
	return s
}

// press presses a key and lets go of it, with modifier keys held.
func (d *Display) press(name string, modifiers ...string) {
	d.t.Helper()
	h, s := d.grip(), d.stroke(name)
	if s.shift {
		modifiers = append(modifiers, "shift")
	}
	letGo := d.hold(modifiers)
	xtest.FakeInput(h.conn, xproto.KeyPress, s.code, 0, h.root, 0, 0, 0)
	xtest.FakeInput(h.conn, xproto.KeyRelease, s.code, 0, h.root, 0, 0, 0)
	letGo()
}

// hold presses modifier keys and returns a function that releases them.
func (d *Display) hold(names []string) (letGo func()) {
	d.t.Helper()
	h := d.grip()
	key := func(kind byte) {
		for _, name := range names {
			xtest.FakeInput(h.conn, kind, d.stroke(name).code, 0, h.root, 0, 0, 0)
		}
	}
	key(xproto.KeyPress)
	return func() { key(xproto.KeyRelease) }
}

// Key presses and releases keys one after another, each after the window has handled the
// one before. A key is named by its character or by X's name, after its modifiers: "w",
// "Escape", "plus", "ctrl+f".
func (w *Window) Key(keys ...string) {
	w.t.Helper()
	for _, key := range keys {
		names := strings.Split(key, "+")
		last := len(names) - 1
		w.press(names[last], names[:last]...)
		w.done(w.grip())
		w.handled()
	}
}

// Type types a text faster than any person could.
func (w *Window) Type(text string) {
	w.t.Helper()
	for _, r := range text {
		w.press(string(r))
	}
	w.done(w.grip())
	w.handled()
}
