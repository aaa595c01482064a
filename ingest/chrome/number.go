package chrome

import "math"

// micros is a time in microseconds, exact to the picosecond: whole
// microseconds, rounded down, and picoseconds from 0 to 999999 on top.
type micros struct {
	us int64
	ps int32
}

// million is how many picoseconds a microsecond has.
const million = 1_000_000

// parseMicros reads a JSON number of microseconds without going through a
// float, since a time of the year 2020 with a fraction does not fit in one.
// Digits past the picosecond are dropped. It reports false for what is no
// number or does not fit in 63 bits of microseconds.
func parseMicros(b []byte) (micros, bool) {
	i, neg := 0, false
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		neg = b[i] == '-'
		i++
	}
	var whole uint64
	start := i
	for i < len(b) && b[i]-'0' <= 9 {
		if whole > (math.MaxInt64-9)/10 {
			return scaledMicros(b)
		}
		whole = whole*10 + uint64(b[i]-'0')
		i++
	}
	digits := i - start
	var frac, unit int32 = 0, million
	if i < len(b) && b[i] == '.' {
		i++
		for i < len(b) && b[i]-'0' <= 9 {
			unit /= 10
			frac += unit * int32(b[i]-'0')
			digits++
			i++
		}
	}
	if digits == 0 {
		return micros{}, false
	}
	if i < len(b) {
		return scaledMicros(b)
	}
	m := micros{int64(whole), frac}
	if neg {
		m = m.negated()
	}
	return m, true
}

func (m micros) negated() micros {
	if m.ps == 0 {
		return micros{-m.us, 0}
	}
	return micros{-m.us - 1, million - m.ps}
}

// scaledMicros reads a number that has an exponent, or too many digits before
// the point to be one without.
func scaledMicros(b []byte) (micros, bool) {
	d, ok := parseDecimal(b)
	if !ok {
		return micros{}, false
	}
	// The first digit stands for 10^first microseconds.
	first := len(d.digits) - 1 - d.scale
	if first > 18 {
		return micros{}, false
	}
	var whole uint64
	var frac, unit int32 = 0, million
	for i, c := range d.digits {
		if first-i >= 0 {
			whole = whole*10 + uint64(c-'0')
			continue
		}
		break
	}
	for e := first - len(d.digits); e >= 0 && whole != 0; e-- {
		whole *= 10
	}
	for e := -1; e >= -6; e-- {
		unit /= 10
		if i := first - e; i >= 0 && i < len(d.digits) {
			frac += unit * int32(d.digits[i]-'0')
		}
	}
	if whole > math.MaxInt64 {
		return micros{}, false
	}
	m := micros{int64(whole), frac}
	if d.neg {
		m = m.negated()
	}
	return m, true
}

// decimal is a number as it is written: its digits, without leading zeros, and
// how many of them stand behind the point (negative for zeros that an exponent
// adds).
type decimal struct {
	neg    bool
	digits []byte
	scale  int
}

// maxScale bounds exponents; everything beyond is nothing or no number here.
const maxScale = 400

func parseDecimal(b []byte) (decimal, bool) {
	var d decimal
	i := 0
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		d.neg = b[i] == '-'
		i++
	}
	seen, point := false, false
	for ; i < len(b); i++ {
		c := b[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if c-'0' > 9 {
			break
		}
		seen = true
		if point {
			d.scale++
		}
		if len(d.digits) > 0 || c != '0' {
			d.digits = append(d.digits, c)
		}
	}
	if !seen {
		return d, false
	}
	if i < len(b) {
		if b[i]|0x20 != 'e' {
			return d, false
		}
		e, ok := parseInt(b[i+1:])
		if !ok || e > maxScale || e < -maxScale {
			return d, false
		}
		d.scale -= int(e)
	}
	for n := len(d.digits); n > 0 && d.digits[n-1] == '0' && d.scale > 0; n-- {
		d.digits, d.scale = d.digits[:n-1], d.scale-1
	}
	if len(d.digits) == 0 {
		d = decimal{}
	}
	return d, true
}

// units is the number in units of 10^-decimals; digits past that are dropped.
// It reports false when it does not fit.
func (d decimal) units(decimals int) (int64, bool) {
	var v int64
	n := len(d.digits) - d.scale + decimals // digits that count
	for i := range n {
		if v > (math.MaxInt64-9)/10 {
			return 0, false
		}
		v *= 10
		if i < len(d.digits) {
			v += int64(d.digits[i] - '0')
		} else if v == 0 {
			break
		}
	}
	if d.neg {
		v = -v
	}
	return v, true
}

// parseInt reads a whole decimal number that fits in 63 bits.
func parseInt(b []byte) (int64, bool) {
	i, neg := 0, false
	if len(b) > 0 && (b[0] == '-' || b[0] == '+') {
		neg = b[0] == '-'
		i = 1
	}
	if i == len(b) {
		return 0, false
	}
	var v int64
	for ; i < len(b); i++ {
		if b[i]-'0' > 9 || v > (math.MaxInt64-9)/10 {
			return 0, false
		}
		v = v*10 + int64(b[i]-'0')
	}
	if neg {
		v = -v
	}
	return v, true
}

// picos is a length of time in picoseconds; it reports false when that does
// not fit and returns the nearest that does.
func (m micros) picos() (int64, bool) {
	const most = math.MaxInt64/million - 1
	switch {
	case m.us > most:
		return most * million, false
	case m.us < -most:
		return -most * million, false
	}
	return m.us*million + int64(m.ps), true
}
