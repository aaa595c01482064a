package view

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"strings"
	"unicode"

	"ashlar/ingest/recording"
)

// rangeForm says what ParseRange reads.
const rangeForm = "write START..END with times from the recording's start, like 1.2s..1.5s, 300ms.. or ..2min"

// ParseRange reads START..END, offsets from the recording's start. Either may be
// left out, but not both. A time is a number with a unit (ps, ns, us or µs, ms,
// s, min, h, d), or several, like 1min30s; a bare number is seconds. Times are
// exact to the picosecond. The error is one sentence.
func ParseRange(s string) (recording.Range, error) {
	var r recording.Range
	start, end, ok := strings.Cut(s, "..")
	if !ok {
		return r, fmt.Errorf("%q is not a range; %s", s, rangeForm)
	}
	start, end = strings.TrimSpace(start), strings.TrimSpace(end)
	if start == "" && end == "" {
		return r, fmt.Errorf("%q names neither a start nor an end; %s", s, rangeForm)
	}
	for _, side := range []struct {
		text string
		at   *int64
		has  *bool
	}{{start, &r.From, &r.HasFrom}, {end, &r.To, &r.HasTo}} {
		if side.text == "" {
			continue
		}
		t, err := ParseTime(side.text)
		if err != nil {
			return recording.Range{}, fmt.Errorf("%q in the range %q %w", side.text, s, err)
		}
		*side.at, *side.has = t, true
	}
	if r.HasTo && r.To <= r.From {
		return recording.Range{}, fmt.Errorf("the range %q ends at %s, which is not after its start at %s", s, recording.Offset(r.To), recording.Offset(r.From))
	}
	return r, nil
}

// TimeUnits are the units of a time, in picoseconds.
var TimeUnits = map[string]int64{
	"ps": 1, "ns": 1e3, "us": 1e6, "µs": 1e6, "μs": 1e6, "ms": 1e9,
	"s": 1e12, "sec": 1e12, "min": 60e12, "h": 3600e12, "d": 86400e12, "": 1e12,
}

var errTooLong = errors.New("is longer than the 106 days that a recording can last")

// ParseTime reads a time that is not negative, like 1.2s, 300ms or 1min30s, as
// picoseconds; a bare number is seconds. The error goes on from the text.
func ParseTime(s string) (int64, error) {
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
		size, ok := TimeUnits[unit]
		switch {
		case number == "" || strings.Count(number, ".") > 1 || number == ".":
			return 0, errors.New("is not a time; write a number and a unit (ps, ns, us, ms, s, min, h, d)")
		case !ok:
			return 0, fmt.Errorf("has the unknown unit %q; there are ps, ns, us, ms, s, min, h and d", unit)
		case unit == "" && !first:
			return 0, errors.New("has a number without a unit after one that has a unit")
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
	const longest = 60 // digits; more say nothing
	v, ok := new(big.Rat).SetString(number)
	if !ok || len(number) > longest {
		return 0, errors.New("has a number that cannot be read")
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
