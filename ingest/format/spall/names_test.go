package spall

import (
	"math/rand/v2"
	"testing"
)

// TestQuickNames checks that names are found by their bytes alone, whatever their length
// and whatever bytes follow.
func TestQuickNames(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	n := newNameTable()
	numbers := map[string]uint32{}
	for range 30_000 {
		// Use few letters in few places, so that many names are nearly equal.
		name := make([]byte, rng.IntN(80), 200)
		for i := range name {
			name[i] = 'a'
		}
		for range min(len(name), 3) {
			name[rng.IntN(len(name))] = byte('a' + rng.IntN(3))
		}
		behind := name[:len(name)+rng.IntN(100)]
		for i := len(name); i < len(behind); i++ {
			behind[i] = byte(rng.Uint32())
		}
		want, known := numbers[string(name)]
		if got, found := n.quick(behind, len(name)); found && (!known || got != want) {
			t.Fatalf("%q is %d, want %d (%v)", name, got, want, known)
		}
		id := n.id(name)
		if known && id != want {
			t.Fatalf("%q is %d by all of it, want %d", name, id, want)
		}
		n.keep(name, id)
		if got, found := n.quick(behind, len(name)); !found || got != id {
			t.Fatalf("%q was kept as %d, found %d, %v", name, id, got, found)
		}
		numbers[string(name)] = id
	}
}
