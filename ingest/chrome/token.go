package chrome

import (
	"encoding/binary"
	"math/bits"
)

// status says how reading one piece of JSON ended.
type status uint8

const (
	// good: the piece was read to its end.
	good status = iota
	// more: the bytes ended before the piece did.
	more
	// bad: what stands at the position can't be part of the piece.
	bad
)

// maxDepth is how deep arrays and objects may nest inside an event. Real
// events stay below a dozen; the limit bounds the work of finding out that a
// bracket was never closed.
const maxDepth = 1024

// space returns the position of the first byte that is not white space.
func space(b []byte, p int) int {
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

// str finds the end of a string: p is behind the opening quote, end at the
// closing one. escaped tells whether there is a backslash in between. Control
// characters are let pass, as writers do leave them in.
func str(b []byte, p int) (end int, escaped bool, st status) {
	for {
		for p+8 <= len(b) {
			w := binary.LittleEndian.Uint64(b[p:])
			q, s := w^quotes, w^slants
			// Exact for the lowest byte that matches, and that one is wanted.
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
			return p, escaped, more
		}
		if b[p] == '"' {
			return p, escaped, good
		}
		escaped = true
		p += 2
	}
}

// bare marks the bytes that numbers, true, false, null and the likes of NaN
// consist of.
var bare = func() (t [256]bool) {
	for _, c := range "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ+-._" {
		t[c] = true
	}
	return t
}()

// word finds the end of a number or a literal that begins at p. It needs to
// see the byte behind unless final says that there is none.
func word(b []byte, p int, final bool) (end int, st status) {
	e := p
	for e < len(b) && bare[b[e]] {
		e++
	}
	switch {
	case e == len(b) && !final:
		return e, more
	case e == p:
		return e, bad
	}
	return e, good
}

// value finds the end of a value that begins at p. The grammar is checked just
// so far that a bracket or a quote that is missing shows soon, and does not
// swallow the rest of the file. Surplus commas are let pass.
func value(b []byte, p int, final bool) (int, status) {
	p = space(b, p)
	if p >= len(b) {
		return p, more
	}
	switch b[p] {
	case '"':
		e, _, st := str(b, p+1)
		if st != good {
			return e, st
		}
		return e + 1, good
	case '{', '[':
		return nested(b, p, final)
	}
	return word(b, p, final)
}

// nested finds the end of the array or object that begins at p.
func nested(b []byte, p int, final bool) (int, status) {
	var kinds [maxDepth / 64]uint64 // a bit a level: 1 for an object
	depth, object := 0, false
	var st status
	for {
		// Here a value, a key, or a closing bracket may stand.
		if p = space(b, p); p >= len(b) {
			return p, more
		}
		c := b[p]
		switch {
		case c == ',' && depth > 0:
			p++
			continue
		case c == '}' || c == ']':
			if object != (c == '}') {
				return p, bad
			}
			p++
			for {
				if depth--; depth == 0 {
					return p, good
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
					return p, bad
				}
				if p, _, st = str(b, p+1); st != good {
					return p, st
				}
				if p = space(b, p+1); p >= len(b) {
					return p, more
				}
				if b[p] != ':' {
					return p, bad
				}
				if p = space(b, p+1); p >= len(b) {
					return p, more
				}
				c = b[p]
			}
			switch c {
			case '"':
				if p, _, st = str(b, p+1); st != good {
					return p, st
				}
				p++
			case '{', '[':
				if depth == maxDepth {
					return p, bad
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
				if p, st = word(b, p, final); st != good {
					return p, st
				}
			}
		}
		// Behind a value: a comma, or the bracket that closes.
		if p = space(b, p); p >= len(b) {
			return p, more
		}
		switch b[p] {
		case ',':
			p++
		case '}', ']':
		default:
			return p, bad
		}
	}
}

// members walks over the members of an object whose text is known to be
// complete.
type members struct {
	b   []byte
	p   int
	raw []byte // the last key as it is written
}

// object returns a walk over the members of an object; over none when the text
// is not one.
func object(text []byte) members {
	p := space(text, 0)
	if p >= len(text) || text[p] != '{' {
		return members{b: text, p: len(text)}
	}
	return members{b: text, p: p + 1}
}

// next returns the next key, decoded, and the raw text of its value.
func (m *members) next() (key, val []byte, ok bool) {
	for m.p < len(m.b) && (m.b[m.p] <= ' ' || m.b[m.p] == ',') {
		m.p++
	}
	if m.p >= len(m.b) || m.b[m.p] != '"' {
		return nil, nil, false
	}
	e, escaped, st := str(m.b, m.p+1)
	if st != good {
		return nil, nil, false
	}
	key = m.b[m.p+1 : e]
	m.raw = key
	if escaped {
		key = []byte(unescape(key))
	}
	p := space(m.b, e+1)
	if p >= len(m.b) || m.b[p] != ':' {
		return nil, nil, false
	}
	p = space(m.b, p+1)
	if m.p, st = value(m.b, p, true); st != good {
		m.p = len(m.b)
		return nil, nil, false
	}
	return key, m.b[p:m.p], true
}

// elements walks over the elements of an array whose text is known to be
// complete.
type elements struct {
	b []byte
	p int
}

func array(text []byte) elements {
	p := space(text, 0)
	if p >= len(text) || text[p] != '[' {
		return elements{b: text, p: len(text)}
	}
	return elements{b: text, p: p + 1}
}

// next returns the raw text of the next element.
func (a *elements) next() (val []byte, ok bool) {
	for a.p < len(a.b) && (a.b[a.p] <= ' ' || a.b[a.p] == ',') {
		a.p++
	}
	if a.p >= len(a.b) || a.b[a.p] == ']' {
		return nil, false
	}
	p := a.p
	var st status
	if a.p, st = value(a.b, p, true); st != good {
		a.p = len(a.b)
		return nil, false
	}
	return a.b[p:a.p], true
}

// member returns the raw value of a key of an object, nil when it has none.
func member(text []byte, key string) []byte {
	m := object(text)
	for {
		k, v, ok := m.next()
		if !ok {
			return nil
		}
		if string(k) == key {
			return v
		}
	}
}
