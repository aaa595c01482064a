package folded

import (
	"bytes"
	"math"
	"slices"
)

// status says what a line is.
type status uint8

const (
	stackLine status = iota
	noCount          // a stack without a count
	comment
	notStack
	tooLarge // a stack whose count fits nowhere
)

// number is a count: mantissa times 10^-scale. rounded tells that it had more
// digits than a mantissa holds.
type number struct {
	mantissa int64
	scale    int
	rounded  bool
}

// maxScale is the finest decimal that 64 bits have room for.
const maxScale = 18

// newline returns where the first line ends, or -1.
func newline(b []byte) int { return bytes.IndexByte(b, '\n') }

func blank(c byte) bool { return c == ' ' || c == '\t' || c == '\r' }

// trim takes blanks off both ends.
func trim(l []byte) []byte {
	for len(l) > 0 && blank(l[len(l)-1]) {
		l = l[:len(l)-1]
	}
	for len(l) > 0 && blank(l[0]) {
		l = l[1:]
	}
	return l
}

// split takes a trimmed, non-empty line apart; n has room for one count or for
// two. A line without a count is still a stack when it has a semicolon; a line
// that begins like a comment is one unless it has.
func split(l []byte, n []number) (stack []byte, found int, st status) {
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
		v, ok, fits := parseNumber(stack[i:])
		if !ok {
			break
		}
		if !fits {
			st = tooLarge
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
		n[0] = number{mantissa: 1}
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

// parseNumber reads digits, perhaps with a sign, a fraction and an exponent
// (awk writes 1e+06). ok tells whether it is a number at all, fits whether it
// can be held, with the digits behind the first 18 or 19 rounded.
func parseNumber(b []byte) (n number, ok, fits bool) {
	if v, ok := whole(b); ok {
		return number{mantissa: v}, true, true
	}
	neg := len(b) > 0 && b[0] == '-'
	if neg {
		b = b[1:]
	}
	digits, point, zeros := 0, false, 0
	full, up := false, false // no more digits fit; the first of those was 5 or more
	add := func(digit byte) {
		switch {
		case !full && n.push(digit):
			if point {
				n.scale++
			}
			return
		case !full:
			full, up = true, digit >= 5
		}
		n.rounded = n.rounded || digit != 0
		if !point {
			n.scale--
		}
	}
	i := 0
	for ; i < len(b); i++ {
		c := b[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		digits++
		if c == '0' && point {
			zeros++ // only counts when something follows: 1.50 is 1.5
			continue
		}
		for ; zeros > 0; zeros-- {
			add(0)
		}
		add(c - '0')
	}
	if digits == 0 {
		return n, false, false
	}
	if up && n.mantissa < math.MaxInt64 {
		n.mantissa++
	}
	if i < len(b) {
		exp, valid := parseExponent(b[i:])
		if !valid {
			return n, false, false
		}
		n.scale -= exp
	}
	if n.mantissa == 0 {
		n.scale = 0
	}
	fits = true
	for ; n.scale < 0 && fits; n.scale++ {
		fits = n.push(0)
	}
	if neg {
		n.mantissa = -n.mantissa
	}
	return n.round(maxScale), true, fits
}

// whole reads what nearly all counts are: digits only, and not too many.
func whole(b []byte) (v int64, ok bool) {
	if len(b) == 0 || len(b) > maxScale {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		v = v*10 + int64(c-'0')
	}
	return v, true
}

// round brings a number to at most so many decimals, halves away from zero.
func (n number) round(decimals int) number {
	if n.scale <= decimals {
		return n
	}
	var last int64
	for ; n.scale > decimals; n.scale-- {
		last = n.mantissa % 10
		n.rounded = n.rounded || last != 0
		n.mantissa /= 10
	}
	switch {
	case last >= 5:
		n.mantissa++
	case last <= -5:
		n.mantissa--
	}
	return n
}

// push adds a digit, unless it no longer fits.
func (n *number) push(digit byte) bool {
	if n.mantissa > math.MaxInt64/10 || n.mantissa*10 > math.MaxInt64-int64(digit) {
		return false
	}
	n.mantissa = n.mantissa*10 + int64(digit)
	return true
}

func parseExponent(b []byte) (exp int, ok bool) {
	if b[0] != 'e' && b[0] != 'E' || len(b) < 2 {
		return 0, false
	}
	b = b[1:]
	neg := b[0] == '-'
	if neg || b[0] == '+' {
		b = b[1:]
	}
	if len(b) == 0 || len(b) > 4 {
		return 0, false
	}
	for _, c := range b {
		if c < '0' || c > '9' {
			return 0, false
		}
		exp = exp*10 + int(c-'0')
	}
	if neg {
		exp = -exp
	}
	return exp, true
}

// at gives the number in units of 10^-decimals, which are no coarser than its
// own scale.
func (n number) at(decimals int) (int64, bool) {
	v := n.mantissa
	for s := n.scale; s < decimals; s++ {
		if v > math.MaxInt64/10 || v < math.MinInt64/10 {
			return 0, false
		}
		v *= 10
	}
	return v, true
}
