package recording

import (
	"math"

	"ashlar/ingest/model/column"
)

// Sums are sums by call. In a stored recording they are part of the mapped file: valid
// while the recording is reachable, and never written to.
type Sums []int64

// Pack implements [column.Packer].
func (s *Sums) Pack(a *column.Archive) {
	n := int64(len(*s))
	if *s == nil {
		n = -1
	}
	switch n = a.Signed(n); {
	case n > math.MaxInt32:
		column.Fail("a column is too long")
	case n > 0:
		column.PackChunk(a, (*[]int64)(s), int(n))
	case n == 0 && a.Reading():
		*s = Sums{}
	}
}

// Saturated returns a+b, or the nearest number in range if that overflows: never Missing,
// which is not a number.
func Saturated(a, b int64) int64 {
	if s := a + b; (a^s)&(b^s) >= 0 && s != Missing {
		return s
	}
	return end(a)
}

// Abs returns the absolute value of v.
func Abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

// end returns the limit of the range on the side of a number's sign.
func end(side int64) int64 {
	if side < 0 {
		return math.MinInt64 + 1
	}
	return math.MaxInt64
}

// Add adds to a sum, which stops at the limit of its range.
func Add(sum *int64, v int64) { *sum = Saturated(*sum, v) }

// warnTotal is the code of the warning that a total is more than can be counted.
const warnTotal = "total-overflow"

// total is Saturated for totals of the recording; it adds a warning if a total overflows.
func (b *Builder) total(a, v int64, metric string) int64 {
	s := Saturated(a, v)
	if s != a+v {
		if _, said := b.warn[warnTotal]; !said {
			b.Warn(warnTotal, "", "the total of metric %q exceeds 2^63 of its smallest unit (for times, 106 days); sums are limited to that", metric)
		}
	}
	return s
}

// time is total for the time of spans.
func (b *Builder) time(a, v int64) int64 { return b.total(a, v, "time") }
