package source

import (
	"math/rand/v2"
	"testing"
)

// TestLanesOfArrows checks that arrows in a lane do not overlap while lanes are left, and
// that inner loops are nearer to the instructions.
func TestLanesOfArrows(t *testing.T) {
	nested := []arrow{{from: 20, to: 1}, {from: 9, to: 5}, {from: 12, to: 3}, {from: 30, to: 28}}
	if n := lanesOf(nested); n != 3 {
		t.Errorf("%d lanes", n)
	}
	want := map[int]int{30: 0, 9: 0, 12: 1, 20: 2}
	for _, a := range nested {
		if a.lane != want[a.from] {
			t.Errorf("the arrow from %d is in lane %d, not %d", a.from, a.lane, want[a.from])
		}
	}
	r := rand.New(rand.NewPCG(3, 4))
	for range 200 {
		var all []arrow
		for range r.IntN(30) {
			all = append(all, arrow{from: r.IntN(60), to: r.IntN(60)})
		}
		n := lanesOf(all)
		if n > mostLanes || (n == 0) != (len(all) == 0) {
			t.Fatalf("%d lanes of %d arrows", n, len(all))
		}
		for i, a := range all {
			for _, b := range all[:i] {
				if a.lane == b.lane && a.lane < mostLanes-1 && a.low() <= b.high() && b.low() <= a.high() {
					t.Fatalf("%+v and %+v overlap", a, b)
				}
			}
		}
	}
}
