package decode

import (
	"slices"
	"testing"
)

// TestAnchor checks that a recording counts from its first time unless that is far from most.
func TestAnchor(t *testing.T) {
	of := func(seconds ...int64) (times []Picos) {
		for _, s := range seconds {
			times = append(times, Picos{Mantissa: s, Scale: -12})
		}
		return times
	}
	const now = 1_700_000_000
	for _, c := range []struct {
		times []Picos
		want  int
	}{
		{nil, 0},
		{of(now), 0},
		{of(now+2, now, now+1), 0},
		{of(0, now, now+1), 1},
		{of(-now, now+1, now), 1},
		{of(0, 2*now, now, now+1, now+2), 2},
		{of(now, now+1, 0), 0},
		{of(now, now+1, 4*now), 0},
		{append(of(make([]int64, 1500)...), of(slices.Repeat([]int64{now}, 8000)...)...), 1500},
	} {
		if got := Anchor(c.times); got != c.want {
			t.Errorf("Anchor(%v) = %d, want %d", c.times[:min(len(c.times), 8)], got, c.want)
		}
	}
}

// TestOrigin checks that a recording counts from the earliest time near most others.
func TestOrigin(t *testing.T) {
	const now = 1_700_000_000_000_000_000
	for _, c := range []struct {
		times []int64
		want  int64
	}{
		{[]int64{now}, now},
		{[]int64{now + 2, now, now + 1}, now},
		{[]int64{12345, now + 1, now}, now},
		{[]int64{now + 1, now, 12345}, now},
		{[]int64{now + 1, 4 * now, now}, now},
	} {
		if got := Origin(c.times); got != c.want {
			t.Errorf("Origin(%v) = %d, want %d", c.times, got, c.want)
		}
	}
}
