// Package units formats numbers for people: 12.40 ms, 3.1 GB, 48 102.
package units

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"time"

	"ashlar/ingest/input/safetext"
	"ashlar/ingest/model/recording"
)

// thin separates groups of three digits, and a number from its unit.
const thin = "\u2009"

// Count writes an integer with thin spaces between groups: 48 102.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if strings.HasPrefix(s, "-") {
		sign, s = "−", s[1:]
	}
	var b strings.Builder
	b.WriteString(sign)
	for i, r := range s {
		if i > 0 && (len(s)-i)%3 == 0 && len(s) > 4 {
			b.WriteString(thin)
		}
		b.WriteRune(r)
	}
	return b.String()
}

type step struct {
	size float64
	unit string
}

var times = []step{
	{86400e12, "d"}, {3600e12, "h"}, {60e12, "min"}, {1e12, "s"}, {1e9, "ms"}, {1e6, "µs"}, {1e3, "ns"}, {1, "ps"},
}

var sizes = []step{{1e12, "TB"}, {1e9, "GB"}, {1e6, "MB"}, {1e3, "kB"}, {1, "B"}}

var bigs = []step{{1e12, "T"}, {1e9, "G"}, {1e6, "M"}, {1e3, "k"}, {1, ""}}

// Duration formats picoseconds with four significant digits in the customary unit: 12.40
// ms, 1.500 s, 2 min 5 s.
func Duration(ps int64) string {
	if ps == 0 {
		return "0 s"
	}
	v := float64(ps)
	if a := math.Abs(v); a >= 60e12 {
		return long(ps)
	}
	return scaled(v, times[3:])
}

// Round removes trailing decimal zeros from a number with a unit. Values on axes are
// round, so the zeros say nothing.
func Round(text string) string {
	n, unit, _ := strings.Cut(text, " ")
	if whole, part, ok := strings.Cut(n, "."); ok {
		n = strings.TrimRight(whole+"."+strings.TrimRight(part, "0"), ".")
	}
	return strings.TrimRight(n+" "+unit, " ")
}

// Left formats an estimate of the remaining time, in whole seconds: "12 s left"; "" below
// a second.
func Left(d time.Duration) string {
	switch s := int64(d / time.Second); {
	case s < 1:
		return ""
	case s < 60:
		return fmt.Sprintf("%d s left", s)
	case s < 3600:
		return fmt.Sprintf("%d min %d s left", s/60, s%60)
	default:
		return fmt.Sprintf("%d h %d min left", s/3600, s/60%60)
	}
}

// long writes a minute and more in two units.
func long(ps int64) string {
	sign := ""
	if ps < 0 {
		sign, ps = "−", -ps
	}
	for i, st := range times[:3] {
		if float64(ps) < st.size {
			continue
		}
		big := ps / int64(st.size)
		rest := ps % int64(st.size) / int64(times[i+1].size)
		s := sign + strconv.FormatInt(big, 10) + " " + st.unit
		if rest != 0 {
			s += " " + strconv.FormatInt(rest, 10) + " " + times[i+1].unit
		}
		return s
	}
	return ""
}

// scaled formats v in the largest unit it reaches, with four significant digits (fewer
// for small exact integers).
func scaled(v float64, steps []step) string {
	a := math.Abs(v)
	st := steps[len(steps)-1]
	for _, s := range steps {
		// 999.95 of a unit would be rounded to 1000, so use the next unit.
		if a >= s.size*0.99995 {
			st = s
			break
		}
	}
	x := v / st.size
	digits := 3
	if b := math.Abs(x); b >= 999.95 {
		digits = 0
	} else if b >= 99.995 {
		digits = 1
	} else if b >= 9.9995 {
		digits = 2
	}
	if st.size == steps[len(steps)-1].size && x == math.Trunc(x) {
		digits = 0
	}
	s := strconv.FormatFloat(x, 'f', digits, 64)
	s = strings.Replace(s, "-", "−", 1)
	if st.unit == "" {
		return s
	}
	return s + " " + st.unit
}

// Bytes writes a size in bytes: 3.100 GB.
func Bytes(n int64) string { return scaled(float64(n), sizes) }

// inPprof names the metrics of heap profiles. go tool pprof writes bytes of these in
// multiples of 1024, which it calls kB and MB, so they are written in KiB and MiB here.
var inPprof = map[string]bool{"alloc_space": true, "inuse_space": true, "space": true, "alloc_objects": true, "inuse_objects": true, "objects": true}

var binarySizes = []step{{1 << 40, "TiB"}, {1 << 30, "GiB"}, {1 << 20, "MiB"}, {1 << 10, "KiB"}, {1, "B"}}

// Number writes a number without a unit: 12 345 000 as 12.34 M, 0.5, −12.
func Number(v float64) string {
	switch a := math.Abs(v); {
	case a < 10000 && v == math.Trunc(v):
		return strings.Replace(strconv.FormatFloat(v, 'f', 0, 64), "-", "−", 1)
	case a < 1 || a >= 1e15:
		return strings.Replace(strconv.FormatFloat(v, 'g', 4, 64), "-", "−", 1)
	}
	return scaled(v, bigs)
}

// Quantity writes a number of a unit: times and sizes as Duration and Bytes do, others as
// Number does, followed by the unit.
func Quantity(v float64, unit string) string {
	if ps, ok := perUnit(unit); ok && math.Abs(v*ps) < math.MaxInt64/2 {
		return Duration(int64(math.Round(v * ps)))
	}
	switch unit {
	case "bytes", "byte", "B":
		return scaled(v, sizes)
	case "":
		return Number(v)
	}
	return Number(v) + " " + safetext.Text(unit)
}

// QuantityRange writes two numbers of a unit, and their unit once if both are written in
// the same one.
func QuantityRange(lo, hi float64, unit string) string {
	a, b := Quantity(lo, unit), Quantity(hi, unit)
	if a == b {
		return a
	}
	if n, of, ok := strings.Cut(a, " "); ok && !strings.ContainsAny(of, "0123456789") {
		if m, other, _ := strings.Cut(b, " "); other == of && m != b {
			a = n
		}
	}
	return a + " – " + b
}

// Full is like Value but also writes units that are not part of Value's text.
func Full(v int64, m *recording.Metric) string {
	s := Value(v, m)
	if _, time := perUnit(m.Unit); time || v == recording.Missing {
		return s
	}
	switch m.Unit {
	case "bytes", "byte", "B":
		return s
	case "", "count":
		return s + " " + safetext.Text(m.Name)
	}
	return s + " " + Unit(m)
}

// Value formats a metric's value with its unit, rounded for display. Exact writes every
// digit.
func Value(v int64, m *recording.Metric) string {
	if v == recording.Missing {
		return "–"
	}
	return stopped(v) + value(v, m)
}

// stopped returns the prefix for a sum that has reached the limit of its type: see
// [recording.Add].
func stopped(v int64) string {
	switch v {
	case math.MaxInt64:
		return "≥" + thin
	case math.MinInt64 + 1:
		return "≤" + thin
	}
	return ""
}

func value(v int64, m *recording.Metric) string {
	x := float64(v)
	for range m.Decimals {
		x /= 10
	}
	if ps, ok := perUnit(m.Unit); ok {
		p := x * ps
		if math.Abs(p) < math.MaxInt64/2 {
			return Duration(int64(math.Round(p)))
		}
		return scaled(p, times)
	}
	switch m.Unit {
	case "bytes", "byte", "B":
		if inPprof[m.Name] {
			return scaled(x, binarySizes)
		}
		return scaled(x, sizes)
	}
	if m.Decimals == 0 && v > -100000 && v < 100000 {
		return Count(v)
	}
	return scaled(x, bigs)
}

// Exact writes a metric's value to the last digit, with its unit.
func Exact(v int64, m *recording.Metric) string {
	if v == recording.Missing {
		return "not recorded"
	}
	s := recording.Decimal{Mantissa: v, Scale: m.Decimals}.String()
	whole, frac, _ := strings.Cut(s, ".")
	if n, err := strconv.ParseInt(whole, 10, 64); err == nil && whole != "-0" {
		whole = stopped(v) + Count(n)
	}
	if frac != "" {
		whole += "." + frac
	}
	if m.Unit == "" {
		return whole
	}
	return whole + " " + Unit(m)
}

// Unit returns a metric's unit as displayed: time units as symbols, whatever their name
// in the file.
func Unit(m *recording.Metric) string {
	if t, ok := timeUnits[m.Unit]; ok {
		return t.unit
	}
	return safetext.Text(m.Unit)
}

// timeUnits maps the names that files use for units of time to their size in picoseconds.
var timeUnits = map[string]step{
	"ps": {1, "ps"}, "picoseconds": {1, "ps"},
	"ns": {1e3, "ns"}, "nanoseconds": {1e3, "ns"}, "nanosecond": {1e3, "ns"},
	"us": {1e6, "µs"}, "µs": {1e6, "µs"}, "microseconds": {1e6, "µs"}, "microsecond": {1e6, "µs"},
	"ms": {1e9, "ms"}, "milliseconds": {1e9, "ms"}, "millisecond": {1e9, "ms"},
	"s": {1e12, "s"}, "seconds": {1e12, "s"}, "second": {1e12, "s"},
}

// perUnit returns the number of picoseconds in a unit of time.
func perUnit(unit string) (float64, bool) {
	t, ok := timeUnits[unit]
	return t.size, ok
}

// Percent writes part of whole: 29.3 %, <0.1 %, 100 %.
func Percent(part, whole int64) string {
	if whole == 0 {
		return "–"
	}
	p := float64(part) / float64(whole) * 100
	switch {
	case part == 0:
		return "0 %"
	case math.Abs(p) < .05:
		return "<0.1 %"
	case part == whole:
		return "100 %"
	}
	return strings.Replace(strconv.FormatFloat(p, 'f', 1, 64), "-", "−", 1) + " %"
}
