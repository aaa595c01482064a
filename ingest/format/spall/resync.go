package spall

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"ashlar/ingest/input/safetext"
)

// record is the part of a record that validation needs; hot loops read records themselves.
type record struct {
	size int // 0 if it is truncated, negative if it cannot be a record
	time float64
	name []byte
	args []byte
}

// flatLayout is the layout of records in versions 0 and 1. A file whose header says
// version 0 may have version 1's layout.
type flatLayout struct{ version int }

// record reads the record at the start of c.
func (l flatLayout) record(c []byte) record {
	need := func(fixed int) bool { return len(c) >= fixed }
	switch {
	case len(c) == 0:
	case c[0] == typeEnd:
		if need(endLen) {
			return record{size: endLen, time: floatAt(c, 9)}
		}
	case c[0] == typeBegin && l.version == 0:
		if need(begin0Len) && need(begin0Len+int(c[17])) {
			n := begin0Len + int(c[17])
			return record{size: n, time: floatAt(c, 9), name: c[begin0Len:n]}
		}
	case c[0] == typeComplete && l.version == 0:
		if need(completeLen) && need(completeLen+int(c[25])) {
			n := completeLen + int(c[25])
			return record{size: n, time: floatAt(c, 9) + floatAt(c, 17), name: c[completeLen:n]}
		}
	case c[0] == typeBegin:
		if need(begin1Len) && need(begin1Len+int(c[18])+int(c[19])) {
			n, a := begin1Len+int(c[18]), int(c[19])
			return record{size: n + a, time: floatAt(c, 10), name: c[begin1Len:n], args: c[n : n+a]}
		}
	case c[0] == typePad && l.version == 1:
		if need(padLen) {
			size := binary.LittleEndian.Uint32(c[1:])
			if uint64(size)+padLen > uint64(len(c)) {
				return record{}
			}
			return record{size: padLen + int(size), time: 0}
		}
	default:
		return record{size: -1}
	}
	return record{}
}

// good reports whether a parsed record looks valid.
func (r *record) good() bool {
	return r.size > 0 && !math.IsNaN(r.time) && !math.IsInf(r.time, 0) && plausible(r.name)
}

// plausible reports whether bytes can be a name: text, without control
// characters, perhaps with a NUL at its end.
func plausible(name []byte) bool {
	if n := len(name); n > 0 && name[n-1] == 0 {
		name = name[:n-1]
	}
	for _, b := range name {
		if b < ' ' && b != '\t' && b != '\n' || b == 0x7f {
			return false
		}
	}
	return utf8.Valid(name)
}

// trial is the number of records examined to tell layouts apart and to find the clock's
// origin.
const trial = 1000

// chooseLayout returns the layout, of versions 0 and 1, under which more of the first
// records are valid. If both fit, the header's version decides.
func chooseLayout(version uint64, first []byte) flatLayout {
	said, other := flatLayout{int(version)}, flatLayout{1 - int(version)}
	n, clean := said.try(first)
	if clean || n >= trial {
		return said
	}
	if m, clean := other.try(first); m > n || m == n && m > 0 && clean {
		return other
	}
	return said
}

// try counts the records at the start of c that make sense; clean reports whether c ends
// with the last of them.
func (l flatLayout) try(c []byte) (n int, clean bool) {
	for n < trial {
		r := l.record(c)
		if r.size == 0 {
			return n, len(c) == 0
		}
		if !r.good() {
			return n, false
		}
		c = c[r.size:]
		n++
	}
	return n, false
}

// firstTimes returns the times of the first records.
func (l flatLayout) firstTimes(c []byte) []float64 {
	var times []float64
	for len(times) < trial {
		r := l.record(c)
		if r.size <= 0 {
			break
		}
		if c[0] == typeBegin || c[0] == typeEnd {
			times = append(times, r.time)
		} else if c[0] == typeComplete {
			times = append(times, floatAt(c, 9))
		}
		c = c[r.size:]
	}
	return times
}

// After an unreadable record, reading resumes at the next place where sureRecords records
// in a row are readable, or where all records up to the end are.
const (
	sureRecords = 8
	// lookAhead is the maximum size of sureRecords records. Longer padding is not
	// believed.
	lookAhead = sureRecords * (completeLen + 2*255)
)

// validate reports whether records begin at c; end means that nothing follows c.
func (l flatLayout) validate(c []byte, end bool) bool {
	for n := range sureRecords {
		if len(c) == 0 {
			return end && n > 0
		}
		r := l.record(c)
		if r.size == 0 {
			return end && n > 1 // the last one is cut
		}
		if !r.good() {
			return false
		}
		c = c[r.size:]
	}
	return true
}

// skipper looks for the next record after one that can't be read.
type skipper struct {
	on    bool
	from  int64 // content offset of the record that can't be read
	what  byte  // type of that record
	first bool  // nothing was skipped yet
}

// search returns the number of bytes of c to skip; found is false if c has no record. The
// result does not depend on where chunks end.
func (s *skipper) search(c []byte, end bool, validate func([]byte, bool) bool) (n int, found bool) {
	i := 0
	if s.first && len(c) > 0 {
		i = 1
	}
	for ; i < len(c); i++ {
		if !end && len(c)-i < lookAhead {
			break
		}
		if t := c[i]; t < typeComplete || t > typeNameThread {
			continue
		}
		if validate(c[i:min(len(c), i+lookAhead)], end && len(c)-i <= lookAhead) {
			s.first = false
			return i, true
		}
	}
	if i > 0 {
		s.first = false
	}
	return i, false
}

// verdict is the decision whether bytes are a record.
type verdict int

const (
	believed verdict = iota
	refused
	undecided // more of the following bytes are needed
)

// believe decides whether bytes with a new name are a record. They are if the name is
// plausible text; otherwise valid records must follow.
func believe(name, after []byte, end bool, validate func([]byte, bool) bool) verdict {
	switch {
	case plausible(name) || end && len(after) == 0:
		return believed
	case !end && len(after) < lookAhead:
		return undecided
	case validate(after[:min(len(after), lookAhead)], end && len(after) <= lookAhead):
		return believed
	}
	return refused
}

// doubt stops before a record with a new name, i bytes after off, that believe has not
// accepted. If believe has rejected it, doubt starts the search for the next record.
func (p *parser) doubt(v verdict, what byte, i int, off int64) int {
	if v == refused {
		p.stuck(what, off+int64(i))
	}
	return i
}

// stuck starts the search for the next record, because the one at off, of type what, is
// unreadable.
func (p *parser) stuck(what byte, off int64) {
	p.skip = skipper{on: true, from: off, what: what, first: true}
}

// resume ends the search: reading continues at off.
func (p *parser) resume(off int64) {
	s := &p.skip
	s.on = false
	n := off - s.from
	if s.what == 1 || s.what == typeInstant || s.what == 6 || s.what == typePad {
		p.note(unknownRecord, s.from, "a record has the type %d, whose layout is unpublished; %s skipped, up to the next readable record", s.what, safetext.Plural(n, "byte"))
	} else {
		p.note(damaged, s.from, "no record starts here (its type would be %d); %s skipped, up to the next readable record", s.what, safetext.Plural(n, "byte"))
	}
	p.count(recUnreadable)
	p.leftOut(recUnreadable, s.from)
}
