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

// Nanoseconds writes a time of picoseconds as a decimal.
func Nanoseconds(ps int64) json.Number {
	return json.Number(recording.Decimal{Mantissa: ps, Scale: 3}.String())
}

// Measured writes a number that was measured with so many digits behind the point, and
// without an exponent.
func Measured(v float64, digits int) json.Number {
	return json.Number(strconv.FormatFloat(v, 'f', digits, 64))
}

// Estimate writes a number with as many digits as an estimate could deserve.
func Estimate(v float64) json.Number { return json.Number(strconv.FormatFloat(v, 'g', 6, 64)) }

// Interval writes the bounds of an estimate, nil if it has none. Each is divided by
// unit.
func Interval(low, high, unit float64) *[2]json.Number {
	if !Finite(low) || !Finite(high) {
		return nil
	}
	return &[2]json.Number{Estimate(low / unit), Estimate(high / unit)}
}

// Finite reports whether JSON has a number for v.
func Finite(v float64) bool { return !math.IsNaN(v) && !math.IsInf(v, 0) }

// ID names a process or thread; null in JSON where it is text in the file.
type ID int64

func (i ID) String() string { return recording.IDText(int64(i)) }

// MarshalJSON implements json.Marshaler.
func (i ID) MarshalJSON() ([]byte, error) { return []byte(cmp.Or(i.String(), "null")), nil }

// InFull writes a value to the last digit, "" if units.Value says all of it.
func InFull(v int64, m *recording.Metric) string {
	short, full := units.Value(v, m), units.Exact(v, m)
	if full == short || full == short+" "+units.Unit(m) {
		return ""
	}
	return full
}
