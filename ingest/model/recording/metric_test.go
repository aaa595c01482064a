package recording

import (
	"math"
	"testing"
)

// TestFirstMetricIsNotZero checks that the metric to show first is the event's primary one
// or, if its total is zero, the nearest with a nonzero total.
func TestFirstMetricIsNotZero(t *testing.T) {
	for _, c := range []struct {
		totals        []int64
		primary, want int
	}{
		{[]int64{5, 7, 0}, 2, 1}, {[]int64{5, 0, 0}, 2, 0}, {[]int64{0, 0, 9}, 0, 2}, {[]int64{0, 0}, 1, 1}, {[]int64{1, -2, 3}, 1, 1}, {[]int64{3, 0, 4}, 1, 0},
	} {
		b := NewBuilder()
		e := Event{Primary: c.primary}
		for range c.totals {
			e.Metrics = append(e.Metrics, Metric{Name: "m", Unit: "count"})
		}
		b.AddEvent(e)
		b.AddStack(0, NoCall, NoTrack, 0, c.totals)
		if got := b.Finish().Events[0].Primary; got != c.want {
			t.Errorf("%v, %d: begins with %d, want %d", c.totals, c.primary, got, c.want)
		}
	}
}

// TestTotalsBeyond64Bits checks that a total does not depend on the order of its records,
// also where a part of it exceeds 64 bits.
func TestTotalsBeyond64Bits(t *testing.T) {
	const most = math.MaxInt64
	for _, c := range []struct {
		values    []int64
		total     int64
		saturated bool
	}{
		{[]int64{most, 5, 7}, most, true},
		{[]int64{-most, -5, -7}, -most, true},
		{[]int64{most, 5, -7}, most - 2, false},
		{[]int64{most, most, -most, -most}, 0, false},
	} {
		for turn := range c.values {
			b := NewBuilder()
			e := b.AddEvent(Event{Metrics: []Metric{{Name: "bytes"}}})
			for i := range c.values {
				b.AddStack(e, NoCall, NoTrack, 0, []int64{c.values[(i+turn)%len(c.values)]})
			}
			r := b.Finish()
			if m := &r.Events[0].Metrics[0]; m.Total != c.total || m.Saturated() != c.saturated {
				t.Errorf("%v from %d: total %d, saturated %v; want %d, %v", c.values, turn, m.Total, m.Saturated(), c.total, c.saturated)
			}
			if len(r.Warnings) != 1 || r.Warnings[0].Code != warnTotal {
				t.Errorf("%v from %d: warnings %+v", c.values, turn, r.Warnings)
			}
		}
	}
}
