package unordered

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Merging the runs gives the same order as sorting all spans, for any order of arrival and
// any number of equal spans.
func TestMerge(t *testing.T) {
	for seed := range uint64(10) {
		rng := rand.New(rand.NewPCG(seed, 1))
		var s Runs
		var want []Span
		n := 5 * RunSpans / 2
		scattered := seed >= 6 // random order over many runs, some with few distinct times
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
				start = rng.Int64N(100) // starts long before its arrival
			}
			x := Span{start, start + rng.Int64N(3), 1, uint32(i) * rng.Uint32N(2)}
			want = append(want, x)
			s.Add(x)
			if rng.IntN(3000) == 0 { // First in the middle of a run
				s.First()
			}
		}
		// Equal spans keep their order of arrival.
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
