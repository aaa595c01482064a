package spall

import (
	"encoding/binary"
	"math"
	"slices"

	"ashlar/ingest/model/recording"
)

// maxTime limits times, in picoseconds before or after the origin, so that the difference
// between any two fits in an int64.
const maxTime = 1 << 62

// clock turns the file's times into picoseconds since an origin.
type clock struct {
	// One tick is hi+lo picoseconds. The sum is exact even if the header's number times
	// perUnit is not a float64.
	hi, lo float64
	whole  int64 // hi+lo when that is an integer, else 0
	ints   int64 // whole tick counts below this are in range; 0 if whole is 0
	// For a whole number of ticks below most, the product with near is the nearest
	// picosecond, because lo is too small to matter.
	near int64
	most float64
	// The origin in ticks, a whole number so that it can be stored exactly.
	base  float64 // versions 0 and 1
	ticks uint64  // version 3
}

func newClock(unit float64, perUnit float64) clock {
	hi := unit * perUnit
	c := clock{hi: hi, lo: math.FMA(unit, perUnit, -hi)}
	if c.lo == 0 && hi == math.Trunc(hi) && hi < 1<<53 {
		c.whole = int64(hi)
		if c.whole > 0 {
			c.ints = maxTime / c.whole
		}
	}
	if hi == math.Trunc(hi) && hi > 0 && hi < 1<<53 {
		c.near, c.most = int64(hi), maxTime/hi/2
		if c.lo != 0 {
			c.most = min(c.most, .49/math.Abs(c.lo))
		}
	}
	return c
}

// span converts a difference in ticks to the nearest picosecond of the exact product; ok
// is false if it is not a number or out of range.
func (c *clock) span(d float64) (ps int64, ok bool) {
	p := d * c.hi
	if !(p < maxTime && p > -maxTime) {
		return 0, false
	}
	i := int64(p)
	if c.whole != 0 {
		if n := int64(d); float64(n) == d {
			return n * c.whole, true
		}
	}
	r := p - float64(i) + (math.FMA(d, c.hi, -p) + d*c.lo)
	return i + int64(math.Floor(r+0.5)), true
}

// float converts a time of version 0 or 1. It subtracts the origin first, to keep digits
// that a float64 of the whole time in picoseconds would lose.
func (c *clock) float(t float64) (ps int64, ok bool) {
	if ps, ok = c.quickFloat(t); ok {
		return ps, ok
	}
	return c.span(t - c.base)
}

// quickFloat handles most times of float, without a call in hot loops. If ok is false,
// call float.
func (c *clock) quickFloat(t float64) (ps int64, ok bool) {
	d := t - c.base
	n := int64(d)
	return n * c.near, float64(n) == d && d < c.most && d > -c.most
}

// int converts a time of version 3.
func (c *clock) int(t uint64) (ps int64, ok bool) {
	if ps, ok = c.quickInt(t); ok || c.whole != 0 {
		return ps, ok
	}
	d := int64(t - c.ticks)
	// d may have more digits than a float64: convert it in two parts.
	high := float64(d)
	ps, ok = c.span(high)
	if !ok || math.Abs(high) < 1<<53 {
		return ps, ok
	}
	low, ok := c.span(float64(d - int64(high)))
	return ps + low, ok
}

// quickInt handles most times of int, as quickFloat does for float.
func (c *clock) quickInt(t uint64) (ps int64, ok bool) {
	d := int64(t - c.ticks)
	return d * c.whole, d < c.ints && d > -c.ints
}

// begin sets the origin from the first times of a file. It is the first of them that is
// close enough to their median to keep most times in range: some writers begin with a 0.
func (c *clock) begin(times []float64) {
	var finite []float64
	for _, t := range times {
		if !math.IsNaN(t) && !math.IsInf(t, 0) {
			finite = append(finite, t)
		}
	}
	if len(finite) == 0 {
		return
	}
	sorted := slices.Clone(finite)
	slices.Sort(sorted)
	middle := sorted[len(sorted)/2]
	for _, t := range finite {
		if d := math.Abs(t-middle) * c.hi; d < maxTime/4 {
			c.base = math.Floor(t)
			return
		}
	}
}

// beginInt is like begin, for version 3.
func (c *clock) beginInt(times []uint64) {
	if len(times) == 0 {
		return
	}
	sorted := slices.Clone(times)
	slices.Sort(sorted)
	middle := sorted[len(sorted)/2]
	for _, t := range times {
		if d := math.Abs(float64(int64(t-middle))) * c.hi; d < maxTime/4 {
			c.ticks = t
			return
		}
	}
}

// describe sets the recording's clock. If the file's tick is not a known unit, times are
// given in the format's usual unit.
func (c *clock) describe(out *recording.Clock, perUnit float64) {
	names := map[int64]string{1: "ps", 1e3: "ns", 1e6: "us", 1e9: "ms", 1e12: "seconds"}
	exact := c.base == 0 && c.ticks < 1<<63 || math.Abs(c.base) < 1<<62
	if name := names[c.whole]; name != "" && exact {
		out.Unit, out.PerUnit = name, c.whole
		out.Origin.Mantissa = int64(c.base) + int64(c.ticks)
		return
	}
	out.Unit, out.PerUnit = names[int64(perUnit)], int64(perUnit)
	origin := (c.base + float64(c.ticks)) * c.hi
	if math.Abs(origin) < maxTime {
		out.Origin = recording.Decimal{Mantissa: int64(math.Round(origin)), Scale: int(math.Round(math.Log10(perUnit)))}
	}
}

func floatAt(b []byte, i int) float64 {
	return math.Float64frombits(binary.LittleEndian.Uint64(b[i:]))
}
