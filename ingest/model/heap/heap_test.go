package heap

import (
	"cmp"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestHeap compares a heap with a slice that is sorted after each change.
func TestHeap(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	h := Heap[int]{Before: cmp.Less[int]}
	var want []int
	for range 2000 {
		switch rng.IntN(5) {
		case 0, 1, 2:
			x := rng.IntN(50)
			h.Push(x)
			want = append(want, x)
		case 3:
			if len(want) > 0 {
				if got := h.Pop(); got != want[0] {
					t.Fatalf("%d comes first, want %d", got, want[0])
				}
				want = want[1:]
			}
		default:
			if len(want) > 0 {
				x := rng.IntN(50)
				h.Items[0], want[0] = x, x
				h.Fix()
			}
		}
		if slices.Sort(want); h.Len() != len(want) || len(want) > 0 && h.Min() != want[0] {
			t.Fatalf("%d of which %v is the first, want %v", h.Len(), h.Items, want)
		}
	}
}
