package sets

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// The groups are the same as with a map, and both groups and their indices are in order of
// first occurrence.
func TestGroups(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	var g Groups
	for range 300 {
		numbers := make([]int32, random.IntN(100))
		most := 1 + random.IntN(200)
		want := map[int32][]int32{}
		var order []int32
		for i := range numbers {
			k := int32(random.IntN(most))
			if numbers[i] = k; want[k] == nil {
				order = append(order, k)
			}
			want[k] = append(want[k], int32(i))
		}
		g.By(len(numbers), most, func(i int) int32 { return numbers[i] })
		if g.Len() != len(order) {
			t.Fatalf("%d groups, want %d", g.Len(), len(order))
		}
		for i, k := range order {
			if !slices.Equal(g.Of(i), want[k]) {
				t.Fatalf("group %d of %v: %v, want %v", i, numbers, g.Of(i), want[k])
			}
		}
	}
}
