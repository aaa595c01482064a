package recording

import "testing"

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
