package order

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestBy compares with the stable sort of package slices.
func TestBy(t *testing.T) {
	type pair struct{ key, at int }
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 1))
		var list []pair
		for i := range r.IntN(200) {
			list = append(list, pair{r.IntN(20), i})
		}
		want := slices.Clone(list)
		byKey := func(a, b pair) int { return cmp.Compare(a.key, b.key) }
		slices.SortStableFunc(want, byKey)
		if By(list, byKey); !slices.Equal(list, want) {
			t.Fatalf("seed %d: %v, want %v", seed, list, want)
		}
	}
}
