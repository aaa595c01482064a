package folded

import (
	"bytes"
	"slices"

	"ashlar/ingest/format/decode"
)

// status is the result of splitting a line.
type status uint8

const (
	stackLine status = iota
	noCount          // a stack without a count
	comment
	notStack
	tooLarge // a stack with a count that does not fit and was limited
)

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// trim removes blanks from both ends.
func trim(l []byte) []byte {
	for len(l) > 0 && blank(l[len(l)-1]) {
		l = l[:len(l)-1]
	}
	for len(l) > 0 && blank(l[0]) {
		l = l[1:]
	}
	return l
}

// split splits a trimmed, non-empty line into stack and counts; n has room for one or two
// counts. A line without a count is still a stack if it has a semicolon. A line that
// begins like a comment is a comment unless it has a semicolon.
func split(l []byte, n []decode.Number) (stack []byte, found int, st status) {
	semicolon := func() bool { return bytes.IndexByte(l, ';') >= 0 }
	if (l[0] == '#' || l[0] == '/') && looksComment(l) && !semicolon() {
		return nil, 0, comment
	}
	stack, st = l, stackLine
	for found < len(n) {
		i := len(stack)
		for i > 0 && !blank(stack[i-1]) {
			i--
		}
		if i == 0 {
			break
		}
		v, ok, fits := decode.ParseNumber(stack[i:])
		if !ok {
			break
		}
		if !fits {
			st, v = tooLarge, v.Limit()
		}
		n[found] = v
		stack = trim(stack[:i])
		found++
	}
	switch {
	case found > 0:
		slices.Reverse(n[:found])
		return stack, found, st
	case semicolon():
		n[0] = decode.Number{Mantissa: 1}
		return l, 1, noCount
	}
	return nil, 0, notStack
}

// looksComment reports whether a line begins with "//", or with "#" and no
// name after it.
func looksComment(l []byte) bool {
	if l[0] == '/' {
		return len(l) > 1 && l[1] == '/'
	}
	return len(l) == 1 || l[1] == '#' || l[1] == '!' || blank(l[1])
}
