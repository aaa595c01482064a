// Package jsonscan scans JSON in place, leniently and without copying: it finds the ends
// of strings, numbers and values one machine word at a time. [Value] checks the grammar
// only enough that a missing bracket or quote shows soon.
package jsonscan

import (
	"encoding/binary"
	"math/bits"
)

// A Status is the outcome of reading one piece of JSON.
type Status uint8

const (
	// Good means that the piece was read to its end.
	Good Status = iota
	// More means that the bytes ended before the piece did.
	More
	// Bad means that the byte at the position cannot be part of the piece.
	Bad
)

// maxDepth is the maximum nesting depth of arrays and objects inside an event. Real
// events nest less than a dozen levels; the limit bounds the work spent on a bracket that
// is never closed.
const maxDepth = 1024

// Space returns the position of the first byte that is not white space.
func Space(b []byte, p int) int {
	for p < len(b) && b[p] <= ' ' {
		p++
	}
	return p
}

const (
	ones   = 0x0101010101010101
	highs  = 0x8080808080808080
	quotes = '"' * ones
	slants = '\\' * ones
)

// Str finds the end of a string. p is after the opening quote, and end is at the closing
// one. escaped reports whether there is a backslash in between. Control characters are
// accepted, because some writers do not escape them.
func Str(b []byte, p int) (end int, escaped bool, st Status) {
	for {
		for p+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[p:])
			q, s := w^quotes, w^slants
			// This is exact for the lowest matching byte, which is the one needed.
			m := ((q-ones)&^q | (s-ones)&^s) & highs
			if m != 0 {
				p += bits.TrailingZeros64(m) >> 3
				break
			}
			p += 8
		}
		for p < len(b) && b[p] != '"' && b[p] != '\\' {
			p++
		}
		if p >= len(b) {
			return p, escaped, More
		}
		if b[p] == '"' {
			return p, escaped, Good
		}
		escaped = true
		p += 2
	}
}

// bare marks the bytes of numbers, true, false, null and words like NaN.
var bare = func() (t [256]bool) {
	for _, c := range "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-._" {
		t[c] = true
	}
	return t
}()

// word finds the end of the number or literal that begins at p. It needs the byte after
// it, unless final is set, which means that nothing follows b.
func word(b []byte, p int, final bool) (end int, st Status) {
	e := p
	for e < len(b) && bare[b[e]] {
		e++
	}
	switch {
	case e == len(b) && !final:
		return e, More
	case e == p:
		return e, Bad
	}
	return e, Good
}

// Value finds the end of the value that begins at p; final means that nothing follows b.
// It checks the grammar only enough to notice a missing bracket or quote early, before
// the rest of the file is consumed. Surplus commas are accepted.
func Value(b []byte, p int, final bool) (int, Status) {
	p = Space(b, p)
	if p >= len(b) {
		return p, More
	}
	switch b[p] {
	case '"':
		e, _, st := Str(b, p+1)
		if st != Good {
			return e, st
		}
		return e + 1, Good
	case '{', '[':
		return nested(b, p, final)
	}
	return word(b, p, final)
}

// nested finds the end of the array or object that begins at p.
func nested(b []byte, p int, final bool) (int, Status) {
	var kinds [maxDepth / 64]uint64 // a bit a level: 1 for an object
	depth, object := 0, false
	var st Status
	for {
		// Here a value, a key, or a closing bracket may occur.
		if p = Space(b, p); p >= len(b) {
			return p, More
		}
		c := b[p]
		switch {
		case c == ',' && depth > 0:
			p++
			continue
		case c == '}' || c == ']':
			if object != (c == '}') {
				return p, Bad
			}
			p++
			for {
				if depth--; depth == 0 {
					return p, Good
				}
				object = kinds[(depth-1)>>6]>>((depth-1)&63)&1 != 0
				// Runs of closing brackets are common.
				if p < len(b) && (b[p] == '}' && object || b[p] == ']' && !object) {
					p++
					continue
				}
				break
			}
		default:
			if object {
				if c != '"' {
					return p, Bad
				}
				if p, _, st = Str(b, p+1); st != Good {
					return p, st
				}
				if p = Space(b, p+1); p >= len(b) {
					return p, More
				}
				if b[p] != ':' {
					return p, Bad
				}
				if p = Space(b, p+1); p >= len(b) {
					return p, More
				}
				c = b[p]
			}
			switch c {
			case '"':
				if p, _, st = Str(b, p+1); st != Good {
					return p, st
				}
				p++
			case '{', '[':
				if depth == maxDepth {
					return p, Bad
				}
				object = c == '{'
				k := &kinds[depth>>6]
				*k &^= 1 << (depth & 63)
				if object {
					*k |= 1 << (depth & 63)
				}
				depth++
				p++
				continue
			default:
				if p, st = word(b, p, final); st != Good {
					return p, st
				}
			}
		}
		// After a value: a comma or the closing bracket.
		if p = Space(b, p); p >= len(b) {
			return p, More
		}
		switch b[p] {
		case ',':
			p++
		case '}', ']':
		default:
			return p, Bad
		}
	}
}

// Members iterates over the members of an object whose text must be complete.
type Members struct {
	b []byte
	p int
	// Raw is the last key as it is written.
	Raw []byte
}

// Object returns an iterator over the members of an object. It has no members if the text
// is not an object.
func Object(text []byte) Members {
	p := Space(text, 0)
	if p >= len(text) || text[p] != '{' {
		return Members{b: text, p: len(text)}
	}
	return Members{b: text, p: p + 1}
}

// Next returns the next key, decoded, and the raw text of its value.
func (m *Members) Next() (key, val []byte, ok bool) {
	if key, ok = m.key(); !ok {
		return nil, nil, false
	}
	p := m.p
	if !m.pass() {
		return nil, nil, false
	}
	return key, m.b[p:m.p], true
}

// All yields the remaining members, each with its decoded key and the raw text of its
// value: for key, val := range jsonscan.Object(text).All.
func (m Members) All(yield func(key, val []byte) bool) {
	for {
		if key, val, ok := m.Next(); !ok || !yield(key, val) {
			return
		}
	}
}

// Inside returns the members of the object that is the first value of a key, among the
// remaining members. Unlike Member, it does not look for the object's end first. ok is
// false if there is no such key.
func (m Members) Inside(key string) (in Members, ok bool) {
	for {
		k, ok := m.key()
		if !ok {
			return m, false
		}
		if string(k) == key {
			return Object(m.b[m.p:]), true
		}
		if !m.pass() {
			return m, false
		}
	}
}

// key reads the next key and advances to its value.
func (m *Members) key() (key []byte, ok bool) {
	for m.p < len(m.b) && (m.b[m.p] <= ' ' || m.b[m.p] == ',') {
		m.p++
	}
	if m.p >= len(m.b) || m.b[m.p] != '"' {
		return nil, false
	}
	e, escaped, st := Str(m.b, m.p+1)
	if st != Good {
		return nil, false
	}
	key = m.b[m.p+1 : e]
	m.Raw = key
	if escaped {
		key = []byte(Unescape(key))
	}
	p := Space(m.b, e+1)
	if p >= len(m.b) || m.b[p] != ':' {
		return nil, false
	}
	m.p = Space(m.b, p+1)
	return key, true
}

// pass skips the current value.
func (m *Members) pass() bool {
	p, st := Value(m.b, m.p, true)
	if m.p = p; st != Good {
		m.p = len(m.b)
		return false
	}
	return true
}

// Elements iterates over the elements of an array whose text must be complete.
type Elements struct {
	b []byte
	p int
}

// Array returns an iterator over the elements of an array. It has no elements if the text
// is not an array.
func Array(text []byte) Elements {
	p := Space(text, 0)
	if p >= len(text) || text[p] != '[' {
		return Elements{b: text, p: len(text)}
	}
	return Elements{b: text, p: p + 1}
}

// Next returns the raw text of the next element.
func (a *Elements) Next() (val []byte, ok bool) {
	for a.p < len(a.b) && (a.b[a.p] <= ' ' || a.b[a.p] == ',') {
		a.p++
	}
	if a.p >= len(a.b) || a.b[a.p] == ']' {
		return nil, false
	}
	p := a.p
	var st Status
	if a.p, st = Value(a.b, p, true); st != Good {
		a.p = len(a.b)
		return nil, false
	}
	return a.b[p:a.p], true
}

// All yields the raw texts of the remaining elements.
func (a Elements) All(yield func(val []byte) bool) {
	for {
		if val, ok := a.Next(); !ok || !yield(val) {
			return
		}
	}
}

// Member returns the raw value of a key of an object, nil when it has none.
func Member(text []byte, key string) []byte {
	for k, v := range Object(text).All {
		if string(k) == key {
			return v
		}
	}
	return nil
}

// A Skipper skips a value, in any number of pieces, without keeping it.
type Skipper struct {
	// Done means that the value has ended.
	Done   bool
	depth  int
	quoted bool
	slant  bool // the byte before was a backslash

}

// Run skips b and returns the number of its bytes that belong to the value.
func (s *Skipper) Run(b []byte) int {
	for p := 0; p < len(b); p++ {
		c := b[p]
		switch {
		case s.slant:
			s.slant = false
		case s.quoted && c == '\\':
			s.slant = true
		case s.quoted:
			if c == '"' {
				s.quoted = false
				if s.depth == 0 {
					s.Done = true
					return p + 1
				}
			}
		case c == '"':
			s.quoted = true
		case c == '{' || c == '[':
			s.depth++
		case c == '}' || c == ']':
			if s.depth == 0 {
				s.Done = true
				return p
			}
			if s.depth--; s.depth == 0 {
				s.Done = true
				return p + 1
			}
		case s.depth == 0 && c == ',':
			s.Done = true
			return p
		}
	}
	return len(b)
}

// KeysOf returns the keys in the part of an object that head contains; nil if head does
// not begin with an object.
func KeysOf(head []byte, whole bool) map[string]bool {
	p := Space(head, 0)
	if p == len(head) || head[p] != '{' {
		return nil
	}
	keys, _ := Keys(head[p:], whole)
	return keys
}

// Keys returns the keys of the object at the start of b, as far as b goes. end is the
// index after the object, 0 if that is not in b.
func Keys(b []byte, whole bool) (keys map[string]bool, end int) {
	keys = map[string]bool{}
	p := 1
	for {
		for p < len(b) && (b[p] <= ' ' || b[p] == ',') {
			p++
		}
		if p == len(b) {
			return keys, 0
		}
		if b[p] == '}' {
			return keys, p + 1
		}
		if b[p] != '"' {
			return keys, 0
		}
		e, _, st := Str(b, p+1)
		if st != Good {
			return keys, 0
		}
		key := Unescape(b[p+1 : e])
		if p = Space(b, e+1); p >= len(b) || b[p] != ':' {
			return keys, 0
		}
		keys[key] = true
		if p, st = Value(b, p+1, whole); st != Good {
			return keys, 0
		}
	}
}
