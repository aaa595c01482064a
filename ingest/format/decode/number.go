package decode

import "math"

// Number is a decimal number: Mantissa times 10^-Scale. Rounded reports whether it had
// more digits than a mantissa can hold.
type Number struct {
	Mantissa int64
	Scale    int
	Rounded  bool
}

// MaxScale is the maximum number of decimals that fit in 64 bits.
const MaxScale = 18

// ParseNumber parses digits with an optional sign, fraction and exponent (awk writes
// 1e+06). ok reports whether b is a number. fits reports whether the number can be
// represented; digits after the first 18 or 19 are rounded.
func ParseNumber(b []byte) (n Number, ok, fits bool) {
	if v, ok := whole(b); ok {
		return Number{Mantissa: v}, true, true
	}
	neg := len(b) > 0 && b[0] == '-'
	if neg {
		b = b[1:]
	}
	digits, point, zeros := 0, false, 0
	full, up := false, false // no more digits fit; the first one dropped was 5 or more
	add := func(digit byte) {
		switch {
		case !full && n.push(digit):
			if point {
				n.Scale++
			}
			return
		case !full:
			full, up = true, digit >= 5
		}
		n.Rounded = n.Rounded || digit != 0
		if !point {
			n.Scale--
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
			zeros++ // counts only if another digit follows: 1.50 is 1.5
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
	if up && n.Mantissa < math.MaxInt64 {
		n.Mantissa++
	}
	if i < len(b) {
		exp, valid := parseExponent(b[i:])
		if !valid {
			return n, false, false
		}
		n.Scale -= exp
	}
	if n.Mantissa == 0 {
		n.Scale = 0
	}
	fits = true
	for ; n.Scale < 0 && fits; n.Scale++ {
		fits = n.push(0)
	}
	if neg {
		n.Mantissa = -n.Mantissa
	}
	return n.Round(MaxScale), true, fits
}

// Limit returns the number nearest to one that does not fit, on the side of its sign.
func (n Number) Limit() Number {
	if n.Mantissa < 0 {
		return Number{Mantissa: -math.MaxInt64}
	}
	return Number{Mantissa: math.MaxInt64}
}

// whole parses the usual form of a count: only digits, at most MaxScale.
func whole(b []byte) (v int64, ok bool) {
	if len(b) == 0 || len(b) > MaxScale {
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

// Round rounds a number to the given number of decimals, if it has more. Halves are
// rounded away from zero.
func (n Number) Round(decimals int) Number {
	if n.Scale <= decimals {
		return n
	}
	var last int64
	for ; n.Scale > decimals; n.Scale-- {
		last = n.Mantissa % 10
		n.Rounded = n.Rounded || last != 0
		n.Mantissa /= 10
	}
	switch {
	case last >= 5:
		n.Mantissa++
	case last <= -5:
		n.Mantissa--
	}
	return n
}

// push appends a digit. It returns false if the digit does not fit.
func (n *Number) push(digit byte) bool {
	if n.Mantissa > math.MaxInt64/10 || n.Mantissa*10 > math.MaxInt64-int64(digit) {
		return false
	}
	n.Mantissa = n.Mantissa*10 + int64(digit)
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

// At returns the number in units of 10^-decimals, which must not be coarser than its own
// scale; false if it does not fit.
func (n Number) At(decimals int) (int64, bool) {
	v := n.Mantissa
	for s := n.Scale; s < decimals; s++ {
		if v > math.MaxInt64/10 || v < math.MinInt64/10 {
			return 0, false
		}
		v *= 10
	}
	return v, true
}
