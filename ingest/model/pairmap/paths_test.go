package pairmap

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// TestLeaf compares the numbers of sequences with a map from the sequences as text.
func TestLeaf(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	p := NewPaths()
	known := map[string]uint32{"": 0}
	texts := []string{""}
	var path []uint32
	for range 5_000 {
		long := 30
		if rng.IntN(10) == 0 {
			long = 300
		}
		path = path[:min(len(path), rng.IntN(long))]
		for rng.IntN(3) > 0 || long == 300 && rng.IntN(60) > 0 {
			path = append(path, rng.Uint32N(4)*rng.Uint32N(1<<30))
		}
		got := p.Leaf(path, 0, func(parent, id uint32) uint32 {
			text := fmt.Sprint(texts[parent], id, " ")
			if n, ok := known[text]; ok {
				return n
			}
			known[text] = uint32(len(texts))
			texts = append(texts, text)
			return known[text]
		})
		want := ""
		for _, id := range path {
			want = fmt.Sprint(want, id, " ")
		}
		if n, ok := known[want]; !ok || n != got {
			t.Fatalf("%s is %d, not %d", want, got, n)
		}
	}
	if len(texts) < 5_000 {
		t.Errorf("only %d sequences", len(texts))
	}
}

func TestPathsPutAndGet(t *testing.T) {
	p := NewPaths()
	at := p.Root()
	for i := range uint32(5000) {
		if at = at.Step(i % 7); p.Get(at) != 0 {
			t.Fatalf("%d is known", i)
		}
		p.Touch(at)
		p.Put(at, i+1)
	}
	at = p.Root()
	for i := range uint32(5000) {
		if at = at.Step(i % 7); p.Get(at) != i+1 {
			t.Fatalf("%d is %d", i, p.Get(at))
		}
	}
}
