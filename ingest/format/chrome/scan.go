package chrome

import (
	"bytes"

	"ashlar/ingest/input/jsonscan"
)

// mode is the scanner's place in the file's outermost structure.
type mode uint8

const (
	atStart   mode = iota // before the first bracket
	inEvents              // among the events
	inTop                 // among the members of the outermost object
	inFrames              // among the members of stackFrames
	inSamples             // among the elements of the top level's samples
	inNodes               // among the elements of a CPU profile's nodes
	inDeltas              // among the elements of a CPU profile's timeDeltas
	inSkip                // inside a top-level value that is not needed
	atEnd                 // after the last bracket
)

const (
	// maxEvent is the maximum size of an element, in bytes. A longer one has probably
	// lost a quote or a bracket.
	maxEvent = 256 << 20
	// maxTool is the maximum size of a top-level value kept as metadata, in bytes.
	maxTool = 1 << 20
	// patience is the number of bytes that may be read a second time to find the end of
	// damage, in addition to the number of bytes read so far.
	patience = 64 << 20
)

// scanner turns chunks of bytes into batches of events. Its only state is its position
// and the interned strings: an element cut by the end of a chunk is read again with the
// next chunk.
type scanner struct {
	position
	final  bool // no bytes follow the current ones
	hungry bool // the current element continues after the current bytes
	found  bool // an event list inside an object has begun

	names   *interner
	threads *threadTable
	links   links
}

// position is a scanner's place in the file's structure. It holds everything on which the
// meaning of the following bytes depends.
type position struct {
	mode    mode
	wrapped bool // the events are in an object
	bare    bool // the events are not inside anything, not even an array
	comma   bool // a comma or an opening bracket is before the next event
	lost    bool // searching for the next event after damage
	garbage bool // the preceding bytes were not an element
	prev    byte // while lost: the last byte other than white space
	skip    jsonscan.Skipper
	reread  int64
}

func newScanner() *scanner {
	return &scanner{names: newInterner(), threads: newThreadTable()}
}

// scan reads b, which is at offset base of the content and follows the bytes used so far,
// and returns the number of bytes used. The rest must be passed again, followed by more
// bytes. If final is true, no bytes follow and all of b is used.
func (s *scanner) scan(b []byte, base int64, final bool, out *batch) int {
	s.final, s.hungry = final, false
	out.chunk, out.base = b, base
	p := 0
	for p < len(b) && !s.hungry {
		switch s.mode {
		case inEvents:
			p = s.events(b, p, out)
		case inTop:
			p = s.top(b, p, out)
		case inSkip:
			p += s.skip.Run(b[p:])
			if s.skip.Done {
				s.mode = inTop
			}
		case inFrames, inSamples, inNodes, inDeltas:
			p = s.list(b, p, out)
		default:
			p = s.outside(b, p, out)
		}
	}
	if final {
		if s.mode != atStart && s.mode != atEnd && (s.wrapped || s.mode != inEvents) {
			out.add(phUnclosed, len(b), len(b))
		}
		p = len(b)
	}
	out.names, out.threads = s.names.take(), s.threads.take()
	return p
}

// outside reads the bytes before the first bracket or after the last.
func (s *scanner) outside(b []byte, p int, out *batch) int {
	for p < len(b) && (b[p] <= ' ' || b[p] == ',' || b[p] >= 0x80 && s.mode == atStart) {
		if p++; b[p-1] == 0 {
			p += zeros(b[p:])
		}
	}
	if p == len(b) {
		return p
	}
	if s.mode == atStart {
		switch b[p] {
		case '[':
			s.mode, s.comma = inEvents, true
			return p + 1
		case '{':
			bare, known := bareEvent(b[p:min(len(b), p+maxFirst)], s.final)
			if !known && len(b)-p < maxFirst {
				s.hungry = true
				return p
			}
			if bare {
				s.mode, s.comma, s.bare = inEvents, true, true
				return p
			}
			s.mode, s.wrapped = inTop, true
			return p + 1
		}
	}
	// Files are sometimes appended to or concatenated, so continue.
	out.add(phStray, p, p+1)
	s.mode, s.comma = inEvents, true
	switch b[p] {
	case '{':
		return p
	case '[':
		return p + 1
	}
	s.lose(b[p])
	return p + 1
}

// maxFirst is the number of bytes of the outermost object that are examined to
// distinguish a single event from an object that contains events.
const maxFirst = 64 << 10

// bareEvent reports whether the object at the beginning of b is an event itself: some
// programs write one event per line, without brackets around them. known is false if b is
// too short to tell.
func bareEvent(b []byte, whole bool) (bare, known bool) {
	keys, end := jsonscan.Keys(b, whole)
	if keys["traceEvents"] || keys["nodes"] {
		return false, true
	}
	bare = keys["ph"] && (keys["ts"] || keys["pid"] || keys["tid"] || keys["name"])
	return bare, bare || end > 0 || whole
}

// events reads events until their list or b ends.
func (s *scanner) events(b []byte, p int, out *batch) int {
	for {
		if s.lost {
			if p = s.find(b, p); s.lost {
				return p
			}
		}
		for p < len(b) && (b[p] <= ' ' || b[p] == ',') {
			if b[p] == ',' {
				s.comma = true
			}
			if p++; b[p-1] == 0 {
				p += zeros(b[p:])
			}
		}
		if p == len(b) {
			return p
		}
		var end int
		var st jsonscan.Status
		switch b[p] {
		case '{':
			ev := out.add(phNone, p, p)
			if end, st = s.event(b, p, ev); st == jsonscan.Good && blanksIn(b[p:end]) == 0 {
				ev.end = uint32(end)
				if !s.comma {
					out.add(phComma, p, p)
				}
			} else {
				out.events = out.events[:len(out.events)-1]
			}
		case ']':
			s.mode = atEnd
			if s.wrapped {
				s.mode = inTop
			}
			return p + 1
		case '}':
			if s.wrapped {
				s.mode = atEnd
				out.add(phUnclosed, p, p)
			} else {
				out.add(phStray, p, p+1)
			}
			return p + 1
		default:
			// Ignore null: some writers put one first or last, to simplify commas.
			if end, st = jsonscan.Value(b, p, s.final); st == jsonscan.Good && string(b[p:end]) != "null" {
				out.add(phScalar, p, end)
			}
		}
		read := b[p:min(end, len(b))]
		if st == jsonscan.More {
			read = b[p:]
		}
		if n := blanksIn(read); n > 0 {
			end, st = p+n, jsonscan.Bad
		}
		switch {
		case st == jsonscan.Good:
			p, s.comma = end, s.bare
		case s.waits(b, p, st):
			s.hungry = true
			return p
		default:
			s.comma = false
			p = s.damage(b, p, min(end, len(b)), st == jsonscan.More, out)
		}
	}
}

// damage records that the element at start could not be read because of the bytes at p
// (or because it never ends), and returns the position where reading continues.
func (s *scanner) damage(b []byte, start, p int, endless bool, out *batch) int {
	// Most writers put one event per line. If a quote is missing, the next event may lie
	// inside what looks like a string, so continue at the next line that begins like an
	// event.
	if s.reread < patience+out.base+int64(start) {
		if q := lineStart(b, start+1, p); q > 0 {
			s.reread += int64(p - q)
			out.add(phBad, start, q)
			s.comma = true
			return q
		}
	}
	if endless && s.final {
		out.add(phCut, start, len(b))
		return len(b)
	}
	p = max(p, start+1)
	out.add(phBad, start, p)
	s.lose(b[p-1])
	return p
}

// lose begins the search for the next event; prev is the last byte before the search.
func (s *scanner) lose(prev byte) { s.lost, s.prev = true, prev }

// lineStart returns the position of the first brace in b[from:to+1] that begins a line,
// ignoring commas before it, or 0.
func lineStart(b []byte, from, to int) int {
	for p := from; p <= to && p < len(b); {
		i := bytes.IndexByte(b[p:], '\n')
		if i < 0 || p+i > to {
			return 0
		}
		p += i + 1
		for p < len(b) && (b[p] <= ' ' || b[p] == ',') {
			p++
		}
		if p < len(b) && p <= to && b[p] == '{' {
			return p
		}
	}
	return 0
}

// find searches for the beginning of an event: {" or {} that does not follow a colon.
func (s *scanner) find(b []byte, p int) int {
	for ; p < len(b); p++ {
		c := b[p]
		if c <= ' ' {
			continue
		}
		if c == '{' && s.prev != ':' {
			q := jsonscan.Space(b, p+1)
			if q == len(b) && !s.final {
				s.hungry = true
				return p
			}
			if q < len(b) && (b[q] == '"' || b[q] == '}') {
				s.lost, s.comma = false, true
				return p
			}
		}
		s.prev = c
	}
	return p
}

// top reads the next member of the outermost object up to its value, or the end of the
// object.
func (s *scanner) top(b []byte, p int, out *batch) int {
	from := p
	for p < len(b) && (b[p] <= ' ' || b[p] == ',') {
		p++
	}
	if p == len(b) {
		return p
	}
	switch b[p] {
	case '}':
		s.mode = atEnd
		return p + 1
	case '"':
	default:
		out.add(phStray, p, p+1)
		s.mode = inEvents
		if b[p] == '{' {
			s.comma = true
			return p
		}
		s.lose(b[p])
		return p + 1
	}
	e, _, st := jsonscan.Str(b, p+1)
	if st == jsonscan.More {
		return s.wait(b, from, p, out)
	}
	key := b[p+1 : e]
	v := jsonscan.Space(b, e+1)
	if v < len(b) && b[v] != ':' {
		out.add(phBad, p, v)
		s.mode = inEvents
		s.lose(b[v-1])
		return v
	}
	if v < len(b) {
		v = jsonscan.Space(b, v+1)
	}
	if v >= len(b) {
		return s.wait(b, from, p, out)
	}
	return s.member(b, p, v, string(jsonscan.Unquoted(key)), out)
}

// wait requests more bytes of the element at p, or records that the file ends inside it.
func (s *scanner) wait(b []byte, from, p int, out *batch) int {
	if s.waits(b, p, jsonscan.More) {
		s.hungry = true
		return from
	}
	out.add(phCut, p, len(b))
	return len(b)
}

// member starts reading the value at v of the top-level key at p.
func (s *scanner) member(b []byte, p, v int, key string, out *batch) int {
	s.garbage = false
	switch {
	case key == "traceEvents" && b[v] == '[':
		s.mode, s.comma, s.found = inEvents, true, true
		return v + 1
	case key == "samples" && b[v] == '[':
		s.mode = inSamples
		return v + 1
	case key == "nodes" && b[v] == '[':
		s.mode = inNodes
		return v + 1
	case key == "timeDeltas" && b[v] == '[':
		s.mode = inDeltas
		return v + 1
	case key == "stackFrames" && b[v] == '{':
		s.mode = inFrames
		return v + 1
	case key == "startTime" || key == "endTime":
		e, st := jsonscan.Value(b, v, s.final)
		if st == jsonscan.More && !s.final && len(b)-v <= maxTool {
			s.hungry = true
			return p
		}
		if m, ok := jsonscan.ParseMicros(jsonscan.Unquoted(b[v:min(e, len(b))])); ok && st == jsonscan.Good {
			ev := out.add(phStart, v, e)
			ev.ts, ev.flags = m, hasTS
			if key == "endTime" {
				ev.ph = phEnd
			}
			return e
		}
	case b[v] == '{' && (key == "metadata" || key == "otherData" || key == "clientInfo"):
		e, st := jsonscan.Value(b, v, s.final)
		if st == jsonscan.More && !s.final && len(b)-v <= maxTool {
			s.hungry = true
			return p
		}
		if st == jsonscan.Good && e-v <= maxTool {
			out.add(phTool, v, e)
			return e
		}
	default:
		ph, most, from := phMember, maxTool, p
		if key == "systemTraceEvents" && b[v] == '"' {
			ph, most, from = phSystem, maxEvent, v
		}
		e, st := jsonscan.Value(b, v, s.final)
		if st == jsonscan.More && !s.final && len(b)-v <= most {
			s.hungry = true
			return p
		}
		if st == jsonscan.Good && e-v <= most {
			out.add(ph, from, e)
			return e
		}
	}
	out.add(phSkipped, p, v)
	s.mode, s.skip = inSkip, jsonscan.Skipper{}
	return v
}

// list reads elements of a top-level array, or of stackFrames, until the list or b ends.
func (s *scanner) list(b []byte, p int, out *batch) int {
	for {
		for p < len(b) && (b[p] <= ' ' || b[p] == ',') {
			p++
		}
		if p == len(b) {
			return p
		}
		if b[p] == ']' || b[p] == '}' {
			s.mode = inTop
			return p + 1
		}
		end, st := jsonscan.Value(b, p, s.final)
		if st == jsonscan.Good && s.mode == inFrames {
			if end = jsonscan.Space(b, end); end == len(b) {
				st = jsonscan.More
			} else if b[p] != '"' || b[end] != ':' {
				st = jsonscan.Bad
			} else {
				end, st = jsonscan.Value(b, end+1, s.final)
			}
		}
		switch {
		case st == jsonscan.Good:
			s.element(b, p, end, out)
			s.garbage = false
			p = end
		case s.waits(b, p, st):
			s.hungry = true
			return p
		case st == jsonscan.More:
			out.add(phCut, p, len(b))
			return len(b)
		default:
			end = max(end, p+1)
			if !s.garbage {
				out.add(phBad, p, end)
			}
			s.garbage = true
			p = end
		}
	}
}

// element adds an element of the current list.
func (s *scanner) element(b []byte, p, end int, out *batch) {
	if s.mode == inFrames {
		out.add(phFrame, p, end)
		return
	}
	if b[p] == '{' {
		switch s.mode {
		case inSamples:
			out.add(phSample, p, end)
		case inNodes:
			out.add(phNode, p, end)
		default:
			out.add(phScalar, p, end)
		}
		return
	}
	m, ok := jsonscan.ParseMicros(jsonscan.Unquoted(b[p:end]))
	switch {
	case !ok || s.mode == inNodes:
		out.add(phScalar, p, end)
	case s.mode == inSamples:
		ev := out.add(phSampleID, p, end)
		ev.ts, ev.flags = m, hasTS
	default:
		ev := out.add(phDelta, p, end)
		ev.ts, ev.flags = m, hasTS
	}
}
