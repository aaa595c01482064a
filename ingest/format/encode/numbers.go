package encode

import (
	"math"
	"math/big"
	"strconv"

	"ashlar/ingest/model/recording"
)

// AppendValue appends a metric's value as the shortest exact decimal.
func AppendValue(dst []byte, v int64, decimals int) []byte {
	for decimals > 0 && v%10 == 0 {
		v /= 10
		decimals--
	}
	if decimals <= 0 {
		return strconv.AppendInt(dst, v, 10)
	}
	u := uint64(v)
	if v < 0 {
		dst = append(dst, '-')
		u = -u
	}
	var digits [20]byte
	d := strconv.AppendUint(digits[:0], u, 10)
	if n := len(d) - decimals; n > 0 {
		dst = append(append(dst, d[:n]...), '.')
		return append(dst, d[n:]...)
	}
	dst = append(dst, '0', '.')
	for range decimals - len(d) {
		dst = append(dst, '0')
	}
	return append(dst, d...)
}

// A ClockText writes times as whole units and a remainder. So times of a clock that
// counts from 1970 keep their picoseconds, which would not fit in 64 bits.
type ClockText struct {
	// Per is the number of picoseconds in a unit, digits the number of its decimals.
	Per    int64
	digits int
	// Units and Rest are the origin of the recording: whole units, and the remaining
	// picoseconds.
	Units, Rest int64
	// Cut means that the origin had fractions of picoseconds, which are lost.
	Cut bool
}

const Second = 1e12 // in picoseconds

// NewClockText returns a ClockText for a recording's clock, in units of per picoseconds
// (a power of ten). ok is false if the clock does not fit in 64 bits in that unit; times
// are then relative to the clock's origin.
func NewClockText(c *recording.Clock, per int64) (t ClockText, ok bool) {
	t = ClockText{Per: per, digits: len(strconv.FormatInt(per, 10)) - 1}
	unit := c.PerUnit
	if unit <= 0 {
		unit = 1
	}
	ps := new(big.Int).Mul(big.NewInt(c.Origin.Mantissa), big.NewInt(unit))
	if s := c.Origin.Scale; s > 0 {
		rest := new(big.Int)
		ps.DivMod(ps, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(s)), nil), rest)
		t.Cut = rest.Sign() != 0
	} else if s < 0 {
		ps.Mul(ps, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(min(-s, 40))), nil))
	}
	units, rest := new(big.Int).DivMod(ps, big.NewInt(per), new(big.Int))
	if !units.IsInt64() || units.Int64() > math.MaxInt64/2 || units.Int64() < math.MinInt64/2 {
		return t, false
	}
	t.Units, t.Rest = units.Int64(), rest.Int64()
	return t, true
}

// At splits a time into whole units (rounded down) and the picoseconds left over.
func (c *ClockText) At(ps int64) (units, rest int64) {
	units, rest = ps/c.Per, ps%c.Per+c.Rest
	if rest < 0 {
		units, rest = units-1, rest+c.Per
	} else if rest >= c.Per {
		units, rest = units+1, rest-c.Per
	}
	return c.Units + units, rest
}

// Append appends a time as an exact decimal.
func (c *ClockText) Append(dst []byte, ps int64) []byte {
	units, rest := c.At(ps)
	if units < 0 && rest > 0 { // -0.25 is one unit down and 0.75 up
		units, rest = units+1, c.Per-rest
		if units == 0 {
			dst = append(dst, '-')
		}
	}
	dst = strconv.AppendInt(dst, units, 10)
	if rest == 0 {
		return dst
	}
	var digits [20]byte
	d := strconv.AppendInt(digits[:0], rest, 10)
	dst = append(dst, '.')
	for range c.digits - len(d) {
		dst = append(dst, '0')
	}
	for d[len(d)-1] == '0' {
		d = d[:len(d)-1]
	}
	return append(dst, d...)
}

// A Rounder rounds a metric's values to integers. It carries the remainder of each value
// to the next, so that the sum is off by at most half a unit.
type Rounder struct {
	scale int64 // 10^decimals
	carry int64
	N     int64 // values that had a fraction
}

func NewRounder(decimals int) Rounder {
	r := Rounder{scale: 1}
	for range decimals {
		r.scale *= 10
	}
	return r
}

// Value rounds v; Missing becomes 0.
func (r *Rounder) Value(v int64) int64 {
	if v == recording.Missing {
		return 0
	}
	if r.scale == 1 {
		return v
	}
	whole, rest := v/r.scale, v%r.scale
	if rest != 0 {
		r.N++
	}
	r.carry += rest
	half := r.scale / 2
	if r.carry >= half+r.scale%2 {
		r.carry -= r.scale
		whole++
	} else if r.carry < -half {
		r.carry += r.scale
		whole--
	}
	return whole
}

// An Adder adds values; Overflow counts the sums that did not fit in 64 bits.
type Adder struct{ Overflow int64 }

// Add adds v to *at; a Missing value is ignored.
func (a *Adder) Add(at *int64, v int64) {
	switch {
	case v == recording.Missing:
	case *at == recording.Missing:
		*at = v
	default:
		sum := *at + v
		if (sum > *at) != (v > 0) && v != 0 {
			a.Overflow++
			sum = math.MaxInt64
			if v < 0 {
				sum = math.MinInt64 + 1
			}
		}
		*at = sum
	}
}
