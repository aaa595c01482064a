package pairmap

import (
	"math/rand/v2"
	"testing"
)

// TestChildren compares with a map: few and very many children, chains, and keys looked up
// in order and at random.
func TestChildren(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	c := NewChildren[uint32](nil)
	want := map[[2]uint32]uint32{}
	parents := []uint32{0}
	for range 60_000 {
		parent := parents[rng.IntN(min(len(parents), 5000))]
		if rng.IntN(20) == 0 {
			parent = parents[len(parents)-1]
		}
		key := rng.Uint32N(3)
		if parent%7 == 0 {
			key = rng.Uint32N(200)
		}
		id, known := want[[2]uint32{parent, key}]
		if got, _ := c.Get(parent, key); got != id {
			t.Fatalf("child %d of %d is %d, want %d", key, parent, got, id)
		}
		if !known {
			id = uint32(c.Len())
			want[[2]uint32{parent, key}] = id
			parents = append(parents, id)
		}
		if got := c.Child(parent, key); got != id {
			t.Fatalf("child %d of %d is %d, want %d", key, parent, got, id)
		}
		if !known && rng.IntN(10) == 0 {
			keys := make([]uint32, rng.IntN(300))
			c.Chain(id, keys[:len(keys):len(keys)])
			for i := range keys {
				want[[2]uint32{id, 0}] = id + 1
				id++
				if i%50 == 0 {
					parents = append(parents, id)
				}
			}
		}
	}
	if c.Len() != len(want)+1 {
		t.Errorf("there are %d nodes, want %d", c.Len(), len(want)+1)
	}
	for k, id := range want {
		if got, _ := c.Get(k[0], k[1]); got != id {
			t.Fatalf("child %d of %d is %d, want %d", k[1], k[0], got, id)
		}
	}
}

func BenchmarkChildren(b *testing.B) {
	const n = 1 << 20
	for b.Loop() {
		rng := rand.New(rand.NewPCG(5, 6))
		c := NewChildren[uint32](nil)
		var path [28]uint32
		depth := 0
		for c.Len() < n {
			if depth > 0 && (rng.IntN(2) == 0 || depth == len(path)-1) {
				depth--
				continue
			}
			path[depth+1] = c.Child(path[depth], rng.Uint32N(2700))
			depth++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/n/float64(b.N), "ns/node")
}
