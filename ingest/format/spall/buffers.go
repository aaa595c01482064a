package spall

import (
	"encoding/binary"
	"math"

	"ashlar/ingest/input/safetext"
)

// Sizes of the fixed parts of version 3. Events lie in buffers: u32 size, u32
// tid, u32 pid, u64 first_ts, then size bytes of events of that thread.
// Writers store anything in first_ts, so it is not used.
const (
	bufferLen   = 20
	begin3Len   = 11 // u8 type, u64 time, u8 name_len, u8 args_len
	end3Len     = 9  // u8 type, u64 time
	instant3Len = 10 // u8 type, u64 time, u8 name_len
	nameLen     = 2  // u8 type, u8 name_len
)

// events reads the events of one kind of buffer.
type events interface {
	// header reads a buffer's header.
	header(c []byte) (size int64, thread uint64)
	// start is called with the header at the start of each buffer.
	start(header []byte)
	// read reads events of thread t from c, which is at offset off, and returns the
	// number of bytes it used. That is less than len(c) if an event is truncated, or if
	// one cannot be read, in which case bad is true. end means that nothing follows c.
	read(c []byte, off int64, end bool, t *threadState) (n int, bad bool)
	// validate reports whether events begin at c. left is the number of bytes in their
	// buffer from there on (-1 if unknown); end means that nothing follows c, so an event
	// truncated at its end stays truncated.
	validate(c []byte, left int64, end bool) bool
	// begins reports whether c begins with a whole event.
	begins(c []byte) bool
}

// buffers reads version 3, manual and automatic.
type buffers struct {
	*parser
	events    events
	headerLen int

	left   int64 // bytes of the current buffer still to come
	t      *threadState
	pad    int64
	search bool  // looking for a buffer's header
	from   int64 // offset where the search began
	fresh  bool
}

func (r *buffers) chunk(c []byte, off int64, end bool) int {
	i := 0
	for i < len(c) {
		if r.left > 0 {
			n := r.inside(c[i:], off+int64(i), end)
			i += n
			if r.left > 0 && !end {
				return i
			}
			continue
		}
		if r.search {
			n, found := r.findHeader(c[i:], end)
			i += n
			if !found {
				if !end {
					return i
				}
				i = len(c)
			}
			r.foundHeader(off + int64(i))
			continue
		}
		if len(c)-i < r.headerLen || len(c)-i < lookAhead && !end {
			if end {
				r.cut(off+int64(i), len(c)-i)
				return len(c)
			}
			return i
		}
		size, key := r.events.header(c[i:])
		if !r.looksLikeHeader(c[i:], end) {
			r.search, r.from, r.fresh = true, off+int64(i), true
			continue
		}
		r.left = size
		if size > 0 {
			r.t = r.thread(key)
			r.events.start(c[i:])
		}
		i += r.headerLen
	}
	if end && r.left > 0 {
		r.note(cutShort, off+int64(len(c)), "the trace is truncated in a buffer, %s before its end", safetext.Plural(r.left, "byte"))
		r.left = 0
	}
	return i
}

func (r *buffers) cut(off int64, n int) {
	r.note(cutShort, off, "the trace is truncated in a record, after %s", safetext.Plural(n, "byte"))
	r.count(recUnreadable)
	r.leftOut(recUnreadable, off)
}

// inside continues inside a buffer. It returns the number of bytes it used, 0 if it needs
// more.
func (r *buffers) inside(c []byte, off int64, end bool) int {
	whole := int64(len(c)) >= r.left // c reaches to the end of the buffer
	if whole {
		c = c[:r.left]
	}
	used := 0
	for used < len(c) {
		rest := c[used:]
		at := off + int64(used)
		if r.pad > 0 {
			n := int(min(r.pad, int64(len(rest))))
			r.pad -= int64(n)
			used += n
			continue
		}
		if r.skip.on {
			n, found := r.skip.search(rest, whole || end, func(c []byte, end bool) bool { return r.events.validate(c, -1, end) })
			used += n
			if !found && !whole && !end {
				break
			}
			if !found {
				used = len(c)
			}
			r.resume(off + int64(used))
			continue
		}
		n, bad := r.events.read(rest, at, whole || end, r.t)
		used += n
		switch {
		case bad:
			r.stuck(c[used], off+int64(used))
		case r.pad > 0:
		case used == len(c):
		case whole && int64(len(c)) == r.left:
			// The buffer ends in the middle of an event.
			r.note(damagedBuffer, off+int64(used), "an event exceeds its buffer; its last %s are skipped", safetext.Plural(len(c)-used, "byte"))
			r.count(recUnreadable)
			r.leftOut(recUnreadable, off+int64(used))
			used = len(c)
		case end:
			r.cut(off+int64(used), len(c)-used)
			r.left = 0
			return len(c)
		default:
			r.left -= int64(used)
			return used
		}
	}
	r.left -= int64(used)
	if r.left == 0 {
		r.pad = 0
	}
	return used
}

// looksLikeHeader reports whether c begins with a header that events follow. It examines
// at most lookAhead bytes, so that the result does not depend on where a chunk ends.
func (r *buffers) looksLikeHeader(c []byte, end bool) bool {
	if len(c) > lookAhead {
		c, end = c[:lookAhead], false
	}
	size, _ := r.events.header(c)
	rest := c[r.headerLen:]
	switch {
	case size == 0:
		// A buffer may be empty, but zeros are not a header.
		return !allZero(c[:r.headerLen]) || end && len(rest) == 0
	case size <= int64(len(rest)):
		return r.events.validate(rest[:size], size, true) || r.spoiled(rest[:size], rest[size:], end)
	}
	return r.events.validate(rest, size, end)
}

// spoiled reports whether c is the content of a small buffer whose end is unreadable: it
// begins with a whole event, and the next buffer or the end of the file follows.
func (r *buffers) spoiled(c, after []byte, end bool) bool {
	if !r.events.begins(c) {
		return false
	}
	if len(after) < r.headerLen {
		return end && len(after) == 0
	}
	size, _ := r.events.header(after)
	return size > 0 && size <= mostBelieved && r.looksLikeHeader(after, end)
}

func allZero(b []byte) bool {
	for _, x := range b {
		if x != 0 {
			return false
		}
	}
	return true
}

// mostBelieved limits the size in a buffer's header while a buffer is searched for; real
// buffers have a few megabytes.
const mostBelieved = 64 << 20

// findHeader looks for the next buffer.
func (r *buffers) findHeader(c []byte, end bool) (n int, found bool) {
	i := 0
	if r.fresh {
		i = 1
	}
	for ; i < len(c); i++ {
		if len(c)-i < lookAhead && !end || len(c)-i < r.headerLen {
			break
		}
		// An empty buffer proves nothing: a size of 0 may be any zero bytes.
		if size, _ := r.events.header(c[i:]); size > 0 && size <= mostBelieved && r.looksLikeHeader(c[i:], end) {
			return i, true
		}
	}
	if i > 0 {
		r.fresh = false
	}
	return min(i, len(c)), false
}

func (r *buffers) foundHeader(off int64) {
	r.search = false
	r.note(damaged, r.from, "no buffer starts here; %s skipped, up to the next readable one", safetext.Plural(off-r.from, "byte"))
	r.count(recUnreadable)
	r.leftOut(recUnreadable, r.from)
}

// manual3 reads the events of version 3's manual format.
type manual3 struct {
	*parser
	r *buffers
}

func (m *manual3) header(c []byte) (int64, uint64) {
	tid, pid := binary.LittleEndian.Uint32(c[4:]), binary.LittleEndian.Uint32(c[8:])
	return int64(binary.LittleEndian.Uint32(c)), uint64(pid) | uint64(tid)<<32
}

func (m *manual3) start([]byte) {}

func (m *manual3) read(c []byte, off int64, end bool, t *threadState) (int, bool) {
	p := m.parser
	i := 0
	for i < len(c) {
		r := c[i:]
		switch r[0] {
		case typeBegin:
			if len(r) < begin3Len {
				return i, false
			}
			n := int(r[9])
			size := begin3Len + n + int(r[10])
			if len(r) < size {
				return i, false
			}
			id, ok := p.names.quick(r[begin3Len:], n)
			if !ok {
				var v verdict
				if id, v = p.learn(r[begin3Len:begin3Len+n], r[size:], end, m.follow); v != believed {
					return i, v == refused
				}
			}
			at, ok := p.clock.quickInt(binary.LittleEndian.Uint64(r[1:]))
			if !ok {
				at, ok = p.clock.int(binary.LittleEndian.Uint64(r[1:]))
			}
			if !ok || at < t.last {
				at = p.late(t, recBegin, at, ok, off+int64(i))
			}
			ref := uint64(0)
			if args := r[begin3Len+n : size]; len(args) > 0 {
				ref = p.args.ref(args, off+int64(i+begin3Len+n))
			}
			p.begin(t, at, p.child(t.innermost(), id), ref)
			i += size
		case typeEnd:
			if len(r) < end3Len {
				return i, false
			}
			at, ok := p.clock.quickInt(binary.LittleEndian.Uint64(r[1:]))
			if !ok {
				at, ok = p.clock.int(binary.LittleEndian.Uint64(r[1:]))
			}
			p.end(t, at, ok, off+int64(i))
			i += end3Len
		case typePad:
			if len(r) < padLen {
				return i, false
			}
			p.count(recPad)
			m.r.pad = int64(binary.LittleEndian.Uint32(r[1:]))
			return i + padLen, false
		case typeNameProcess, typeNameThread:
			if len(r) < nameLen || len(r) < nameLen+int(r[1]) {
				return i, false
			}
			n := nameLen + int(r[1])
			p.count(recName)
			p.cur.renames = append(p.cur.renames, rename{t.what >> kindBits, r[0] == typeNameProcess, clean(r[nameLen:n])})
			i += n
		case typeInstant:
			n := instant(r)
			if n <= 0 {
				return i, n < 0
			}
			m.instant(r[:n], off+int64(i), t)
			i += n
		default:
			return i, true
		}
		if len(p.cur.events) >= batchLen {
			p.full()
		}
	}
	return i, false
}

// instant returns the size of an Instant: 0 if it is truncated, -1 if it does not have
// the only known layout: u8 5, u64 time, u8 name_len, name.
func instant(r []byte) int {
	if len(r) < instant3Len || len(r) < instant3Len+int(r[9]) {
		return 0
	}
	n := instant3Len + int(r[9])
	if !plausible(r[instant3Len:n]) {
		return -1
	}
	return n
}

func (m *manual3) instant(r []byte, off int64, t *threadState) {
	p := m.parser
	p.count(recInstant)
	at, ok := p.clock.quickInt(binary.LittleEndian.Uint64(r[1:]))
	if !ok {
		at, ok = p.clock.int(binary.LittleEndian.Uint64(r[1:]))
	}
	if !ok {
		at = p.late(t, recInstant, at, false, off)
	}
	p.cur.events = append(p.cur.events, event{at: at, id: p.names.id(r[instant3Len:]), what: t.what | evInstant})
}

// record3 reads the event at the start of c, for validation. Padding may be
// longer than c.
func record3(c []byte) record {
	if len(c) == 0 {
		return record{}
	}
	var r record
	timed := true
	switch c[0] {
	case typeBegin:
		if len(c) < begin3Len || len(c) < begin3Len+int(c[9])+int(c[10]) {
			return record{}
		}
		n := begin3Len + int(c[9])
		r = record{size: n + int(c[10]), name: c[begin3Len:n]}
	case typeEnd:
		if len(c) < end3Len {
			return record{}
		}
		r = record{size: end3Len}
	case typeInstant:
		if len(c) < instant3Len || len(c) < instant3Len+int(c[9]) {
			return record{}
		}
		r = record{size: instant3Len + int(c[9]), name: c[instant3Len : instant3Len+int(c[9])]}
	case typeNameProcess, typeNameThread:
		if len(c) < nameLen || len(c) < nameLen+int(c[1]) {
			return record{}
		}
		r = record{size: nameLen + int(c[1]), name: c[nameLen : nameLen+int(c[1])]}
		timed = false
	case typePad:
		if len(c) < padLen {
			return record{}
		}
		r = record{size: padLen + int(binary.LittleEndian.Uint32(c[1:]))}
		timed = false
	default:
		return record{size: -1}
	}
	if timed {
		r.time = float64(binary.LittleEndian.Uint64(c[1:]))
	} else {
		r.time = math.Inf(-1)
	}
	return r
}

func (m *manual3) validate(c []byte, left int64, end bool) bool {
	for n := range sureRecords {
		r := record3(c)
		switch {
		case r.size == 0:
			return end && (n > 0 || len(c) == 0)
		case r.size < 0 || !plausible(r.name):
			return false
		case r.size > len(c):
			return int64(r.size) <= left // long padding
		}
		c = c[r.size:]
		left -= int64(r.size)
		if len(c) == 0 {
			return true
		}
	}
	return true
}

func (m *manual3) begins(c []byte) bool {
	r := record3(c)
	return r.size > 0 && r.size <= len(c) && plausible(r.name)
}

// follow is like validate, for a buffer of unknown size.
func (m *manual3) follow(c []byte, end bool) bool { return m.validate(c, -1, end) }

// firstTicks returns the times of the first events of a version 3 trace.
func firstTicks(c []byte) []uint64 {
	var times []uint64
	for len(times) < trial && len(c) >= bufferLen {
		size := min(uint64(len(c)-bufferLen), uint64(binary.LittleEndian.Uint32(c)))
		events := c[bufferLen : bufferLen+size]
		c = c[bufferLen+size:]
		for len(times) < trial {
			r := record3(events)
			if r.size <= 0 || r.size > len(events) || !plausible(r.name) {
				break
			}
			if !math.IsInf(r.time, 0) {
				times = append(times, binary.LittleEndian.Uint64(events[1:]))
			}
			events = events[r.size:]
		}
	}
	return times
}
