package recording

import (
	"math"
	"math/bits"

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

// Wide is a sum of 128 bits: it does not depend on the order of its summands.
type Wide struct {
	high int64
	low  uint64
}

// Add adds v.
func (w *Wide) Add(v int64) { w.Join(Wide{v >> 63, uint64(v)}) }

// Join adds another sum.
func (w *Wide) Join(o Wide) {
	low, carry := bits.Add64(w.low, o.low, 0)
	w.high, w.low = w.high+o.high+int64(carry), low
}

// Limited returns the sum, or the nearest number in range.
func (w Wide) Limited() int64 {
	if v := int64(w.low); w.high == v>>63 && v != Missing {
		return v
	}
	return end(w.high)
}

// Exact reports whether Limited is the sum itself.
func (w Wide) Exact() bool { v := w.Limited(); return int64(w.low) == v && w.high == v>>63 }

// stackTotal is the sum of the stack records of a metric. The sums above and below zero tell
// whether some part of the total exceeds 64 bits, in whatever order the records come.
type stackTotal struct {
	all          Wide
	above, below int64
}

// add adds a value; false if a part of the total exceeds 64 bits.
func (t *stackTotal) add(v int64) bool {
	t.all.Add(v)
	part := &t.above
	if v < 0 {
		part = &t.below
	}
	sum := *part + v
	*part = Saturated(*part, v)
	return *part == sum
}

func (b *Builder) stackTotal(event, metric int) *stackTotal {
	for len(b.totals) <= event {
		b.totals = append(b.totals, nil)
	}
	for len(b.totals[event]) <= metric {
		b.totals[event] = append(b.totals[event], stackTotal{})
	}
	return &b.totals[event][metric]
}

// addTotal adds a stack record's value to a metric's total.
func (b *Builder) addTotal(event, metric int, v int64) {
	t, m := b.stackTotal(event, metric), &b.rec.Events[event].Metrics[metric]
	if !t.add(v) {
		b.overflows(m.Name)
	}
	m.Total = t.all.Limited()
}

// warnTotal is the code of the warning that a total is more than can be counted.
const warnTotal = "total-overflow"

// overflows adds a warning that a total overflows, once for all metrics.
func (b *Builder) overflows(metric string) {
	if _, said := b.warn[warnTotal]; !said {
		b.Warn(warnTotal, "", "the total of metric %q exceeds 2^63 of its smallest unit (for times, 106 days); sums are limited to that", metric)
	}
}

// total is Saturated for totals of the recording; it adds a warning if a total overflows.
func (b *Builder) total(a, v int64, metric string) int64 {
	s := Saturated(a, v)
	if s != a+v {
		b.overflows(metric)
	}
	return s
}

// time is total for the time of spans.
func (b *Builder) time(a, v int64) int64 { return b.total(a, v, "time") }
