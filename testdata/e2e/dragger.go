//go:build linux

package e2e

import (
	"encoding/binary"
	"image"
	"sync"
	"testing"
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// How is the way in which a [Dragger] delivers its list.
type How int

// Ways to deliver the list, or to fail to.
const (
	Whole  How = iota
	Parts      // INCR, a few bytes at a time
	Silent     // never
	Refuse     // reports that there is no list
	Stuck      // INCR, only the first part
)

// A Dragger is a drag source that sends anything a test wants over the X protocol (XDND),
// without a mouse. It may break the protocol's conventions.
type Dragger struct {
	t              testing.TB
	conn           *xgb.Conn
	window, target xproto.Window
	root           xproto.Window
	status, end    chan [5]uint32
	atom           sync.Map // by name

	mu    sync.Mutex
	types []string
	list  []byte
	how   How
	rest  []byte // part of the list not yet delivered
	to    xproto.SelectionRequestEvent
}

// A Verdict is a target's answer: to a position or at the end.
type Verdict struct {
	Accepted bool
	Copy     bool // the action is XdndActionCopy
}

// StartDragger connects to the display; drags go to the window that is there.
func (d *Display) StartDragger(t testing.TB) *Dragger {
	t.Helper()
	quiet()
	c, err := xgb.NewConnDisplay(d.name)
	if err != nil {
		t.Fatal(err)
	}
	x := &Dragger{t: t, conn: c, status: make(chan [5]uint32, 64), end: make(chan [5]uint32, 4)}
	t.Cleanup(x.Close)
	screen := xproto.Setup(c).DefaultScreen(c)
	x.root = screen.Root
	if x.window, err = xproto.NewWindowId(c); err != nil {
		t.Fatal(err)
	}
	err = xproto.CreateWindowChecked(c, 0, x.window, x.root, 0, 0, 1, 1, 0, xproto.WindowClassInputOutput, screen.RootVisual, 0, nil).Check()
	if err != nil {
		t.Fatal(err)
	}
	xproto.SetSelectionOwner(c, x.window, x.Atom("XdndSelection"), xproto.TimeCurrentTime)
	for deadline := time.Now().Add(patience); x.target == 0; time.Sleep(20 * time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("no window takes drags")
		}
		tree, err := xproto.QueryTree(c, x.root).Reply()
		if err != nil {
			t.Fatal(err)
		}
		for _, w := range tree.Children {
			if r, err := xproto.GetProperty(c, false, w, x.Atom("XdndAware"), xproto.GetPropertyTypeAny, 0, 1).Reply(); err == nil && r.ValueLen == 1 && r.Value[0] == 5 {
				x.target = w
			}
		}
	}
	go x.events()
	return x
}

// Close ends the source, whatever it is doing.
func (x *Dragger) Close() { x.conn.Close() }

// Atom returns X's number for a name.
func (x *Dragger) Atom(name string) xproto.Atom {
	if a, ok := x.atom.Load(name); ok {
		return a.(xproto.Atom)
	}
	r, err := xproto.InternAtom(x.conn, false, uint16(len(name)), name).Reply()
	if err != nil {
		x.t.Fatal(err)
	}
	x.atom.Store(name, r.Atom)
	return r.Atom
}

// Enter begins a drag over the window; types are the MIME types on offer.
func (x *Dragger) Enter(list []byte, how How, types ...string) {
	x.mu.Lock()
	x.list, x.how, x.types = list, how, types
	x.mu.Unlock()
	data := [5]uint32{uint32(x.window), 5 << 24}
	var all []byte
	for i, name := range types {
		a := uint32(x.Atom(name))
		if i < 3 {
			data[2+i] = a
		}
		all = binary.LittleEndian.AppendUint32(all, a)
	}
	if len(types) > 3 {
		data[1] |= 1
		xproto.ChangeProperty(x.conn, xproto.PropModeReplace, x.window, x.Atom("XdndTypeList"), xproto.AtomAtom, 32, uint32(len(types)), all)
	}
	x.Send("XdndEnter", data)
}

// Hold moves the drag to a place on the screen and returns the window's answer.
func (x *Dragger) Hold(at image.Point) Verdict {
	x.t.Helper()
	for len(x.status) > 0 {
		<-x.status
	}
	x.Send("XdndPosition", [5]uint32{uint32(x.window), 0, uint32(at.X<<16 | at.Y), 0, uint32(x.Atom("XdndActionMove"))})
	return x.verdict(x.status, "XdndStatus", 4)
}

// Status waits for the window's answer to a position.
func (x *Dragger) Status() Verdict {
	x.t.Helper()
	return x.verdict(x.status, "XdndStatus", 4)
}

// Drop drops the dragged data.
func (x *Dragger) Drop() { x.Send("XdndDrop", [5]uint32{uint32(x.window)}) }

// End waits until the window has handled the drop.
func (x *Dragger) End() Verdict {
	x.t.Helper()
	return x.verdict(x.end, "XdndFinished", 2)
}

// Leave moves the drag out of the window.
func (x *Dragger) Leave() { x.Send("XdndLeave", [5]uint32{uint32(x.window)}) }

func (x *Dragger) verdict(from chan [5]uint32, what string, action int) Verdict {
	x.t.Helper()
	select {
	case d := <-from:
		if d[0] != uint32(x.target) {
			x.t.Errorf("%s is of the window %#x, not %#x", what, d[0], x.target)
		}
		return Verdict{d[1]&1 != 0, d[action] == uint32(x.Atom("XdndActionCopy"))}
	case <-time.After(patience):
		x.t.Fatalf("waited %v in vain for %s", patience, what)
		return Verdict{}
	}
}

// Send sends a message to the window.
func (x *Dragger) Send(kind string, data [5]uint32) {
	e := xproto.ClientMessageEvent{Format: 32, Window: x.target, Type: x.Atom(kind), Data: xproto.ClientMessageDataUnionData32New(data[:])}
	xproto.SendEvent(x.conn, false, x.target, 0, string(e.Bytes()))
}

func (x *Dragger) events() {
	for {
		e, err := x.conn.WaitForEvent()
		if e == nil && err == nil {
			return
		}
		switch e := e.(type) {
		case xproto.ClientMessageEvent:
			d := [5]uint32(e.Data.Data32)
			switch e.Type {
			case x.Atom("XdndStatus"):
				x.status <- d
			case x.Atom("XdndFinished"):
				x.end <- d
			}
		case xproto.SelectionRequestEvent:
			x.asked(e)
		case xproto.PropertyNotifyEvent:
			x.emptied(e)
		}
	}
}

// asked answers a request for the list.
func (x *Dragger) asked(e xproto.SelectionRequestEvent) {
	x.mu.Lock()
	defer x.mu.Unlock()
	answer := xproto.SelectionNotifyEvent{Time: e.Time, Requestor: e.Requestor, Selection: e.Selection, Target: e.Target, Property: e.Property}
	switch x.how {
	case Silent:
		return
	case Refuse:
		answer.Property = xproto.AtomNone
	case Whole:
		// The size of a request is limited.
		mode, rest := byte(xproto.PropModeReplace), x.list
		for first := true; first || len(rest) > 0; first = false {
			part := rest[:min(len(rest), 100_000)]
			xproto.ChangeProperty(x.conn, mode, e.Requestor, e.Property, e.Target, 8, uint32(len(part)), part)
			mode, rest = xproto.PropModeAppend, rest[len(part):]
		}
	case Parts, Stuck:
		x.rest, x.to = x.list, e
		xproto.ChangeWindowAttributes(x.conn, e.Requestor, xproto.CwEventMask, []uint32{xproto.EventMaskPropertyChange})
		xproto.ChangeProperty(x.conn, xproto.PropModeReplace, e.Requestor, e.Property, x.Atom("INCR"), 32, 1, []byte{1, 0, 0, 0})
	}
	xproto.SendEvent(x.conn, false, e.Requestor, 0, string(answer.Bytes()))
}

// emptied delivers the next part once the window has taken the last one.
func (x *Dragger) emptied(e xproto.PropertyNotifyEvent) {
	x.mu.Lock()
	defer x.mu.Unlock()
	if e.State != xproto.PropertyDelete || e.Window != x.to.Requestor || e.Atom != x.to.Property || x.rest == nil {
		return
	}
	const most = 1000 // small enough to cut names and escapes in two
	part := x.rest[:min(most, len(x.rest))]
	if x.how == Stuck && len(part) < len(x.list) && len(x.rest) < len(x.list) {
		return
	}
	xproto.ChangeProperty(x.conn, xproto.PropModeReplace, x.to.Requestor, x.to.Property, x.to.Target, 8, uint32(len(part)), part)
	if x.rest = x.rest[len(part):]; len(part) == 0 {
		x.rest = nil // the end has been sent
	}
}
