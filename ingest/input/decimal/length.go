package decimal

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"unicode"
)

var lengthUnits = []struct {
	name  string
	scale int // number of decimals of a picosecond in this unit
}{{"s", 12}, {"ms", 9}, {"µs", 6}, {"ns", 3}, {"ps", 0}}

// Length formats a duration in picoseconds exactly, in the largest unit up to seconds
// that is not longer than the duration, like 235 µs or 1.5 ms.
func Length(ps int64) string {
	u := lengthUnits[len(lengthUnits)-1]
	for _, x := range lengthUnits {
		size := int64(1)
		for range x.scale {
			size *= 10
		}
		if ps >= size || ps <= -size {
			u = x
			break
		}
	}
	return Decimal{Mantissa: ps, Scale: u.scale}.String() + " " + u.name
}

// LengthUnits are the units that ParseLength reads, in picoseconds.
var LengthUnits = map[string]int64{
	"ps": 1, "ns": 1e3, "us": 1e6, "µs": 1e6, "μs": 1e6, "ms": 1e9,
	"s": 1e12, "sec": 1e12, "min": 60e12, "h": 3600e12, "d": 86400e12, "": 1e12,
}

var errTooLong = errors.New("is longer than 106 days, the limit for recordings")

// ParseLength parses a nonnegative duration, like 1.2s, 300ms or 1min30s, and returns
// picoseconds. A bare number is in seconds. Error texts continue after the quoted text.
func ParseLength(s string) (int64, error) {
	var sum int64
	rest := strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) {
			return -1
		}
		return r
	}, s)
	if rest == "" {
		return 0, errors.New("is empty")
	}
	if rest[0] == '-' || strings.HasPrefix(rest, "−") {
		return 0, errors.New("is negative; times count from the recording's start")
	}
	for first := true; rest != ""; first = false {
		number := rest[:countWhile(rest, func(r rune) bool { return r >= '0' && r <= '9' || r == '.' })]
		rest = rest[len(number):]
		unit := rest[:countWhile(rest, func(r rune) bool { return (r < '0' || r > '9') && r != '.' })]
		rest = rest[len(unit):]
		size, ok := LengthUnits[unit]
		switch {
		case number == "" || strings.Count(number, ".") > 1 || number == ".":
			return 0, errors.New("is not a time; write a number and a unit (ps, ns, us, ms, s, min, h, d)")
		case !ok:
			return 0, fmt.Errorf("has the unknown unit %q; units are ps, ns, us, ms, s, min, h and d", unit)
		case unit == "" && !first:
			return 0, errors.New("lacks a unit after its last number")
		}
		t, err := scale(number, size)
		if err != nil {
			return 0, err
		}
		if sum > math.MaxInt64-t {
			return 0, errTooLong
		}
		sum += t
	}
	return sum, nil
}

func countWhile(s string, ok func(rune) bool) int {
	if i := strings.IndexFunc(s, func(r rune) bool { return !ok(r) }); i >= 0 {
		return i
	}
	return len(s)
}

// scale multiplies a decimal number by a unit, exactly.
func scale(number string, unit int64) (int64, error) {
	const longest = 60 // maximum number of digits; more add nothing
	v, ok := new(big.Rat).SetString(number)
	if !ok || len(number) > longest {
		return 0, errors.New("has an invalid number")
	}
	v.Mul(v, new(big.Rat).SetInt64(unit))
	switch {
	case !v.IsInt():
		return 0, errors.New("is finer than a picosecond")
	case !v.Num().IsInt64():
		return 0, errTooLong
	}
	return v.Num().Int64(), nil
}
