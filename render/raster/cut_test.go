package raster

import (
	"math/rand/v2"
	"strings"
	"testing"

	"ashlar/ingest/model/funcname"
)

// TestCutKeepsWhatFits compares Cut with a search over all lengths.
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

// TestMiddleKeepsWords checks that shortening in the middle leaves whole words.
func TestMiddleKeepsWords(t *testing.T) {
	f := Regular(12)
	s := "forward@gpu_user_annotation shorter than 7.598 ms"
	for w := float32(60); w < f.Measure(s); w += 3 {
		got := f.Middle(s, w)
		head, tail, _ := strings.Cut(got, Ellipsis)
		if f.Measure(got) > w || tail != "" && (!strings.HasPrefix(s, head) || !strings.HasSuffix(s, tail) ||
			!funcname.WordEnds(s, len(head)) || !funcname.WordEnds(s, len(s)-len(tail)) && s[len(s)-len(tail)-1] != ' ') {
			t.Errorf("in %v pixels %q is %q", w, s, got)
		}
	}
}
