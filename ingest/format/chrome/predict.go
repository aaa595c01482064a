package chrome

import (
	"encoding/binary"
	"math/bits"

	"ashlar/ingest/input/jsonscan"
)

// How most events are read.
//
// A program writes all its events with the same keys, order and white space. So the
// scanner remembers each text between two values, such as `,"ts":`, with its key and the
// texts that followed its value. If an event repeats these texts, only its values are
// parsed. Any other event is read by parsed, member by member, which is how the scanner
// learns new texts. Equal bytes have equal meaning, so the result does not depend on what
// was learned.

// link is the text between two values of an event, or before the first one.
type link struct {
	// The first 16 bytes of text, and a mask of the bytes present.
	words, masks [2]uint64
	text         string
	next         [4]*link // links seen after its value, the likeliest first
	key          []byte
	last         string // for a category: its latest value, without quotes
	lastID       uint32
	field        field
}

// field identifies a common member of an event.
type field uint8

const (
	otherField field = iota
	phField
	tsField
	durField
	pidField
	tidField
	nameField
	catField
)

var fields = map[string]field{"ph": phField, "ts": tsField, "dur": durField, "pid": pidField, "tid": tidField, "name": nameField, "cat": catField}

const (
	maxLink  = 64  // maximum length of a link in bytes
	maxLinks = 128 // maximum number of links of a file
	// An event that was not predicted costs as much trust as missCost predicted ones
	// earn. While trust is below -distrust, prediction is off.
	missCost = 4
	distrust = 256
)

// links holds the links that a scanner has learned.
type links struct {
	first  link // stands for the opening brace
	byText map[string]*link
	trust  int
}

// learn records that text, which contains key, followed a link's value. It returns the
// link for text, or nil if there is no room.
func (s *links) learn(l *link, text, key []byte) *link {
	if l == nil || len(text) > maxLink {
		return nil
	}
	free := len(l.next) - 1
	for i := free; i >= 0; i-- {
		switch n := l.next[i]; {
		case n == nil:
			free = i
		case n.text == string(text):
			return n
		}
	}
	n := s.byText[string(text)]
	if n == nil {
		if len(s.byText) == maxLinks {
			return nil
		}
		n = &link{text: string(text), key: []byte(string(key)), field: fields[string(key)]}
		var head [16]byte
		for i := range copy(head[:], text) {
			n.masks[i/8] |= 0xff << (i % 8 * 8)
		}
		n.words = [2]uint64{binary.LittleEndian.Uint64(head[:]), binary.LittleEndian.Uint64(head[8:])}
		if s.byText == nil {
			s.byText = map[string]*link{}
		}
		s.byText[n.text] = n
	}
	l.next[free] = n
	return n
}

// follow returns the link whose text is at p, nil if none of the known successors
// matches.
func (l *link) follow(b []byte, p int) *link {
	if p+maxLink >= len(b) {
		return nil
	}
	head := (*[16]byte)(b[p:])
	w, x := binary.LittleEndian.Uint64(head[:]), binary.LittleEndian.Uint64(head[8:])
	for i, n := range &l.next {
		if n == nil {
			return nil
		}
		if (w^n.words[0])&n.masks[0]|(x^n.words[1])&n.masks[1] != 0 {
			continue
		}
		if len(n.text) > 16 && string(b[p:p+len(n.text)]) != n.text {
			continue
		}
		if i > 0 {
			l.next[i], l.next[i-1] = l.next[i-1], n
		}
		return n
	}
	return nil
}

// predicted reads the event that begins with the brace at p if all texts between its
// values are known from earlier events. If not, ok is false and ev is invalid.
func (s *scanner) predicted(b []byte, p int, ev *event) (end int, ok bool) {
	var pid, tid ident
	l := &s.links.first
	p++
	for {
		if l = l.follow(b, p); l == nil {
			return 0, false
		}
		v := p + len(l.text)
		if b[v] <= ' ' {
			return 0, false // more white space than expected
		}
		switch p = s.value(b, v, l, ev, &pid, &tid); {
		case p == v:
			var st jsonscan.Status
			if p, st = jsonscan.Value(b, v, s.final); st != jsonscan.Good {
				return 0, false
			}
			s.field(ev, l.key, b[v:p], v, &pid, &tid)
			if p == len(b) {
				return 0, false
			}
		case p > len(b)-1:
			return 0, false
		}
		if c := b[p]; c <= ' ' {
			if q := jsonscan.Space(b, p); q < len(b) && b[q] == '}' {
				p = q
			}
		}
		if b[p] == '}' {
			break
		}
	}
	ev.thread = s.thread(pid, tid)
	return p + 1, true
}

// value reads the value at v of a common field in its usual notation, and returns the end
// of the value; v if the notation is unusual.
func (s *scanner) value(b []byte, v int, l *link, ev *event, pid, tid *ident) (end int) {
	switch l.field {
	case phField:
		if b[v] == '"' && v+2 < len(b) && b[v+2] == '"' && b[v+1] > ' ' && b[v+1] != '"' && b[v+1] != '\\' {
			ev.ph = b[v+1]
			return v + 3
		}
	case tsField:
		if m, end := plainMicros(b, v); end > v {
			ev.ts = m
			ev.flags |= hasTS
			return end
		}
	case durField:
		if m, end := plainMicros(b, v); end > v {
			ev.dur = m
			ev.flags = ev.flags&^lengthIsCPU | hasDur
			return end
		}
	case pidField:
		if n, end := plainInt(b, v); end > v {
			*pid = ident{n: int64(n)}
			return end
		}
	case tidField:
		if n, end := plainInt(b, v); end > v {
			*tid = ident{n: int64(n)}
			return end
		}
	case nameField:
		if b[v] == '"' && b[v+1] != '"' {
			if e, _, st := jsonscan.Str(b, v+1); st == jsonscan.Good {
				ev.name = s.names.id(b[v+1 : e])
				return e + 1
			}
		}
	case catField:
		if b[v] != '"' || b[v+1] == '"' {
			return v
		}
		if e := v + 1 + len(l.last); l.lastID != 0 && e < len(b) && b[e] == '"' && string(b[v+1:e]) == l.last {
			ev.cat = l.lastID
			return e + 1
		}
		if e, _, st := jsonscan.Str(b, v+1); st == jsonscan.Good {
			ev.cat = s.names.id(b[v+1 : e])
			l.lastID, l.last = ev.cat, s.names.raw[ev.cat-1]
			return e + 1
		}
	}
	return v
}

// digits reads digits, eight at a time. The result is valid for at most 18 digits.
func digits(b []byte, p int) (n uint64, end int) {
	for p+8 <= len(b) {
		t := binary.LittleEndian.Uint64(b[p:]) ^ '0'*ones
		k := bits.TrailingZeros64((t+0x76*ones|t)&highs) >> 3 // number of digits among the eight bytes
		if k == 0 {
			return n, p
		}
		t <<= 64 - 8*k // pad with leading zeros
		t = t * (10<<8 + 1) >> 8 & 0x00ff00ff00ff00ff
		t = t * (100<<16 + 1) >> 16 & 0x0000ffff0000ffff
		n = n*tens[k] + t*(10000<<32+1)>>32
		if p += k; k < 8 {
			return n, p
		}
	}
	for p < len(b) && b[p]-'0' <= 9 {
		n = n*10 + uint64(b[p]-'0')
		p++
	}
	return n, p
}

const (
	ones  = 0x0101010101010101
	highs = 0x80 * ones
)

var tens = [9]uint64{1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000}

// plainInt reads a number of at most 18 digits that is followed by the end of a member or
// of the event. If there is none, end is v.
func plainInt(b []byte, v int) (n uint64, end int) {
	n, p := digits(b, v)
	if p == v || p > v+18 || p >= len(b) || b[p] > ' ' && b[p] != ',' && b[p] != '}' {
		return 0, v
	}
	return n, p
}

// plainMicros is like plainInt, for a number with at most six decimals.
func plainMicros(b []byte, v int) (m jsonscan.Micros, end int) {
	n, p := digits(b, v)
	if p == v || p > v+18 || p >= len(b) {
		return m, v
	}
	m.US = int64(n)
	if b[p] == '.' {
		frac, q := digits(b, p+1)
		k := q - p - 1 // number of decimals
		if k > 6 || q >= len(b) {
			return m, v
		}
		m.PS, p = int32(frac*tens[6-k]), q
	}
	if b[p] > ' ' && b[p] != ',' && b[p] != '}' {
		return m, v
	}
	return m, p
}
