package sets

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBits compares a set with a map, and checks the order from any first number.
func TestBits(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	for most := range 300 {
		var s Bits
		want := map[int]bool{}
		for range random.IntN(200) {
			i := random.IntN(most + 1)
			if want[i] && random.IntN(2) == 0 {
				s.Remove(i)
				delete(want, i)
				continue
			}
			s.Add(i)
			want[i] = true
		}
		sorted := slices.Sorted(maps.Keys(want))
		first := random.IntN(most + 1)
		k, _ := slices.BinarySearch(sorted, first)
		if got, want := slices.Collect(s.From(first)), append(slices.Clone(sorted[k:]), sorted[:k]...); !slices.Equal(got, want) {
			t.Fatalf("from %d: %v, want %v", first, got, want)
		}
		n := 0
		for range s.From(first) {
			if n++; n == 3 {
				break
			}
		}
		if n != min(3, len(sorted)) {
			t.Fatalf("stopped after %d of %d", n, len(sorted))
		}
	}
}
