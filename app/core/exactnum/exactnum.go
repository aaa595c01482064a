// Package exactnum formats numbers to the last digit, for JSON and next to the rounded
// form that people read.
package exactnum

import (
	"cmp"
	"encoding/json"
	"math"
	"strconv"

	"ashlar/ingest/model/recording"
	"ashlar/render/units"
)

// Value writes a metric's value as a decimal in its unit.
func Value(v int64, m *recording.Metric) json.Number {
	return json.Number(recording.Decimal{Mantissa: v, Scale: m.Decimals}.String())
}

// Nanoseconds formats a time in picoseconds as decimal nanoseconds.
func Nanoseconds(ps int64) json.Number {
	return json.Number(recording.Decimal{Mantissa: ps, Scale: 3}.String())
}

// Measured formats a measured number with the given number of decimals and without an
// exponent.
func Measured(v float64, digits int) json.Number {
	return json.Number(strconv.FormatFloat(v, 'f', digits, 64))
}

// Estimate formats an estimate with six significant digits.
func Estimate(v float64) json.Number { return json.Number(strconv.FormatFloat(v, 'g', 6, 64)) }

// Interval formats the bounds of an estimate, each divided by unit; nil if a bound is not
// finite.
func Interval(low, high, unit float64) *[2]json.Number {
	if !Finite(low) || !Finite(high) {
		return nil
	}
	return &[2]json.Number{Estimate(low / unit), Estimate(high / unit)}
}

// Finite reports whether v can be written as a JSON number: neither NaN nor infinite.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// ID is a process or thread id; null in JSON if the file has text instead.
type ID int64

func (i ID) String() string { return recording.IDText(int64(i)) }

// MarshalJSON implements json.Marshaler.
func (i ID) MarshalJSON() ([]byte, error) { return []byte(cmp.Or(i.String(), "null")), nil }

// InFull formats a value to the last digit; it returns "" if units.Value already shows
// all of it.
func InFull(v int64, m *recording.Metric) string {
	short, full := units.Value(v, m), units.Exact(v, m)
	if full == short || full == short+" "+units.Unit(m) {
		return ""
	}
	return full
}
