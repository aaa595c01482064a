package unordered

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Runs that are merged give what sorting everything gives, whatever the order
// and however many spans are alike.
func TestMerge(t *testing.T) {
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var s Runs
		var want []Span
		n := 5 * RunSpans / 2
		scattered := seed >= 6 // in no order, over many runs; some of few times, or far apart
		if scattered {
			n = 9 * RunSpans
		}
		for i := range n {
			start := int64(i) + rng.Int64N(1+int64(seed)*500)
			switch {
			case scattered:
				start = rng.Int64N([]int64{1 << 40, 40, 1 << 18, 1 << 61}[seed-6])
				if seed == 8 && i%20_000 == 7 {
					start = math.MinInt64 / 2
				}
			case rng.IntN(5000) == 0:
				start = rng.Int64N(100) // long ones come late
			}
			x := Span{start, start + rng.Int64N(3), 1, uint32(i) * rng.Uint32N(2)}
			want = append(want, x)
			s.Add(x)
			if rng.IntN(3000) == 0 { // in the middle of a run
				s.First()
			}
		}
		// Those alike keep their order among those of a run, which sorting them
		// again does not change.
		slices.SortStableFunc(want, func(a, b Span) int {
			return cmp.Or(cmp.Compare(a.Start, b.Start), cmp.Compare(b.End, a.End))
		})
		for i, stop := 0, n/3; i < n; stop = n {
			s.Merge(func(x *Span) bool {
				if i == stop {
					return false
				}
				if i >= n || *x != want[i] {
					t.Fatalf("seed %d: span %d is %v", seed, i, *x)
				}
				i++
				return true
			})
			if i != stop || s.Len() != n-i {
				t.Fatalf("seed %d: %d spans of %d, %d are left", seed, i, n, s.Len())
			}
		}
	}
}
