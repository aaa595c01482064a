package recording

import "math"

// Saturated is a+b, or what is nearest to it: never Missing, which is no number.
func Saturated(a, b int64) int64 {
	switch s := a + b; {
	case a >= 0 && b >= 0 && s < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && (s >= 0 || s == Missing):
		return math.MinInt64 + 1
	default:
		return s
	}
}

// warnTotal is the code of the warning that a total is more than can be counted.
const warnTotal = "total-overflow"

// total is Saturated for what is added up over the recording; it says where that
// was needed.
func (b *Builder) total(a, v int64, metric string) int64 {
	s := Saturated(a, v)
	if s != a+v {
		if _, said := b.warn[warnTotal]; !said {
			b.Warn(warnTotal, "", "the total of metric %q is larger than can be counted (2^63 of its smallest unit, for times 106 days); it and other sums stop there", metric)
		}
	}
	return s
}

// time is total for the time of spans.
func (b *Builder) time(a, v int64) int64 { return b.total(a, v, "time") }
