package repeat

import (
	"math"
	"testing"
)

func TestChance(t *testing.T) {
	for _, c := range []struct {
		a, na, b, nb int
		want         float64
	}{
		{3, 3, 0, 3, 1. / 20}, // 1 of the 20 ways to choose 3 of 6
		{1, 1, 0, 3, 1. / 4},  //
		{0, 5, 2, 5, 1},       // at least none: certain
		{2, 2, 1, 3, 3. / 10}, // both of the first two: 3 of the 10 ways to choose 3 of 5
		{4, 4, 0, 996, 24. / (1000. * 999 * 998 * 997)},
	} {
		want := c.want
		if got := Chance(c.a, c.na, c.b, c.nb); math.Abs(got-want) > 1e-9*want+1e-15 {
			t.Errorf("%+v gives %v, want %v", c, got, want)
		}
	}
}

func TestStem(t *testing.T) {
	for name, want := range map[string]string{"ProfilerStep#12": "ProfilerStep#", "Frame": "Frame", "7 of 9": " of "} {
		if got := Stem(name); got != want {
			t.Errorf("%q gives %q, want %q", name, got, want)
		}
	}
}

func TestEven(t *testing.T) {
	for _, c := range []struct {
		of   []int64
		want bool
	}{
		{[]int64{10, 10, 11, 9, 10}, true},
		{[]int64{10, 10, 11, 9, 30}, true},
		{[]int64{10, 3, 30, 9, 17}, false},
	} {
		if _, ok := even(c.of); ok != c.want {
			t.Errorf("%v gives %v", c.of, ok)
		}
	}
}

func TestAtLeast(t *testing.T) {
	for _, c := range []struct {
		k, n    int
		p, want float64
	}{{0, 5, .1, 1}, {1, 2, .5, .75}, {2, 2, .5, .25}, {3, 4, .5, 5. / 16}, {4, 4, 1, 1}, {1, 4, 0, 0}} {
		if got := AtLeast(c.k, c.n, c.p); math.Abs(got-c.want) > 1e-12 {
			t.Errorf("%+v gives %v", c, got)
		}
	}
}
