package jsonscan

import (
	"cmp"
	"math"
)

// Micros is a time in microseconds, exact to the picosecond: whole
// microseconds, rounded down, and picoseconds from 0 to 999999 on top.
type Micros struct {
	US int64
	PS int32
}

// million is the number of picoseconds in a microsecond.
const million = 1_000_000

// ParseMicros parses a JSON number of microseconds. It does not use a float, because a
// time in the year 2020 with a fraction does not fit in one. Digits finer than a
// picosecond are dropped. It returns false if b is not a number or does not fit in 63
// bits of microseconds.
func ParseMicros(b []byte) (Micros, bool) {
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
		return Micros{}, false
	}
	if i < len(b) {
		return scaledMicros(b)
	}
	m := Micros{int64(whole), frac}
	if neg {
		m = m.Negated()
	}
	return m, true
}

// Negated returns -m.
func (m Micros) Negated() Micros {
	if m.PS == 0 {
		return Micros{-m.US, 0}
	}
	return Micros{-m.US - 1, million - m.PS}
}

// scaledMicros parses a number that has an exponent or too many digits before the point.
func scaledMicros(b []byte) (Micros, bool) {
	d, ok := ParseDecimal(b)
	if !ok {
		return Micros{}, false
	}
	// The first digit stands for 10^first microseconds.
	first := len(d.Digits) - 1 - d.Scale
	if first > 18 {
		return Micros{}, false
	}
	var whole uint64
	var frac, unit int32 = 0, million
	for i, c := range d.Digits {
		if first-i >= 0 {
			whole = whole*10 + uint64(c-'0')
			continue
		}
		break
	}
	for e := first - len(d.Digits); e >= 0 && whole != 0; e-- {
		whole *= 10
	}
	for e := -1; e >= -6; e-- {
		unit /= 10
		if i := first - e; i >= 0 && i < len(d.Digits) {
			frac += unit * int32(d.Digits[i]-'0')
		}
	}
	if whole > math.MaxInt64 {
		return Micros{}, false
	}
	m := Micros{int64(whole), frac}
	if d.Neg {
		m = m.Negated()
	}
	return m, true
}

// Decimal is a number as it is written: its digits, without leading zeros, and the number
// of digits after the decimal point (negative for zeros that an exponent adds).
type Decimal struct {
	Neg    bool
	Digits []byte
	Scale  int
}

// maxScale limits exponents; numbers beyond it are rejected.
const maxScale = 400

// ParseDecimal parses a JSON number exactly. It returns false if b is anything else or
// its exponent is beyond ±maxScale.
func ParseDecimal(b []byte) (Decimal, bool) {
	var d Decimal
	i := 0
	if i < len(b) && (b[i] == '-' || b[i] == '+') {
		d.Neg = b[i] == '-'
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
			d.Scale++
		}
		if len(d.Digits) > 0 || c != '0' {
			d.Digits = append(d.Digits, c)
		}
	}
	if !seen {
		return d, false
	}
	if i < len(b) {
		if b[i]|0x20 != 'e' {
			return d, false
		}
		e, ok := ParseInt(b[i+1:])
		if !ok || e > maxScale || e < -maxScale {
			return d, false
		}
		d.Scale -= int(e)
	}
	for n := len(d.Digits); n > 0 && d.Digits[n-1] == '0' && d.Scale > 0; n-- {
		d.Digits, d.Scale = d.Digits[:n-1], d.Scale-1
	}
	if len(d.Digits) == 0 {
		d = Decimal{}
	}
	return d, true
}

// Units returns the number in units of 10^-decimals; finer digits are dropped. It returns
// false if the result does not fit.
func (d Decimal) Units(decimals int) (int64, bool) {
	var v int64
	n := len(d.Digits) - d.Scale + decimals // number of digits used
	for i := range n {
		if v > (math.MaxInt64-9)/10 {
			return 0, false
		}
		v *= 10
		if i < len(d.Digits) {
			v += int64(d.Digits[i] - '0')
		} else if v == 0 {
			break
		}
	}
	if d.Neg {
		v = -v
	}
	return v, true
}

// ParseInt reads a whole decimal number that fits in 63 bits.
func ParseInt(b []byte) (int64, bool) {
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

// Picos returns the duration in picoseconds. If that does not fit, it returns the nearest
// value that does, and false.
func (m Micros) Picos() (int64, bool) {
	const most = math.MaxInt64/million - 1
	switch {
	case m.US > most:
		return most * million, false
	case m.US < -most:
		return -most * million, false
	}
	return m.US*million + int64(m.PS), true
}

// Plus adds two times.
func (m Micros) Plus(o Micros) Micros {
	m.US += o.US
	if m.PS += o.PS; m.PS >= million {
		m.PS -= million
		m.US++
	}
	return m
}

// Compare returns a negative number if m is before o, and a positive one if it is after.
func (m Micros) Compare(o Micros) int {
	return cmp.Or(cmp.Compare(m.US, o.US), cmp.Compare(m.PS, o.PS))
}
