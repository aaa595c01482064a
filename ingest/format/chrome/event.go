package chrome

import "ashlar/ingest/input/jsonscan"

// event is the scanner's result for one element: an event of the trace with the fields
// that nearly all events have, or a rarer element that the builder reads from its text.
type event struct {
	ts       jsonscan.Micros
	dur      jsonscan.Micros
	off, end uint32 // range of the element's text in the batch's chunk
	name     uint32 // interned; 0 for none
	cat      uint32
	thread   uint32
	id       uint32 // offset in the chunk of the id's value; 0 for none
	ph       byte
	flags    flag
}

type flag uint16

const (
	hasTS          flag = 1 << iota // ts holds a time
	hasDur                          // dur holds a length
	badNum                          // ts or dur is present but not a number
	hasArgs                         // there are args or uncommon keys to show
	hasBind                         // bind_id, flow_in or flow_out
	lengthIsCPU                     // the event has no dur; its length comes from tdur
	oddID                           // id2, scope, or several ids
	bindsEnclosing                  // bp is "e"
	hasThreadTS                     // tts holds a time by the thread's own clock
	hasThreadDur                    // tdur holds a length
)

// Elements other than events get their own values of ph, below all letters.
const (
	phNone     byte = iota // an object without a phase
	phOther                // a phase that is not one letter
	phScalar               // an element of the events that is not an object
	phBad                  // invalid bytes, from off to end
	phCut                  // the file ends inside the element
	phFrame                // "id": {…} of stackFrames
	phSample               // an object of the top level's samples
	phNode                 // an object of a CPU profile's nodes
	phSampleID             // a number of a CPU profile's samples
	phDelta                // a number of a CPU profile's timeDeltas
	phStart                // a CPU profile's startTime, in ts
	phEnd                  // a CPU profile's endTime, in ts
	phComma                // a missing comma before an event
	phStray                // a bracket or other bytes that belong nowhere
	phUnclosed             // the file ends before its brackets are closed
	phTool                 // a top-level object that describes the recording
	phMember               // any other member of the top level: "key": value
	phSystem               // the text of systemTraceEvents
	phSkipped              // the key of a member that is too long to be kept
)

// batch is the scanner's result for a chunk, in the order of the file.
type batch struct {
	chunk   []byte
	base    int64 // offset of chunk in the content
	worker  int   // number of the scanner whose ids the events use
	events  []event
	names   []string    // interned since the last batch
	threads []threadKey // threads interned since the last batch
}

// id returns the value of an event's id, without quotes.
func (b *batch) id(e *event) []byte {
	end, _ := jsonscan.Value(b.chunk[:e.end], int(e.id), true)
	return jsonscan.Unquoted(b.chunk[e.id:end])
}

// text returns the element's text in the file.
func (b *batch) text(e *event) []byte { return b.chunk[e.off:e.end] }

// add appends an element.
func (b *batch) add(ph byte, off, end int) *event {
	b.events = append(b.events, event{ph: ph, off: uint32(off), end: uint32(end)})
	return &b.events[len(b.events)-1]
}

// event reads the event that begins with the brace at p.
func (s *scanner) event(b []byte, p int, ev *event) (end int, st jsonscan.Status) {
	if s.links.trust > -distrust {
		if end, ok := s.predicted(b, p, ev); ok {
			s.links.trust = min(s.links.trust+1, distrust)
			return end, jsonscan.Good
		}
		*ev = event{off: ev.off, end: ev.end}
		s.links.trust -= missCost
	} else {
		s.links.trust--
		if s.links.trust < -2*distrust {
			s.links.trust = 0
		}
	}
	return s.parsed(b, p, ev)
}

// thread returns the id of an event's thread.
func (s *scanner) thread(pid, tid ident) uint32 {
	if pid.text == "" && tid.text == "" {
		return s.threads.id(pid.n, tid.n)
	}
	return s.threads.key(threadKey{pid, tid})
}

// parsed is like event, but accepts any valid JSON layout.
func (s *scanner) parsed(b []byte, p int, ev *event) (end int, st jsonscan.Status) {
	var pid, tid ident
	var e int
	l := &s.links.first
	p++
	from := p
	for {
		if p = jsonscan.Space(b, p); p >= len(b) {
			return p, jsonscan.More
		}
		if b[p] == ',' {
			p++
			continue
		}
		if b[p] == '}' {
			break
		}
		if b[p] != '"' {
			return p, jsonscan.Bad
		}
		k := p + 1
		var escaped bool
		if e, escaped, st = jsonscan.Str(b, k); st != jsonscan.Good {
			return e, st
		}
		key := b[k:e]
		if escaped {
			key = []byte(jsonscan.Unescape(key))
		}
		if p = jsonscan.Space(b, e+1); p >= len(b) {
			return p, jsonscan.More
		}
		if b[p] != ':' {
			return p, jsonscan.Bad
		}
		if p = jsonscan.Space(b, p+1); p >= len(b) {
			return p, jsonscan.More
		}
		v := p
		if p, st = jsonscan.Value(b, v, s.final); st != jsonscan.Good {
			return p, st
		}
		s.field(ev, key, b[v:p], v, &pid, &tid)
		if escaped {
			l = nil
		}
		l = s.links.learn(l, b[from:v], key)
		from = p
		// After the value: a comma, or the end.
		if p = jsonscan.Space(b, p); p >= len(b) {
			return p, jsonscan.More
		}
		if c := b[p]; c != ',' && c != '}' {
			return p, jsonscan.Bad
		}
	}
	ev.thread = s.thread(pid, tid)
	return p + 1, jsonscan.Good
}

// field stores one member of an event; at is the offset of its value in the chunk.
func (s *scanner) field(ev *event, key, val []byte, at int, pid, tid *ident) {
	switch string(key) {
	case "ph":
		switch {
		case len(val) == 3 && val[0] == '"':
			ev.ph = val[1]
			if ev.ph < ' ' {
				ev.ph = phOther
			}
		case string(val) == `""` || string(val) == "null":
		default:
			ev.ph = phOther
		}
	case "name":
		ev.name = s.name(val)
	case "cat":
		ev.cat = s.name(val)
	case "ts":
		ev.ts = ev.number(val, hasTS)
	case "dur":
		if d := ev.number(val, hasDur); ev.flags&hasDur != 0 {
			ev.dur = d
			ev.flags &^= lengthIsCPU
		}
	case "pid":
		*pid = parseIdent(val)
	case "tid":
		*tid = parseIdent(val)
	case "args":
		if !empty(val) {
			ev.flags |= hasArgs
		}
	case "tts":
		ev.flags |= hasArgs | hasThreadTS
	case "tdur":
		ev.flags |= hasArgs | hasThreadDur
		if d, ok := jsonscan.ParseMicros(jsonscan.Unquoted(val)); ok && ev.flags&hasDur == 0 && (d.US > 0 || d.US == 0 && d.PS > 0) {
			ev.dur = d
			ev.flags |= lengthIsCPU
		}
	case "bind_id", "flow_in", "flow_out":
		ev.flags |= hasBind | hasArgs
	case "id":
		if ev.flags |= hasArgs; ev.id != 0 {
			ev.flags |= oddID
		}
		ev.id = uint32(at)
	case "id2", "scope":
		ev.flags |= hasArgs | oddID
	case "bp":
		if ev.flags |= hasArgs; string(jsonscan.Unquoted(val)) == "e" {
			ev.flags |= bindsEnclosing
		}
	default:
		ev.flags |= hasArgs
	}
}

// number parses a time; null counts as missing.
func (ev *event) number(val []byte, f flag) jsonscan.Micros {
	m, ok := jsonscan.ParseMicros(jsonscan.Unquoted(val))
	switch {
	case ok:
		ev.flags |= f
	case string(val) != "null":
		ev.flags |= badNum
	}
	return m
}

// name interns a name or a category. A number is interned as its digits; for null and ""
// the result is 0.
func (s *scanner) name(val []byte) uint32 {
	q := jsonscan.Unquoted(val)
	if len(q) == 0 || q[0] == 'n' && string(val) == "null" {
		return 0
	}
	return s.names.id(q)
}

// empty reports whether a value has nothing to show: {}, [], "" or null.
func empty(val []byte) bool {
	switch val[0] {
	case '{', '[':
		return jsonscan.Space(val, 1) == len(val)-1
	}
	return string(val) == "null" || string(val) == `""`
}
