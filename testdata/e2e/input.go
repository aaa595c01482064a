//go:build linux

package e2e

import (
	"image"
	"io"
	"log"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
	"github.com/jezek/xgb/xtest"
)

// A Button is the number of a mouse button in X.
type Button byte

// Buttons; the last four are the wheel's.
const (
	Left      Button = 1
	Middle    Button = 2
	Right     Button = 3
	WheelUp   Button = 4
	WheelDown Button = 5
)

// hand is a connection to the display that moves the mouse and presses keys. Events sent
// together arrive with nothing in between, however busy the machine is: two clicks are a
// double click, and notches of the wheel are one turn.
type hand struct {
	conn    *xgb.Conn
	root    xproto.Window
	strokes map[xproto.Keysym]stroke
	// clicked and at are the time and place of the last click.
	clicked time.Time
	at      image.Point

	// ear is a hidden window that receives the windows' answers; each answer has the
	// number of its request.
	ear                xproto.Window
	clipboard, targets xproto.Atom
	asked              xproto.Timestamp
	answers            chan xproto.Timestamp
}

// quiet silences the log of the X connections, which complain when a display ends.
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
	table, err := xproto.GetKeyboardMapping(c, setup.MinKeycode, byte(setup.MaxKeycode-setup.MinKeycode+1)).Reply()
	if err != nil {
		d.t.Fatal(err)
	}
	h := &hand{conn: c, root: setup.DefaultScreen(c).Root, strokes: strokes(setup, table), answers: make(chan xproto.Timestamp, 1)}
	if err := h.listen(); err != nil {
		d.t.Fatal(err)
	}
	d.hand = h
	return h
}

// listen makes the ear.
func (h *hand) listen() error {
	for name, to := range map[string]*xproto.Atom{"CLIPBOARD": &h.clipboard, "TARGETS": &h.targets} {
		atom, err := xproto.InternAtom(h.conn, false, uint16(len(name)), name).Reply()
		if err != nil {
			return err
		}
		*to = atom.Atom
	}
	var err error
	if h.ear, err = xproto.NewWindowId(h.conn); err != nil {
		return err
	}
	if err := xproto.CreateWindowChecked(h.conn, 0, h.ear, h.root, 0, 0, 1, 1, 0, xproto.WindowClassInputOnly, 0, 0, nil).Check(); err != nil {
		return err
	}
	go func() {
		for {
			e, err := h.conn.WaitForEvent()
			if e == nil && err == nil {
				return // the connection is closed
			}
			if e, ok := e.(xproto.SelectionNotifyEvent); ok {
				h.answers <- e.Time
			}
		}
	}()
	return nil
}

func (h *hand) move(to image.Point) {
	xtest.FakeInput(h.conn, xproto.MotionNotify, 0, 0, h.root, int16(to.X), int16(to.Y), 0)
}

func (h *hand) button(kind byte, b Button) {
	xtest.FakeInput(h.conn, kind, byte(b), 0, h.root, 0, 0, 0)
}

// shown returns the id of the lowest visible window that has a class, as windows of
// programs do, or "" if there is none.
func (d *Display) shown() string {
	d.t.Helper()
	h := d.grip()
	tree, err := xproto.QueryTree(h.conn, h.root).Reply()
	if err != nil {
		d.t.Fatal(err)
	}
	for _, id := range tree.Children {
		seen, err := xproto.GetWindowAttributes(h.conn, id).Reply()
		if err != nil || seen.MapState != xproto.MapStateViewable {
			continue // it may be gone by now
		}
		class, err := xproto.GetProperty(h.conn, false, id, xproto.AtomWmClass, xproto.AtomString, 0, 1).Reply()
		if err == nil && class.ValueLen > 0 {
			return strconv.FormatUint(uint64(id), 10)
		}
	}
	return ""
}

// focus gives a window the keyboard.
func (w *Window) focus() {
	w.t.Helper()
	h := w.grip()
	if err := xproto.SetInputFocusChecked(h.conn, xproto.InputFocusParent, w.number(), xproto.TimeCurrentTime).Check(); err != nil {
		w.t.Fatal(err)
	}
}

// number returns the window's id on its display, 0 if it is not an X window.
func (w *Window) number() xproto.Window {
	id, _ := strconv.ParseUint(w.id, 10, 32)
	return xproto.Window(id)
}

// done waits until the display has processed the input.
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

// Click moves the pointer and presses a button, with modifier keys held ("shift", "ctrl",
// "alt"). The click is never the second of a double click.
func (w *Window) Click(b Button, at image.Point, modifiers ...string) {
	w.t.Helper()
	w.clicks(1, b, at, modifiers)
}

// DoubleClick clicks twice in quick succession.
func (w *Window) DoubleClick(b Button, at image.Point) {
	w.t.Helper()
	w.clicks(2, b, at, nil)
}

// Wheel turns the wheel by some notches in one go; positive is up.
func (w *Window) Wheel(notches int, at image.Point, modifiers ...string) {
	w.t.Helper()
	if notches < 0 {
		w.clicks(-notches, WheelDown, at, modifiers)
	} else {
		w.clicks(notches, WheelUp, at, modifiers)
	}
}

// apart is the time after which another click at the same place is separate: longer than
// the double-click time of Ashlar and the toolkits.
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
	letGo := w.hold(modifiers)
	for range n {
		h.button(xproto.ButtonPress, b)
		h.button(xproto.ButtonRelease, b)
	}
	letGo()
	w.done(h)
	w.handled()
}

// Drag presses a button at one point, moves the pointer to another through points in
// between, and releases the button there.
func (w *Window) Drag(b Button, from, to image.Point, modifiers ...string) {
	w.t.Helper()
	const steps = 8
	h := w.grip()
	h.move(from)
	letGo := w.hold(modifiers)
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

// Resize makes the window another size, in pixels.
func (w *Window) Resize(width, height int) {
	w.t.Helper()
	w.do("windowsize", w.id, strconv.Itoa(width), strconv.Itoa(height))
	w.handled()
}

// handled waits until the window has drawn everything that the input so far causes. It
// asks the window for its clipboard. The window answers in order with all other events
// from the display, and never in the middle of a frame. After the first answer it has
// read the input, after the second it has drawn the resulting frame, and two more answers
// cover changes in the frame after that, such as the keyboard focus. All this makes the
// window draw nothing that it would not draw for a user. handled does not wait for
// windows that are not known to answer, are not X windows, or have ended.
func (w *Window) handled() {
	w.t.Helper()
	for range 4 {
		if !w.answers || !w.answer() {
			return
		}
	}
}

// answer sends the window a question and waits for the answer; it reports whether there
// is one.
func (w *Window) answer() bool {
	w.t.Helper()
	id := w.number()
	if id == 0 {
		return false
	}
	h := w.grip()
	h.asked++
	ask := xproto.SelectionRequestEvent{
		Time: h.asked, Owner: id, Requestor: h.ear, Selection: h.clipboard, Target: h.targets, Property: h.targets,
	}
	// If the window is gone, the display returns an error.
	if xproto.SendEventChecked(h.conn, false, id, 0, string(ask.Bytes())).Check() != nil {
		return false
	}
	late := time.After(patience)
	for {
		select {
		case n := <-h.answers:
			if n == h.asked {
				return true
			}
		case <-w.exited:
			return false
		case <-late:
			w.t.Fatalf("waited %v in vain for the window to answer", patience)
		}
	}
}

// Screenshot returns the contents of the screen after the window has drawn everything
// that the input so far causes.
func (w *Window) Screenshot() *image.RGBA {
	w.t.Helper()
	w.handled()
	return w.Display.Screenshot()
}

// hasFrameLog reports whether the arguments make a program write a frame log. Only windows
// of such programs are sure to answer the clipboard requests of handled.
func hasFrameLog(args []string) bool { return slices.Contains(args, "--frame-log") }
