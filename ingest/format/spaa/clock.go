package spaa

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

const second = 1_000_000_000_000 // in picoseconds

// unitSize returns the length of a time unit in picoseconds; ok is false for an unknown
// unit. The spec has only "seconds", but writers use other units.
func unitSize(unit string) (ps int64, ok bool) {
	switch strings.ToLower(unit) {
	case "s", "sec", "secs", "second", "seconds":
		return second, true
	case "ms", "msec", "msecs", "millisecond", "milliseconds", "millis":
		return second / 1e3, true
	case "us", "µs", "μs", "usec", "usecs", "microsecond", "microseconds", "micros":
		return second / 1e6, true
	case "ns", "nsec", "nsecs", "nanosecond", "nanoseconds", "nanos":
		return second / 1e9, true
	case "ps", "picosecond", "picoseconds":
		return 1, true
	case "min", "mins", "minute", "minutes":
		return 60 * second, true
	case "h", "hr", "hour", "hours":
		return 3600 * second, true
	}
	return second, false
}

// decimal is mant·10^-dec.
type decimal struct {
	mant int64
	dec  int
}

// clock turns times of the file into picoseconds from an origin.
type clock struct {
	unit   int64 // picoseconds
	origin decimal
	// steps converts times without big numbers. It is indexed by a time's number of
	// decimals.
	steps [19]clockStep
}

// clockStep computes (mant·up - from)·mul.
type clockStep struct {
	ok            bool
	up, from, mul int64
	most, widest  int64 // bounds of mant and of the difference
}

var pow10 = [19]int64{1, 1e1, 1e2, 1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9, 1e10, 1e11, 1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18}

// newClock returns a clock whose picosecond 0 is origin. unit is the length of the file's
// time unit in picoseconds.
func newClock(unit int64, origin decimal) *clock {
	for origin.dec > 0 && origin.mant%10 == 0 {
		origin.mant /= 10
		origin.dec--
	}
	c := &clock{unit: unit, origin: origin}
	for dec := range c.steps {
		scale := max(dec, origin.dec)
		from, ok := mulExact(origin.mant, pow10[scale-origin.dec])
		if !ok || unit%pow10[scale] != 0 {
			continue
		}
		s := clockStep{ok: true, up: pow10[scale-dec], from: from, mul: unit / pow10[scale]}
		s.most, s.widest = math.MaxInt64/s.up, math.MaxInt64/s.mul
		c.steps[dec] = s
	}
	return c
}

// at converts a time. text is the literal if mant·10^-dec is not exact, else "". exact is
// false if the time was clamped to the range of an int64.
func (c *clock) at(mant int64, dec int, text string) (ps int64, exact bool) {
	if s := &c.steps[dec]; s.ok && text == "" && mant <= s.most && mant >= -s.most {
		x := mant * s.up
		d := x - s.from
		if (x < s.from) == (d < 0) && d <= s.widest && d >= -s.widest {
			return d * s.mul, true
		}
	}
	return c.far(mant, dec, text, c.unit, true)
}

// far is like at, for numbers of any size and in the given unit. The origin is subtracted
// only from absolute times. Fractions of a picosecond are cut off.
func (c *clock) far(mant int64, dec int, text string, unit int64, absolute bool) (int64, bool) {
	m, scale := big.NewInt(mant), dec
	if text != "" {
		m, scale = bigDecimal(text)
	}
	m.Mul(m, big.NewInt(unit))
	if absolute {
		o := new(big.Int).Mul(big.NewInt(c.origin.mant), big.NewInt(c.unit))
		if scale < c.origin.dec {
			m.Mul(m, bigPow(c.origin.dec-scale))
			scale = c.origin.dec
		}
		o.Mul(o, bigPow(scale-c.origin.dec))
		m.Sub(m, o)
	}
	m.Quo(m, bigPow(scale))
	switch {
	case m.IsInt64():
		return m.Int64(), true
	case m.Sign() < 0:
		return math.MinInt64, false
	}
	return math.MaxInt64, false
}

func bigPow(n int) *big.Int {
	return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil)
}

// bigDecimal parses a JSON number literal as m·10^-scale. Digits too small to matter in
// picoseconds are dropped, so that a short literal with a huge exponent is not expensive.
func bigDecimal(text string) (m *big.Int, scale int) {
	const most = 64
	text, exp, _ := strings.Cut(strings.ToLower(text), "e")
	digits := make([]byte, 0, most)
	point := false
	for i := range len(text) {
		switch c := text[i]; {
		case c == '-':
			digits = append(digits, c)
		case c == '.':
			point = true
		case len(digits) >= most && point:
		default:
			digits = append(digits, c)
			if point {
				scale++
			}
		}
	}
	if e, err := strconv.Atoi(exp); err == nil {
		scale -= max(min(e, most), -most)
	} else if strings.HasPrefix(exp, "-") {
		scale += most
	} else if exp != "" {
		scale -= most
	}
	m, ok := new(big.Int).SetString(string(digits[:min(len(digits), 4*most)]), 10)
	if !ok {
		m = new(big.Int)
	}
	if scale < 0 {
		m.Mul(m, bigPow(-scale))
		scale = 0
	}
	return m, scale
}

// mulExact returns a*b; ok is false if the product overflows.
func mulExact(a, b int64) (int64, bool) {
	ua, ub := uint64(a), uint64(b)
	if a < 0 {
		ua = -ua
	}
	if b < 0 {
		ub = -ub
	}
	hi, lo := bits.Mul64(ua, ub)
	if hi != 0 || lo > math.MaxInt64 {
		return 0, false
	}
	if (a < 0) != (b < 0) {
		return -int64(lo), true
	}
	return int64(lo), true
}
