// Package decimal implements exact decimal numbers and parses durations such as 235 us and
// 1min30s.
package decimal

import (
	"strconv"
	"strings"
)

// Decimal is an exact number: Mantissa times 10^-Scale.
type Decimal struct {
	Mantissa int64
	Scale    int
}

// String writes the number without an exponent and without trailing zeros.
func (d Decimal) String() string {
	s := strconv.FormatInt(d.Mantissa, 10)
	if d.Scale <= 0 {
		return s
	}
	neg := strings.HasPrefix(s, "-")
	s = strings.TrimPrefix(s, "-")
	if len(s) <= d.Scale {
		s = strings.Repeat("0", d.Scale-len(s)+1) + s
	}
	whole, frac := s[:len(s)-d.Scale], strings.TrimRight(s[len(s)-d.Scale:], "0")
	if frac != "" {
		whole += "." + frac
	}
	if neg && strings.Trim(whole, "0.") != "" {
		whole = "-" + whole
	}
	return whole
}

// Power returns 10^n, or 10^18 if 10^n does not fit in an int64.
func Power(n int) int64 {
	p := int64(1)
	for range min(n, 18) {
		p *= 10
	}
	return p
}

// Round divides by a positive number and rounds, half away from zero.
func Round(v, by int64) int64 {
	q, rest := v/by, v%by
	switch {
	case rest >= by-by/2 && by > 1:
		q++
	case -rest >= by-by/2 && by > 1:
		q--
	}
	return q
}
