package match

import (
	"math/rand/v2"
	"testing"
)

// TestOverlapRoundsAlike checks that sums of fractions come in one order, and so always round to
// the same number.
func TestOverlapRoundsAlike(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	r := renamer{m: &Matching{}, alias: make([]int32, 100)}
	a, b := map[int32]float64{}, map[int32]float64{}
	for f := range int32(100) {
		r.alias[f], a[f], b[f] = f, rng.Float64(), rng.Float64()
	}
	want, _ := r.overlap(a, b, false)
	for range 50 {
		if got, _ := r.overlap(a, b, false); got != want {
			t.Fatalf("%v, before %v", got, want)
		}
	}
}
