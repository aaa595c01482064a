package native

import (
	"errors"
	"fmt"
	"image"
	"io"
	"log"
	"os"
	"sync/atomic"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"

	"ashlar/app/desktop/drop"
)

// Versions of XDND, see https://freedesktop.org/wiki/Specifications/XDND: ours, and the
// oldest one understood (3).
const xdndVersion, xdndOldest = 5, 3

// message is a client message to the window.
type message struct {
	kind uint32
	data [5]uint32
}

// atoms are the X atoms of the names that XDND uses.
type atoms struct {
	aware, enter, position, status, leave, drop, finished xproto.Atom
	selection, typeList, actionCopy, uriList, incr        xproto.Atom
	// answers are the properties that receive lists. Requests use them in turn, so that a
	// late list is not mistaken for the answer to another request.
	answers [4]xproto.Atom
}

// xdnd handles drags for the window on its own connection to the X server. One goroutine
// does all the work.
type xdnd struct {
	t      *drop.Target
	window xproto.Window
	in     chan message
	quit   chan struct{}
	atoms  atomic.Pointer[atoms] // nil until they are known

	conn   *xgb.Conn
	root   xproto.Window
	helper xproto.Window // the window that receives lists

	drag  xdrag
	fetch *fetch // the pending request for a list
	turns int    // number of requests; selects one of atoms.answers
}

// xdrag describes a drag while it is held over the window.
type xdrag struct {
	source  xproto.Window // 0 if there is no drag
	files   bool          // the source offers files
	over    drop.Over
	asked   bool // the list was requested during the drag
	dropped bool
	at      xproto.Timestamp // time of the drop
}

func newXDND(t *drop.Target, window uint32) *xdnd {
	return &xdnd{t: t, window: xproto.Window(window), in: make(chan message, 256), quit: make(chan struct{})}
}

// take passes on a message about a drag and returns false for other messages. It never
// blocks.
func (x *xdnd) take(m message) bool {
	a := x.atoms.Load()
	if a == nil {
		return false
	}
	switch xproto.Atom(m.kind) {
	case a.enter, a.position, a.leave, a.drop:
		select {
		case x.in <- m:
		default: // a drag does not send hundreds of messages without a pause
		}
		return true
	}
	return false
}

// run handles drags until the window is closed.
func (x *xdnd) run(display string) {
	xgb.Logger = log.New(io.Discard, "", 0)
	var gone xproto.WindowError
	if err := x.connect(display); errors.As(err, &gone) {
		return // the window was closed, or could not be shown, which is reported elsewhere
	} else if err != nil {
		fmt.Fprintf(os.Stderr, "ashlar: files cannot be dropped on the window: %v\n", err)
		return
	}
	defer x.conn.Close()
	events := make(chan xgb.Event)
	go func() {
		defer close(events)
		for {
			e, err := x.conn.WaitForEvent()
			if e == nil && err == nil {
				return // the connection is closed
			}
			if err != nil {
				continue // the source has ended
			}
			select {
			case events <- e:
			case <-x.quit:
			}
		}
	}()
	for {
		var late <-chan time.Time
		if x.fetch != nil {
			late = x.fetch.late.C
		}
		select {
		case <-x.quit:
			return
		case m := <-x.in:
			x.message(m)
		case e, ok := <-events:
			if !ok {
				return // the connection to the X server has closed
			}
			x.event(e)
		case <-late:
			x.silent()
		}
	}
}

func (x *xdnd) connect(display string) (err error) {
	if x.conn, err = xgb.NewConnDisplay(display); err != nil {
		return err
	}
	defer func() {
		if err != nil {
			x.conn.Close()
		}
	}()
	a := new(atoms)
	if err := a.intern(x.conn); err != nil {
		return err
	}
	screen := xproto.Setup(x.conn).DefaultScreen(x.conn)
	x.root = screen.Root
	if x.helper, err = xproto.NewWindowId(x.conn); err != nil {
		return err
	}
	err = xproto.CreateWindowChecked(x.conn, 0, x.helper, x.root, -1, -1, 1, 1, 0, xproto.WindowClassInputOnly, screen.RootVisual,
		xproto.CwEventMask, []uint32{xproto.EventMaskPropertyChange}).Check()
	if err != nil {
		return err
	}
	x.atoms.Store(a)
	return xproto.ChangePropertyChecked(x.conn, xproto.PropModeReplace, x.window, a.aware, xproto.AtomAtom, 32, 1, []byte{xdndVersion, 0, 0, 0}).Check()
}

func (a *atoms) intern(c *xgb.Conn) error {
	names := map[string]*xproto.Atom{
		"XdndAware": &a.aware, "XdndEnter": &a.enter, "XdndPosition": &a.position, "XdndStatus": &a.status, "XdndLeave": &a.leave,
		"XdndDrop": &a.drop, "XdndFinished": &a.finished, "XdndSelection": &a.selection, "XdndTypeList": &a.typeList,
		"XdndActionCopy": &a.actionCopy, "text/uri-list": &a.uriList, "INCR": &a.incr,
	}
	for i := range a.answers {
		names[fmt.Sprintf("ASHLAR_DROP_%d", i)] = &a.answers[i]
	}
	for name, to := range names {
		r, err := xproto.InternAtom(c, false, uint16(len(name)), name).Reply()
		if err != nil {
			return err
		}
		*to = r.Atom
	}
	return nil
}

func (x *xdnd) message(m message) {
	a, source := x.atoms.Load(), xproto.Window(m.data[0])
	kind := xproto.Atom(m.kind)
	if kind == a.enter {
		x.enter(source, m)
		return
	}
	if source != x.drag.source || source == 0 || x.drag.dropped {
		return // belongs to a drag that is over
	}
	switch kind {
	case a.position:
		x.position(m)
	case a.leave:
		x.leave()
	case a.drop:
		x.drop(xproto.Timestamp(m.data[2]))
	}
}

// enter begins a drag over the window.
func (x *xdnd) enter(source xproto.Window, m message) {
	if x.drag.dropped {
		x.finish(drop.Files{Reason: drop.NoFiles}) // the source has started another drag
	}
	x.leave()
	if m.data[1]>>24 < xdndOldest {
		return
	}
	a := x.atoms.Load()
	x.drag = xdrag{source: source}
	for _, t := range x.types(source, m) {
		x.drag.files = x.drag.files || t == a.uriList
	}
	x.drag.over.Held = true
	if !x.drag.files {
		x.drag.over.Refused = drop.NotFiles
	}
	// Watch the source's window: a source that ends during a drag sends nothing more.
	xproto.ChangeWindowAttributes(x.conn, source, xproto.CwEventMask, []uint32{xproto.EventMaskStructureNotify})
}

// types lists the types that the source offers: up to three are in the message, more in a
// property.
func (x *xdnd) types(source xproto.Window, m message) []xproto.Atom {
	var types []xproto.Atom
	for _, t := range m.data[2:] {
		types = append(types, xproto.Atom(t))
	}
	if m.data[1]&1 == 0 {
		return types
	}
	r, err := xproto.GetProperty(x.conn, false, source, x.atoms.Load().typeList, xproto.AtomAtom, 0, 1<<14).Reply()
	if err != nil || r.Format != 32 {
		return types
	}
	for v := r.Value; len(v) >= 4; v = v[4:] {
		types = append(types, xproto.Atom(xgb.Get32(v)))
	}
	return types
}

// position updates the drag's position and tells the source whether it may be dropped
// there.
func (x *xdnd) position(m message) {
	d := &x.drag
	rootX, rootY := int16(m.data[2]>>16), int16(m.data[2])
	if r, err := xproto.TranslateCoordinates(x.conn, x.root, x.window, rootX, rootY).Reply(); err == nil {
		d.over.At = image.Pt(int(r.DstX), int(r.DstY))
	}
	if d.files && !d.asked {
		d.asked = true
		x.ask(xproto.Timestamp(m.data[3]), patience)
	}
	x.status()
	x.t.Hold(d.over)
}

// status tells the source whether the drag may be dropped. The action is always copy: the
// files stay in place.
func (x *xdnd) status() {
	const accept, everyMove = 1, 2
	a := x.atoms.Load()
	if x.drag.over.Refused != "" {
		x.send(a.status, everyMove, 0, 0, 0)
		return
	}
	x.send(a.status, accept|everyMove, 0, 0, uint32(a.actionCopy))
}

func (x *xdnd) leave() {
	x.fetch = nil
	x.drag = xdrag{}
	x.t.Hold(drop.Over{})
}

// drop completes the drag: at once if its list is known, otherwise when the list arrives.
func (x *xdnd) drop(at xproto.Timestamp) {
	d := &x.drag
	d.dropped, d.at = true, at
	switch {
	case d.over.Refused != "":
		x.finish(drop.Files{Reason: d.over.Refused})
	case d.over.Files != nil:
		x.finish(*d.over.Files)
	default:
		if x.fetch == nil {
			d.asked = false
			x.ask(at, patience)
		}
		d.over.Waiting = true
		x.t.Hold(d.over)
	}
}

// finish tells the source that the drop is done, and passes the files to the window.
func (x *xdnd) finish(f drop.Files) {
	a := x.atoms.Load()
	if len(f.Paths) > 0 {
		x.send(a.finished, 1, uint32(a.actionCopy), 0, 0)
	} else {
		x.send(a.finished, 0, 0, 0, 0)
	}
	at := x.drag.over.At
	x.drag, x.fetch = xdrag{}, nil
	x.t.Take(drop.Drop{Files: f, At: at})
}

// fetched takes the requested list; nil means there is none.
func (x *xdnd) fetched(list []byte) {
	d := &x.drag
	x.fetch = nil
	if list == nil {
		// Some sources send the list only after the drop.
		if d.dropped && d.asked {
			d.asked = false
			x.ask(d.at, patience)
		} else if d.dropped {
			x.finish(drop.Files{Reason: drop.NoFiles})
		}
		return
	}
	f := files(list)
	if d.dropped {
		x.finish(f)
		return
	}
	d.over.Files = &f
	if len(f.Paths) == 0 {
		d.over.Refused = f.Reason
		x.status()
	}
	x.t.Hold(d.over)
}

// silent is called when the source has not answered for too long.
func (x *xdnd) silent() {
	x.fetch = nil
	if x.drag.dropped {
		x.finish(drop.Files{Reason: drop.NoFiles})
	}
}

// event handles an event of the connection: a list arrives or a source ends.
func (x *xdnd) event(e xgb.Event) {
	switch e := e.(type) {
	case xproto.SelectionNotifyEvent:
		if f := x.fetch; f != nil && e.Requestor == x.helper && (e.Property == f.property || e.Property == xproto.AtomNone) {
			x.took(f.notified(x.conn, e.Property))
		}
	case xproto.PropertyNotifyEvent:
		if f := x.fetch; f != nil && e.Atom == f.property && e.State == xproto.PropertyNewValue {
			x.took(f.grown(x.conn))
		}
	case xproto.DestroyNotifyEvent:
		if e.Window != x.drag.source {
			break
		}
		if x.drag.dropped {
			x.finish(drop.Files{Reason: drop.NoFiles})
		} else {
			x.leave()
		}
	}
}

func (x *xdnd) took(list []byte, done bool) {
	if done {
		x.fetched(list)
	}
}

// send sends a message to the source.
func (x *xdnd) send(kind xproto.Atom, data ...uint32) {
	e := xproto.ClientMessageEvent{Format: 32, Window: x.drag.source, Type: kind,
		Data: xproto.ClientMessageDataUnionData32New(append([]uint32{uint32(x.window)}, data...))}
	xproto.SendEvent(x.conn, false, x.drag.source, 0, string(e.Bytes()))
}
