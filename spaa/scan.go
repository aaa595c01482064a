package spaa

import (
	"fmt"
	"math/bits"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// This file is the JSON scanner under [Parser]: strict RFC 8259, one pass, no allocation
// except for strings with escapes. All functions take the text and an index and return
// the index after the text they read, or one of the negative results below.
const (
	syntaxErr = -1 // Parser.err has the error and its position
	mismatch  = -2 // well-formed so far, but not of the expected JSON type
	otherKind = -3 // the record is of another kind than assumed
)

// SyntaxError reports the position at which a line stops being JSON.
type SyntaxError struct {
	Offset int    // byte offset in the line, from 0
	Msg    string // description of the fault
	// AtEnd is set when the line ended too early: more bytes could have made
	// it valid, as in a file that was cut.
	AtEnd bool
}

func (e *SyntaxError) Error() string {
	return fmt.Sprintf("byte %d: %s", e.Offset+1, e.Msg)
}

func (p *Parser) maxDepth() int {
	if p.MaxDepth > 0 {
		return p.MaxDepth
	}
	return DefaultMaxDepth
}

// fail records the first syntax error and returns syntaxErr.
func (p *Parser) fail(i int, msg string) int {
	e := &SyntaxError{Offset: i, Msg: msg}
	if i >= len(p.b) {
		e.Offset, e.AtEnd = len(p.b), true
		e.Msg = "the line ends in the middle of a record"
	}
	p.err = e
	return syntaxErr
}

// peek skips white space from i on and returns the next byte and its index; the byte is 0
// at the end of the text (a NUL in the text is not a token either).
func peek(b string, i int) (byte, int) {
	if i < len(b) && b[i] > ' ' {
		return b[i], i
	}
	return peekSlow(b, i)
}

func peekSlow(b string, i int) (byte, int) {
	for i < len(b) {
		switch c := b[i]; c {
		case ' ', '\t', '\n', '\r':
			i++
		default:
			return c, i
		}
	}
	return 0, i
}

const (
	lowBits  = 0x0101010101010101
	highBits = 0x8080808080808080
)

// word returns the eight bytes from i on.
func word[T ~string](b T, i int) uint64 {
	b = b[i : i+8]
	return uint64(b[0]) | uint64(b[1])<<8 | uint64(b[2])<<16 | uint64(b[3])<<24 |
		uint64(b[4])<<32 | uint64(b[5])<<40 | uint64(b[6])<<48 | uint64(b[7])<<56
}

// stringEnd returns the index of the closing quote of a string whose content
// starts at i, and whether the content holds escapes.
func (p *Parser) stringEnd(i int) (end int, escaped bool) {
	b := p.b
	for {
		// Eight bytes at a time: the lowest set bit of m marks the first
		// quote, backslash or control byte exactly.
		for i+8 <= len(b) {
			x := word(b, i)
			q := x ^ (lowBits * '"')
			s := x ^ (lowBits * '\\')
			m := ((q - lowBits) &^ q) | ((s - lowBits) &^ s) | ((x - lowBits*0x20) &^ x)
			if m &= highBits; m != 0 {
				i += bits.TrailingZeros64(m) >> 3
				goto special
			}
			i += 8
		}
		for i < len(b) && b[i] != '"' && b[i] != '\\' && b[i] >= 0x20 {
			i++
		}
	special:
		if i >= len(b) {
			return p.fail(i, ""), false
		}
		switch b[i] {
		case '"':
			return i, escaped
		case '\\':
			escaped = true
			if i = p.escapeEnd(i + 1); i < 0 {
				return i, false
			}
		default:
			return p.fail(i, "control character in a string"), false
		}
	}
}

// escapeEnd checks the escape whose letter is at i.
func (p *Parser) escapeEnd(i int) int {
	if i >= len(p.b) {
		return p.fail(i, "")
	}
	switch p.b[i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
		return i + 1
	case 'u':
		for j := i + 1; j < i+5; j++ {
			if j >= len(p.b) || !isHex(p.b[j]) {
				return p.fail(j, "\\u needs four hexadecimal digits")
			}
		}
		return i + 5
	}
	return p.fail(i, "unknown escape in a string")
}

func isHex(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'f' || c >= 'A' && c <= 'F'
}

// str reads the string whose opening quote is at i. The result is a part
// of the text unless it holds escapes.
func (p *Parser) str(i int) (string, int) {
	end, escaped := p.stringEnd(i + 1)
	if end < 0 {
		return "", end
	}
	s := p.b[i+1 : end]
	if escaped {
		s = string(appendUnescaped(nil, s))
	}
	return s, end + 1
}

// appendUnescaped decodes the escapes of a checked string. A surrogate without
// its partner becomes U+FFFD, as in encoding/json.
func appendUnescaped(dst []byte, s string) []byte {
	for i := 0; i < len(s); {
		if s[i] != '\\' {
			dst = append(dst, s[i])
			i++
			continue
		}
		c := s[i+1]
		i += 2
		switch c {
		case 'b':
			c = '\b'
		case 'f':
			c = '\f'
		case 'n':
			c = '\n'
		case 'r':
			c = '\r'
		case 't':
			c = '\t'
		case 'u':
			r := hex4(s[i:])
			i += 4
			if utf16.IsSurrogate(r) {
				lone := r
				r = utf8.RuneError
				if len(s)-i >= 6 && s[i] == '\\' && s[i+1] == 'u' {
					if r = utf16.DecodeRune(lone, hex4(s[i+2:])); r != utf8.RuneError {
						i += 6
					}
				}
			}
			dst = utf8.AppendRune(dst, r)
			continue
		}
		dst = append(dst, c)
	}
	return dst
}

func hex4(s string) (r rune) {
	for _, c := range []byte(s[:4]) {
		switch {
		case c <= '9':
			c -= '0'
		case c >= 'a':
			c -= 'a' - 10
		default:
			c -= 'A' - 10
		}
		r = r<<4 | rune(c)
	}
	return r
}

// num checks the number literal at i.
func (p *Parser) num(i int) int {
	b := p.b
	if b[i] == '-' {
		i++
	}
	first := i
	i = digitsEnd(b, i)
	if i == first {
		return p.fail(i, "a number needs a digit here")
	}
	if i > first+1 && b[first] == '0' {
		return p.fail(first, "a number must not start with 0")
	}
	if i < len(b) && b[i] == '.' {
		point := i
		if i = digitsEnd(b, i+1); i == point+1 {
			return p.fail(i, "a number needs a digit after its point")
		}
	}
	if i < len(b) && b[i]|0x20 == 'e' {
		i++
		if i < len(b) && (b[i] == '+' || b[i] == '-') {
			i++
		}
		from := i
		if i = digitsEnd(b, i); i == from {
			return p.fail(i, "an exponent needs a digit")
		}
	}
	return i
}

// digitsEnd returns the index of the first byte from i on that is not a digit.
func digitsEnd(b string, i int) int {
	for i < len(b) && b[i]-'0' <= 9 {
		i++
	}
	return i
}

// integer reads an integer literal that fits int64. Any other well-formed value is a
// mismatch.
func (p *Parser) integer(i int) (int64, int) {
	b := p.b
	// Most are short, and without a sign.
	var v int64
	end := i
	for end < len(b) && b[end]-'0' <= 9 {
		v = v*10 + int64(b[end]-'0')
		end++
	}
	if n := end - i; n > 0 && n <= 18 && (n == 1 || b[i] != '0') && end < len(b) && b[end] != '.' && b[end]|0x20 != 'e' {
		return v, end
	}
	if !p.isNumber(i) {
		return 0, mismatch
	}
	if end = p.num(i); end < 0 {
		return 0, end
	}
	if n := Number(b[i:end]); !strings.ContainsAny(string(n), ".eE") {
		if v, exact := n.Int64(); exact {
			return v, end
		}
	}
	return 0, mismatch
}

// isNumber reports whether a number starts at i.
func (p *Parser) isNumber(i int) bool {
	return i < len(p.b) && (p.b[i]-'0' <= 9 || p.b[i] == '-')
}

// skip checks the value at i, of any type, and returns the index after it.
func (p *Parser) skip(i, depth int) int {
	b := p.b
	c, i := peek(b, i)
	switch c {
	case '"':
		end, _ := p.stringEnd(i + 1)
		if end < 0 {
			return end
		}
		return end + 1
	case '{', '[':
		return p.skipNested(i, depth)
	case 't':
		return p.literal(i, "true")
	case 'f':
		return p.literal(i, "false")
	case 'n':
		return p.literal(i, "null")
	case '-', '0', '1', '2', '3', '4', '5', '6', '7', '8', '9':
		return p.num(i)
	}
	return p.fail(i, "a value is missing here")
}

func (p *Parser) literal(i int, word string) int {
	for j := range len(word) {
		if i+j >= len(p.b) || p.b[i+j] != word[j] {
			return p.fail(i+j, "a word that is not true, false or null")
		}
	}
	return i + len(word)
}

func (p *Parser) skipNested(i, depth int) int {
	if depth >= p.maxDepth() {
		p.err = &SyntaxError{Offset: i, Msg: fmt.Sprintf("values are nested more than %d levels deep", p.maxDepth())}
		return syntaxErr
	}
	closing := p.b[i] + 2 // closing brackets are two after the opening ones in ASCII
	c, j := peek(p.b, i+1)
	if c == closing {
		return j + 1
	}
	for more := true; more; {
		if closing == '}' {
			if _, j = p.key(j); j < 0 {
				return j
			}
		}
		if j = p.skip(j, depth+1); j < 0 {
			return j
		}
		more, j = p.more(j, closing)
	}
	return j
}

// key reads a key and its colon at i and returns the index of the value.
func (p *Parser) key(i int) (string, int) {
	b := p.b
	c, i := peek(b, i)
	if c != '"' {
		return "", p.fail(i, "a key in quotes is missing here")
	}
	key, i := p.str(i)
	if i < 0 {
		return "", i
	}
	if c, i = peek(b, i); c != ':' {
		return "", p.fail(i, "a colon is missing after the key")
	}
	if c, i = peek(b, i+1); c == 0 && i >= len(b) {
		return "", p.fail(i, "")
	}
	return key, i
}

// more reads the comma or the closing byte behind an element. more is false
// at the end of the list and on an error.
func (p *Parser) more(i int, closing byte) (more bool, next int) {
	c, i := peek(p.b, i)
	if c == ',' {
		_, i = peek(p.b, i+1)
		return true, i
	}
	if c == closing {
		return false, i + 1
	}
	return false, p.fail(i, "a comma or the closing "+string(rune(closing))+" is missing here")
}
