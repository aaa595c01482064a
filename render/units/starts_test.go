package units

import (
	"math/rand/v2"
	"testing"
)

func TestStarts(t *testing.T) {
	for i, c := range []struct {
		all  []int64
		want string // text of the first time
	}{
		{[]int64{1.5e12, 2e12}, Duration(1.5e12)},
		{[]int64{61.25e12, 61.5e12, 125e12}, "61.2" + thin + "s"},
		{[]int64{61_000_123_456_789, 61_000_123_999_999}, "61.0001234" + thin + "s"},
		{[]int64{61e12, 61e12}, Duration(61e12)},
	} {
		if got := Starts(c.all)(c.all[0]); got != c.want {
			t.Errorf("%d: %q, want %q", i, got, c.want)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 200 {
		var all []int64
		base := r.Int64N(1e15)
		for range 20 {
			all = append(all, base+r.Int64N(1+r.Int64N(1e13)))
		}
		text, seen := Starts(all), map[string]int64{}
		for _, at := range all {
			if other, ok := seen[text(at)]; ok && other != at {
				t.Fatalf("%d and %d are both %s", at, other, text(at))
			}
			seen[text(at)] = at
		}
	}
}
