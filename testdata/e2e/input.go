//go:build linux

package e2e

import (
	"bytes"
	"errors"
	"image"
	"io"
	"log"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"
)

// A Button is a mouse button, as X numbers them.
type Button byte

// Buttons; the last four are the wheel's.
const (
	Left      Button = 1
	Middle    Button = 2
	Right     Button = 3
	WheelUp   Button = 4
	WheelDown Button = 5
)

// hand is a connection to the display that moves the mouse. What is done with it in one
// go comes with nothing between, however busy the machine is: two clicks are a double
// click, and notches of a wheel one turn.
type hand struct {
	conn *xgb.Conn
	root xproto.Window
	keys map[string]byte // the codes of keys that are held, by name
	// clicked is when and where something was clicked last.
	clicked time.Time
	at      image.Point
}

// modifiers are X's names (keysyms) of the keys that are held with the mouse.
var modifiers = map[string]xproto.Keysym{"shift": 0xffe1, "ctrl": 0xffe3, "alt": 0xffe9}

// quiet keeps the connections' own words, which come where a display ends.
var quiet = sync.OnceFunc(func() { xgb.Logger = log.New(io.Discard, "", 0) })

// grip returns the display's hand.
func (d *Display) grip() *hand {
	d.t.Helper()
	if d.hand != nil {
		return d.hand
	}
	quiet()
	c, err := xgb.NewConnDisplay(d.name)
	if err != nil {
		d.t.Fatal(err)
	}
	d.t.Cleanup(c.Close)
	if err := xtest.Init(c); err != nil {
		d.t.Fatal(err)
	}
	setup := xproto.Setup(c)
	first := setup.MinKeycode
	table, err := xproto.GetKeyboardMapping(c, first, byte(setup.MaxKeycode-first+1)).Reply()
	if err != nil {
		d.t.Fatal(err)
	}
	h := &hand{conn: c, root: setup.DefaultScreen(c).Root, keys: map[string]byte{}}
	for name, sym := range modifiers {
		i := slices.Index(table.Keysyms, sym)
		if i < 0 {
			d.t.Fatalf("the display's keyboard has no %s", name)
		}
		h.keys[name] = byte(first) + byte(i/int(table.KeysymsPerKeycode))
	}
	d.hand = h
	return h
}

func (h *hand) move(to image.Point) {
	xtest.FakeInput(h.conn, xproto.MotionNotify, 0, 0, h.root, int16(to.X), int16(to.Y), 0)
}

func (h *hand) button(kind byte, b Button) {
	xtest.FakeInput(h.conn, kind, byte(b), 0, h.root, 0, 0, 0)
}

// hold presses keys, and returns what lets go of them.
func (h *hand) hold(names []string) (letGo func()) {
	key := func(kind byte) {
		for _, name := range names {
			xtest.FakeInput(h.conn, kind, h.keys[name], 0, h.root, 0, 0, 0)
		}
	}
	key(xproto.KeyPress)
	return func() { key(xproto.KeyRelease) }
}

// done waits until the display has taken what was done.
func (w *Window) done(h *hand) {
	w.t.Helper()
	if _, err := xproto.GetInputFocus(h.conn).Reply(); err != nil {
		w.t.Fatal(err)
	}
}

// Move moves the pointer.
func (w *Window) Move(to image.Point) {
	w.t.Helper()
	h := w.grip()
	h.move(to)
	w.done(h)
	w.handled()
}

// Click moves the pointer and presses a button, with modifier keys held ("shift",
// "ctrl", "alt"). It is never the second of a double click.
func (w *Window) Click(b Button, at image.Point, modifiers ...string) {
	w.t.Helper()
	w.clicks(1, b, at, modifiers)
}

// DoubleClick clicks twice at once.
func (w *Window) DoubleClick(b Button, at image.Point) {
	w.t.Helper()
	w.clicks(2, b, at, nil)
}

// Wheel turns the wheel by some notches, up where they are positive, all at once.
func (w *Window) Wheel(notches int, at image.Point, modifiers ...string) {
	w.t.Helper()
	if notches < 0 {
		w.clicks(-notches, WheelDown, at, modifiers)
	} else {
		w.clicks(notches, WheelUp, at, modifiers)
	}
}

// apart is how long after a click another at that place is one of its own: longer than
// Ashlar and the toolkits have it.
const apart = 600 * time.Millisecond

func (w *Window) clicks(n int, b Button, at image.Point, modifiers []string) {
	w.t.Helper()
	h := w.grip()
	if b <= Right {
		if d := at.Sub(h.at); max(d.X, -d.X, d.Y, -d.Y) < 30 {
			time.Sleep(time.Until(h.clicked.Add(apart)))
		}
		defer func() { h.at, h.clicked = at, time.Now() }()
	}
	h.move(at)
	letGo := h.hold(modifiers)
	for range n {
		h.button(xproto.ButtonPress, b)
		h.button(xproto.ButtonRelease, b)
	}
	letGo()
	w.done(h)
	w.handled()
}

// Drag presses a button at one point, moves the pointer to another by way of
// points between, and lets go there.
func (w *Window) Drag(b Button, from, to image.Point, modifiers ...string) {
	w.t.Helper()
	const steps = 8
	h := w.grip()
	h.move(from)
	letGo := h.hold(modifiers)
	h.button(xproto.ButtonPress, b)
	for i := 1; i <= steps; i++ {
		h.move(from.Add(to.Sub(from).Mul(i).Div(steps)))
		w.done(h)
		time.Sleep(20 * time.Millisecond)
	}
	h.button(xproto.ButtonRelease, b)
	letGo()
	w.done(h)
	w.handled()
}

// Key presses and releases keys one after another, each once the window has handled the
// one before. A key is named as X names it, with modifiers before it: "w", "Escape",
// "plus", "ctrl+f".
func (w *Window) Key(keys ...string) {
	w.t.Helper()
	for _, key := range keys {
		w.do("key", "--clearmodifiers", key)
		w.handled()
	}
}

// Type types a text.
func (w *Window) Type(text string) {
	w.t.Helper()
	w.do("type", "--clearmodifiers", "--delay", "2", text)
	w.handled()
}

// Resize makes the window another size, in pixels.
func (w *Window) Resize(width, height int) {
	w.t.Helper()
	w.do("windowsize", w.id, strconv.Itoa(width), strconv.Itoa(height))
	w.handled()
}

// handled waits until the window has handled all input so far, which is before its frame
// log has three more lines of frames that it was made to draw: while the first of them
// was drawn the input may have been on its way; with the second it was there; and in the
// third is what changes with the frame after, such as who has the keyboard. A window
// without a frame log, or without X, is not waited for, nor one that ends.
func (w *Window) handled() {
	w.t.Helper()
	id, _ := strconv.ParseUint(w.id, 10, 32)
	if w.frames.path == "" || id == 0 {
		return
	}
	h := w.grip()
	for range 3 {
		before := w.frames.count(w.t)
		// The display asks for what it shows of the window, behind the input that the
		// window has yet to read; where the window is gone it says so.
		gone := xproto.ClearAreaChecked(h.conn, true, xproto.Window(id), 0, 0, 0, 0).Check() != nil
		for deadline := time.Now().Add(patience); !gone && w.frames.count(w.t) == before; time.Sleep(2 * time.Millisecond) {
			select {
			case <-w.exited:
				gone = true
			default:
			}
			if time.Now().After(deadline) {
				w.t.Fatalf("waited %v in vain for a frame", patience)
			}
		}
		if gone {
			return
		}
	}
}

// Screenshot returns what is on the screen once the window has drawn all that it has
// been told.
func (w *Window) Screenshot() *image.RGBA {
	w.t.Helper()
	w.handled()
	return w.Display.Screenshot()
}

// frameCount counts the lines of a frame log, reading each part of it once.
type frameCount struct {
	path  string
	file  *os.File
	lines int
}

// frameLog is the file that a program is told to write its frames to, "" where it is
// told of none.
func frameLog(args []string) frameCount {
	i := slices.Index(args, "--frame-log")
	if i < 0 || i+1 == len(args) {
		return frameCount{}
	}
	return frameCount{path: filepath.Clean(args[i+1])}
}

func (f *frameCount) count(t interface{ Fatal(...any) }) int {
	if f.file == nil {
		file, err := os.Open(f.path)
		if errors.Is(err, os.ErrNotExist) {
			return 0
		}
		if err != nil {
			t.Fatal(err)
		}
		f.file = file
	}
	var part [1 << 16]byte
	for {
		n, err := f.file.Read(part[:])
		f.lines += bytes.Count(part[:n], []byte{'\n'})
		if err == io.EOF {
			return f.lines
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}
