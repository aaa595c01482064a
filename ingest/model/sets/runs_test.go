package sets

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// has returns the set of indices in runs.
func has(runs []Run) map[int]bool {
	in := map[int]bool{}
	for _, r := range runs {
		for i := r.First; i < r.Last; i++ {
			in[i] = true
		}
	}
	return in
}

// TestRuns compares Joined and Without with sets of indices.
func TestRuns(t *testing.T) {
	random := rand.New(rand.NewPCG(1, 2))
	some := func() (runs []Run) {
		for range random.IntN(6) {
			first := random.IntN(30)
			runs = append(runs, Run{First: first, Last: first + 1 + random.IntN(6)})
		}
		return runs
	}
	for range 1000 {
		a, b := some(), some()
		inA, inB := has(a), has(b)
		a, b = Joined(slices.Clone(a)), Joined(slices.Clone(b))
		left := has(Without(a, b))
		gotA := has(a)
		for i := range 40 {
			if gotA[i] != inA[i] || left[i] != (inA[i] && !inB[i]) {
				t.Fatalf("%d of %v without %v: %v, %v", i, a, b, gotA[i], left[i])
			}
		}
		for i := range len(a) - 1 {
			if a[i].Last >= a[i+1].First {
				t.Fatalf("%v are not apart", a)
			}
		}
	}
}
