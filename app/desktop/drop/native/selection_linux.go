package native

import (
	"time"

	"github.com/jezek/xgb"
	"github.com/jezek/xgb/xproto"
)

// fetch is a pending request for a list of files.
type fetch struct {
	helper         xproto.Window
	property, incr xproto.Atom
	late           *time.Timer
	patience       time.Duration
	list           []byte
	parts          bool // the list comes in parts (INCR), each after the previous one was read
}

// ask asks the owner of the drag for the list of its files.
func (x *xdnd) ask(at xproto.Timestamp, patience time.Duration) {
	a := x.atoms.Load()
	property := a.answers[x.turns%len(a.answers)]
	x.turns++
	x.fetch = &fetch{helper: x.helper, property: property, incr: a.incr, patience: patience, late: time.NewTimer(patience)}
	xproto.DeleteProperty(x.conn, x.helper, property)
	xproto.ConvertSelection(x.conn, x.helper, a.selection, a.uriList, property, at)
}

// notified is called when the owner has answered: property holds the list, or announces
// that the list comes in parts. done reports whether the transfer is over; list is nil if
// there is no list.
func (f *fetch) notified(c *xgb.Conn, property xproto.Atom) (list []byte, done bool) {
	if property == xproto.AtomNone {
		return nil, true
	}
	kind, value := f.read(c)
	if kind != f.incr {
		return value, true
	}
	f.parts = true // reading the property requests the first part
	return nil, false
}

// grown is called when the property has a new value.
func (f *fetch) grown(c *xgb.Conn) (list []byte, done bool) {
	if !f.parts {
		return nil, false // written before the owner announced parts
	}
	f.late.Reset(f.patience)
	_, part := f.read(c)
	if part == nil || len(f.list)+len(part) > mostBytes {
		return nil, true
	}
	f.list = append(f.list, part...)
	if len(part) > 0 {
		return nil, false
	}
	if f.list == nil {
		f.list = []byte{}
	}
	return f.list, true
}

// read returns the property and deletes it; value is nil if the property cannot be a
// list.
func (f *fetch) read(c *xgb.Conn) (kind xproto.Atom, value []byte) {
	r, err := xproto.GetProperty(c, true, f.helper, f.property, xproto.GetPropertyTypeAny, 0, mostBytes/4).Reply()
	switch {
	case err != nil || r.BytesAfter > 0 || r.Type == xproto.AtomNone:
		return xproto.AtomNone, nil
	case r.Type == f.incr:
		return r.Type, nil
	case r.Format != 8 && r.ValueLen > 0:
		return r.Type, nil
	}
	return r.Type, append([]byte{}, r.Value...)
}
