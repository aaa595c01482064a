package compare

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestSortLengths compares sortLengths with an ordinary sort, for lists of any length and
// with equal bytes.
func TestSortLengths(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 1))
	room := make([]length, mostSpans)
	for _, widest := range []float64{0, 1, 1000, 1e6, 1e12, math.MaxFloat64} {
		for range 40 {
			var ls []length
			for range rng.IntN(mostSpans + 1) {
				ls = append(ls, newLength(rng.Float64()*widest))
			}
			want := durationsOf(ls)
			slices.Sort(want)
			if sortLengths(ls, room); !slices.Equal(durationsOf(ls), want) {
				t.Fatalf("%d lengths up to %v are in another order", len(ls), widest)
			}
		}
	}
}
