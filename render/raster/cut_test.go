package raster

import (
	"math/rand/v2"
	"testing"
)

// TestCutKeepsWhatFits compares with trying each length.
func TestCutKeepsWhatFits(t *testing.T) {
	f := Regular(12)
	r := rand.New(rand.NewPCG(3, 9))
	for range 300 {
		runes := make([]rune, r.IntN(40))
		for i := range runes {
			runes[i] = []rune("abcimw.W 0é…")[r.IntN(12)]
		}
		s, w := string(runes), float32(r.IntN(240))
		want := s
		if f.Measure(s) > w {
			want = Ellipsis
			for n := range runes {
				if c := string(runes[:n]) + Ellipsis; f.Measure(c) <= w {
					want = c
				}
			}
		}
		if got := f.Cut(s, w); got != want {
			t.Fatalf("%q in %v pixels is %q, want %q", s, w, got, want)
		}
	}
}
