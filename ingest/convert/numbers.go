package convert

import (
	"math"
	"math/big"
	"strconv"

	"ashlar/ingest/recording"
)

// appendValue writes a metric's value as the shortest exact decimal.
func appendValue(dst []byte, v int64, decimals int) []byte {
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

// clockText writes moments as whole units and a part of one, so that the times of
// a clock that counts from 1970 keep their picoseconds: 64 bits do not hold
// both.
type clockText struct {
	// per is how many picoseconds the unit has, digits its decimals.
	per    int64
	digits int
	// origin of the recording, in units and picoseconds.
	units, rest int64
	// cut tells that the origin had parts of picoseconds, which are lost.
	cut bool
}

const second = 1e12 // in picoseconds

// newClockText writes a recording's times in a unit of per picoseconds (a power
// of ten). ok is false where its clock does not fit 64 bits in that unit; times
// are then relative to its origin.
func newClockText(c *recording.Clock, per int64) (t clockText, ok bool) {
	t = clockText{per: per, digits: len(strconv.FormatInt(per, 10)) - 1}
	unit := c.PerUnit
	if unit <= 0 {
		unit = 1
	}
	ps := new(big.Int).Mul(big.NewInt(c.Origin.Mantissa), big.NewInt(unit))
	if s := c.Origin.Scale; s > 0 {
		rest := new(big.Int)
		ps.DivMod(ps, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(s)), nil), rest)
		t.cut = rest.Sign() != 0
	} else if s < 0 {
		ps.Mul(ps, new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(min(-s, 40))), nil))
	}
	units, rest := new(big.Int).DivMod(ps, big.NewInt(per), new(big.Int))
	if !units.IsInt64() || units.Int64() > math.MaxInt64/2 || units.Int64() < math.MinInt64/2 {
		return t, false
	}
	t.units, t.rest = units.Int64(), rest.Int64()
	return t, true
}

// at splits a time: whole units (rounded down) and picoseconds behind them.
func (c *clockText) at(ps int64) (units, rest int64) {
	units, rest = ps/c.per, ps%c.per+c.rest
	if rest < 0 {
		units, rest = units-1, rest+c.per
	} else if rest >= c.per {
		units, rest = units+1, rest-c.per
	}
	return c.units + units, rest
}

// append writes a time as an exact decimal.
func (c *clockText) append(dst []byte, ps int64) []byte {
	units, rest := c.at(ps)
	if units < 0 && rest > 0 { // -0.25 is one unit down and 0.75 up
		units, rest = units+1, c.per-rest
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

// rounder brings a metric's values to integers. What is cut off one value is
// added to the next, so that their sum is off by no more than half a unit.
type rounder struct {
	scale int64 // 10^decimals
	carry int64
	n     int64 // values that had a fraction
}

func newRounder(decimals int) rounder {
	r := rounder{scale: 1}
	for range decimals {
		r.scale *= 10
	}
	return r
}

// value rounds v; Missing is 0.
func (r *rounder) value(v int64) int64 {
	if v == recording.Missing {
		return 0
	}
	if r.scale == 1 {
		return v
	}
	whole, rest := v/r.scale, v%r.scale
	if rest != 0 {
		r.n++
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
