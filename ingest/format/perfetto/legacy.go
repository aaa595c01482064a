package perfetto

import (
	"fmt"
	"hash/fnv"
	"strings"
)

// legacy holds the fields of legacy events.
type legacy struct {
	phase               byte
	duration            int64
	id, bind            uint64
	enclosing           bool
	scope               string
	hasID, local        bool
	flow                uint64
	instant             uint64
	pid, tid            int64
	hasPID, hasTID, any bool
}

func (r *reader) readLegacy(s *sequence, e *trackEvent) legacy {
	l := legacy{any: true}
	r.spell(s, e)
	for num, v := range each(e.legacy) {
		switch num {
		case 1:
			if len(e.name) == 0 {
				e.name = []byte(s.texts[internName].get(v.n))
			}
		case 2:
			l.phase = byte(v.n)
		case 3:
			l.duration = int64(v.n)
		case 6, 10, 11:
			l.id, l.hasID, l.local = v.n, true, num == 10
		case 7:
			l.scope = v.text()
		case 8:
			l.bind = v.n
		case 12:
			l.enclosing = v.n != 0
		case 13:
			l.flow = v.n
		case 14:
			l.instant = v.n
		case 18:
			l.pid, l.hasPID = id(v.n), true
		case 19:
			l.tid, l.hasTID = id(v.n), true
		}
	}
	return l
}

// oldTrack returns the track of a legacy event, given by its process and thread. old
// means that the event names no track by number.
func (r *reader) oldTrack(s *sequence, l *legacy, old bool) *track {
	pid, tid := s.pid, s.tid
	if base := r.tracks[s.track]; s.hasTrack && base != nil && base.thread {
		pid, tid = base.pid, base.tid
	}
	if l.hasPID {
		pid = l.pid
	}
	if l.hasTID {
		tid = l.tid
	}
	if l.instant == 2 && old {
		return r.operation(operation{under: pid, process: true}, &track{process: true, pid: pid})
	}
	return r.threadTrack(pid, tid)
}

// oldFlow handles an event that starts a flow (phase s), continues it (t) or ends it (f);
// it returns false for other events. Events of a flow have the same number, name and
// category. They belong to the slice that runs at their time; an end without the
// enclosing flag belongs to the next slice that begins on its track.
func (r *reader) oldFlow(e *trackEvent, l *legacy, t *track, at int64) bool {
	if l.phase != 's' && l.phase != 't' && l.phase != 'f' {
		return false
	}
	id := fnv.New64a()
	under := int64(0)
	if l.local {
		under = t.pid
	}
	fmt.Fprintf(id, "%d %d %q %q %q", l.id, under, l.scope, e.category, e.name)
	x := pass{at: at, id: id.Sum64(), group: t.group}
	switch l.phase {
	case 's':
		x.how = starts
	case 't':
		x.how = goesOn
	case 'f':
		if !l.enclosing {
			t.ending = append(t.ending, x.id)
			return true
		}
		x.how = ends
	}
	r.passes = append(r.passes, x)
	r.waiting++
	return true
}

// operation identifies an asynchronous operation of legacy events.
type operation struct {
	under           int64 // process in which id is unique, 0 for all processes
	process         bool  // stands for the process's own track, not an operation
	scope, category string
	id              uint64
}

// operation returns the track of an operation; fresh becomes its track if it has none.
func (r *reader) operation(o operation, fresh *track) *track {
	if t := r.asyncs[o]; t != nil {
		return t
	}
	o.scope, o.category = r.text([]byte(o.scope)), r.text([]byte(o.category))
	r.groups++
	fresh.group = r.groups
	r.asyncs[o] = fresh
	return fresh
}

// read converts a legacy event to the current kind. It returns the event's track and, if
// the event is a whole span, its end; ok is false if there is nothing to convert.
func (l *legacy) read(r *reader, e *trackEvent, ev *event, t *track) (on *track, until int64, ok bool) {
	switch l.phase {
	case 'B', 'b', 'S':
		ev.kind = begin
	case 'E', 'e', 'F':
		ev.kind = end
	case 'X':
		ev.kind, until = whole, ev.at+l.duration*1000
	case 'I', 'i', 'n', 'T', 'p', 'R':
		ev.kind = instant
	default:
		return t, 0, false
	}
	if strings.IndexByte("bSeFnTp", l.phase) >= 0 && l.hasID {
		o := operation{under: t.pid, scope: l.scope, category: string(e.category), id: l.id}
		if !l.local {
			o.under = 0
		}
		if t = r.asyncs[o]; t == nil {
			t = r.operation(o, &track{name: string(e.name), pid: o.under})
		}
	}
	if l.flow == 1 && l.bind != 0 { // one sent event may be received several times
		r.passes = append(r.passes, pass{at: ev.at, id: l.bind, group: t.group, how: arrives})
		r.waiting++
	} else if l.flow != 0 && l.bind != 0 {
		e.flows = append(e.flows, l.bind)
	}
	return t, until, true
}
