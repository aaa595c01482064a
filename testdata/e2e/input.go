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

// hand is a connection to the display that moves the mouse and presses keys. What is done
// with it in one go comes with nothing between, however busy the machine is: two clicks
// are a double click, and notches of a wheel one turn.
type hand struct {
	conn    *xgb.Conn
	root    xproto.Window
	strokes map[xproto.Keysym]stroke
	// clicked is when and where something was clicked last.
	clicked time.Time
	at      image.Point

	// ear is a window that nobody sees, which gets answers, by the number of what was
	// asked.
	ear                xproto.Window
	clipboard, targets xproto.Atom
	asked              xproto.Timestamp
	answers            chan xproto.Timestamp
}

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

// shown is the number of the lowest window that can be seen and has a class, as those of
// programs have, "" if there is none.
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

// number is the window's on its display, 0 if that is none of X.
func (w *Window) number() xproto.Window {
	id, _ := strconv.ParseUint(w.id, 10, 32)
	return xproto.Window(id)
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
	letGo := w.hold(modifiers)
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

// handled waits until the window has drawn what all input so far makes it draw. It asks
// what the window has in the clipboard, which the window answers in its turn among all
// that the display sends it, and never in the middle of a frame: with the first answer it
// has read the input, with the next it has drawn the frame that it wants for that, and the
// two that follow are for what changes with the frame after, such as who has the keyboard.
// Nothing is drawn that the window would not draw for a person. A window that is not known
// to answer, or is not X's, is not waited for, nor one that ends.
func (w *Window) handled() {
	w.t.Helper()
	for range 4 {
		if !w.answers || !w.answer() {
			return
		}
	}
}

// answer asks the window and waits for its answer; it reports whether there is one.
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
	// Where the window is gone the display says so.
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

// Screenshot returns what is on the screen once the window has drawn all that it has
// been told.
func (w *Window) Screenshot() *image.RGBA {
	w.t.Helper()
	w.handled()
	return w.Display.Screenshot()
}

// hasFrameLog reports whether a program is told to write a frame log. Those are windows
// that answer.
func hasFrameLog(args []string) bool { return slices.Contains(args, "--frame-log") }
