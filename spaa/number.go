package spaa

import (
	"math"
	"math/bits"
	"strconv"
	"strings"
)

// A Number is a JSON number as spelled in the file, so that integers beyond 2^53 and
// decimal fractions stay exact. The zero value "" means that the key is absent. Numbers
// compare as text: "1" and "1.0" differ.
type Number string

// IntNumber returns the literal of v.
func IntNumber(v int64) Number { return Number(strconv.FormatInt(v, 10)) }

// DecimalNumber returns the literal of mantissa·10^-decimals, with exactly
// that many decimals; decimals is in 0..18.
func DecimalNumber(mantissa int64, decimals int) Number {
	return Number(appendDecimal(nil, mantissa, decimals))
}

func appendDecimal(dst []byte, mantissa int64, decimals int) []byte {
	if decimals <= 0 {
		return strconv.AppendInt(dst, mantissa, 10)
	}
	u := uint64(mantissa)
	if mantissa < 0 {
		dst = append(dst, '-')
		u = -u
	}
	var buf [40]byte
	i := len(buf)
	for n := 0; u > 0 || n <= decimals; n++ {
		if n == decimals {
			i--
			buf[i] = '.'
		}
		i--
		buf[i] = byte('0' + u%10)
		u /= 10
	}
	return append(dst, buf[i:]...)
}

// FloatNumber returns the shortest literal that reads back as v. For infinities and NaN,
// which JSON cannot express, it returns "".
func FloatNumber(v float64) Number {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return ""
	}
	format := byte('f')
	if a := math.Abs(v); a != 0 && (a < 1e-6 || a >= 1e21) {
		format = 'e'
	}
	return Number(strconv.FormatFloat(v, format, -1, 64))
}

// IsZero reports whether the number is absent.
func (n Number) IsZero() bool { return n == "" }

// Int64 returns the value truncated towards zero; exact reports whether nothing was lost.
// For values outside int64 it returns the nearest int64 and false.
func (n Number) Int64() (v int64, exact bool) { return toInt64(n.Decimal()) }

// Float64 returns the nearest float64; 0 when the number is absent or not a
// number.
func (n Number) Float64() float64 {
	f, err := strconv.ParseFloat(string(n), 64)
	if err != nil && math.IsInf(f, 0) {
		return f
	}
	if err != nil {
		return 0
	}
	return f
}

// Decimal returns the value as mantissa·10^-decimals with decimals in 0..18. If exact is
// true, this is the value of the literal; otherwise it is the nearest such pair found by
// dropping digits, or the nearest int64.
func (n Number) Decimal() (mantissa int64, decimals int, exact bool) {
	// Most have few digits and no exponent.
	i := 0
	if strings.HasPrefix(string(n), "-") {
		i = 1
	}
	first := i
	m, i := digitsFrom(n, i, 0)
	digits := i - first
	if i < len(n) && n[i] == '.' {
		m, i = digitsFrom(n, i+1, m)
		decimals = i - first - digits - 1
	}
	if i < len(n) || digits == 0 || digits+decimals > maxDecimals {
		return decimalOf(n)
	}
	if first > 0 {
		return -int64(m), decimals, true
	}
	return int64(m), decimals, true
}

var powersOfTen = [9]uint64{1, 10, 100, 1000, 10_000, 100_000, 1_000_000, 10_000_000, 100_000_000}

// digitsFrom reads the digits from i on, eight at a time, and appends them to the value
// m.
func digitsFrom(b Number, i int, m uint64) (uint64, int) {
	for i+8 <= len(b) {
		x := word(b, i) ^ '0'*lowBits
		n := bits.TrailingZeros64((x+0x76*lowBits|x)&highBits) >> 3 // number of leading digits
		if n == 0 {
			return m, i
		}
		x <<= 64 - 8*n // leading zeros
		x = x * (10<<8 + 1) >> 8 & 0x00ff00ff00ff00ff
		x = x * (100<<16 + 1) >> 16 & 0x0000ffff0000ffff
		m = m*powersOfTen[n] + x*(10000<<32+1)>>32
		if i += n; n < 8 {
			return m, i
		}
	}
	for i < len(b) && b[i]-'0' <= 9 {
		m = m*10 + uint64(b[i]-'0')
		i++
	}
	return m, i
}

func toInt64(m int64, dec int, exact bool) (int64, bool) {
	for ; dec > 0; dec-- {
		exact = exact && m%10 == 0
		m /= 10
	}
	return m, exact
}

const maxDecimals = 18

// decimalOf parses a checked number literal. For text that is not a literal it returns 0,
// 0, false.
func decimalOf(s Number) (mant int64, dec int, exact bool) {
	neg := len(s) > 0 && s[0] == '-'
	digits, scale, ok := splitLiteral(s)
	if !ok {
		return 0, 0, false
	}
	if len(digits) == 0 { // zero, whatever the scale
		return 0, min(max(scale, 0), maxDecimals), true
	}
	exact = true
	// Dropping trailing zeros keeps the value exact; dropping other digits does not.
	for scale > 0 && (scale > maxDecimals || !fitsInt64(digits)) && len(digits) > 0 {
		last := digits[len(digits)-1]
		digits = digits[:len(digits)-1]
		scale--
		if last != '0' {
			exact = false
		}
	}
	if scale > maxDecimals { // all digits dropped
		return 0, 0, false
	}
	for ; scale < 0 && fitsInt64(digits); scale++ {
		digits = append(digits, '0')
	}
	if !fitsInt64(digits) {
		if neg {
			return math.MinInt64, 0, len(digits) == 19 && scale == 0 && string(digits) == "9223372036854775808"
		}
		return math.MaxInt64, 0, false
	}
	for _, c := range digits {
		mant = mant*10 + int64(c-'0')
	}
	if neg {
		mant = -mant
	}
	return mant, max(scale, 0), exact
}

func fitsInt64(digits []byte) bool {
	return len(digits) < 19 || len(digits) == 19 && string(digits) <= "9223372036854775807"
}

// splitLiteral returns the significant digits (no leading zeros) and the power of ten by
// which they are divided. Exponents beyond ±1e6 are clamped: no value in range needs
// them.
func splitLiteral(s Number) (digits []byte, scale int, ok bool) {
	const maxExp = 1_000_000
	i, seen := 0, 0
	if i < len(s) && s[i] == '-' {
		i++
	}
	point := false
	for ; i < len(s); i++ {
		c := s[i]
		if c == '.' && !point {
			point = true
			continue
		}
		if c < '0' || c > '9' {
			break
		}
		seen++
		if point {
			scale++
		}
		if c != '0' || len(digits) > 0 {
			digits = append(digits, c)
		}
	}
	if seen == 0 {
		return nil, 0, false
	}
	if i == len(s) {
		return digits, scale, true
	}
	if s[i]|0x20 != 'e' {
		return nil, 0, false
	}
	i++
	expNeg := false
	if i < len(s) && (s[i] == '+' || s[i] == '-') {
		expNeg = s[i] == '-'
		i++
	}
	exp := 0
	for ; i < len(s); i++ {
		if s[i] < '0' || s[i] > '9' {
			return nil, 0, false
		}
		exp = min(exp*10+int(s[i]-'0'), maxExp)
	}
	if expNeg {
		return digits, scale + exp, true
	}
	return digits, scale - exp, true
}
