package units

import (
	"fmt"
	"iter"
	"math"
	"strconv"
	"strings"
)

// Axis places the ticks of a ruler.
type Axis struct {
	// Step is the distance between labelled ticks in picoseconds, Minor the distance
	// between the small ticks.
	Step, Minor int64
	unit        step
	digits      int
	// base is subtracted from times before labels are written, if full labels would be
	// too long; Base is its text.
	base int64
	Base string
}

// NewAxis chooses ticks for from..to such that there are at most n labels.
func NewAxis(from, to int64, n int) Axis {
	span := 1.0
	if to > from {
		span = float64(uint64(to) - uint64(from)) // the difference may overflow int64
	}
	raw := span / float64(max(1, n))
	a := Axis{Step: 1, Minor: 1}
	a.Step, a.Minor = niceStep(raw)
	largest := math.Max(math.Abs(float64(from)), math.Abs(float64(to)))
	a.unit = unitFor(largest)
	a.digits = digitsFor(a.Step, a.unit)
	if a.digits > 5 || a.unit.unit == clockUnit && a.digits > 0 {
		// There would be too many digits to read, so write the left edge once and count
		// from it.
		a.base = floorTo(from, a.Step*int64(max(1, n*2)))
		a.Base = fullTime(a.base) + " +"
		a.unit = unitFor(math.Max(span, float64(a.Step)))
		a.digits = digitsFor(a.Step, a.unit)
	}
	return a
}

// niceStep returns the smallest of 1, 2, 5 × 10^k (60-based above a second) that is at
// least raw, and about a fifth of it for the minor ticks.
func niceStep(raw float64) (s, minor int64) {
	for p := 1.0; p <= 1e12; p *= 10 {
		for _, m := range []float64{1, 2, 5} {
			if v := p * m; v >= raw && v <= 10e12 {
				minor := v / 5
				if m == 2 {
					minor = v / 4
				}
				return int64(v), max(1, int64(minor))
			}
		}
	}
	for _, sec := range []int64{15, 30, 60, 120, 300, 600, 1800, 3600, 7200, 21600, 43200, 86400, 172800, 864000, 8640000} {
		if v := float64(sec) * 1e12; v >= raw {
			return sec * 1e12, sec * 1e12 / 3
		}
	}
	return 86400000e12 / 10, 86400000e12 / 40
}

// clockUnit marks times of a minute and more, which are written as 1:02:05.
const clockUnit = "clock"

func unitFor(v float64) step {
	if v >= 60e12 {
		return step{1e12, clockUnit}
	}
	for _, s := range times[3:] {
		if v >= s.size {
			return s
		}
	}
	return times[len(times)-1]
}

// clock writes a time as 2:05, 1:02:05 or 3 d 1:02:05, with digits after the
// seconds.
func clock(ps int64, digits int) string {
	sign := ""
	if ps < 0 {
		sign, ps = "−", -ps
	}
	sec, frac := ps/1e12, ps%1e12
	s := fmt.Sprintf("%02d", sec%60)
	if digits > 0 {
		s += "." + fmt.Sprintf("%012d", frac)[:min(digits, 12)]
	}
	switch {
	case sec >= 86400:
		s = fmt.Sprintf("%d d %d:%02d:", sec/86400, sec/3600%24, sec/60%60) + s
	case sec >= 3600:
		s = fmt.Sprintf("%d:%02d:", sec/3600, sec/60%60) + s
	default:
		s = fmt.Sprintf("%d:", sec/60) + s
	}
	return sign + s
}

func digitsFor(stepPs int64, u step) int {
	d := 0
	for x := float64(stepPs); x < u.size && d < 15; x *= 10 {
		d++
	}
	return d
}

func floorTo(t, s int64) int64 {
	f := t / s * s
	if f > t && f >= math.MinInt64+s {
		f -= s
	}
	return f
}

func fullTime(ps int64) string {
	if ps >= 60e12 || ps <= -60e12 {
		return strings.TrimRight(strings.TrimRight(clock(ps, 12), "0"), ".")
	}
	s := strconv.FormatFloat(float64(ps)/1e12, 'f', 12, 64)
	for len(s) > 0 && s[len(s)-1] == '0' {
		s = s[:len(s)-1]
	}
	if s[len(s)-1] == '.' {
		s = s[:len(s)-1]
	}
	return s + " s"
}

// Ticks yields the labelled ticks of from..to, and one before them, whose label may reach
// into the range.
func (a *Axis) Ticks(from, to int64) iter.Seq[int64] {
	return every(a.Step, floorTo(from, a.Step), to)
}

// Small yields the unlabelled ticks of from..to, and some before them.
func (a *Axis) Small(from, to int64) iter.Seq[int64] {
	return every(a.Minor, floorTo(from, a.Step), to)
}

// every yields times from one to another, a step apart. It stops at the largest int64,
// where adding a step would overflow.
func every(step, from, to int64) iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for t := from; t <= to && yield(t) && t <= math.MaxInt64-step; {
			t += step
		}
	}
}

// Label returns the text of a tick's time.
func (a *Axis) Label(t int64) string {
	t -= a.base
	if a.unit.unit == clockUnit {
		return clock(t, a.digits)
	}
	s := strconv.FormatFloat(float64(t)/a.unit.size, 'f', a.digits, 64)
	if t == 0 {
		s = "0"
	}
	return s + " " + a.unit.unit
}
