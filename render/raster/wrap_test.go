package raster

import (
	"math/rand/v2"
	"strings"
	"testing"

	"ashlar/testdata/rounds"
)

// TestWrap checks that lines are as long as fits and that no characters except blanks are
// lost.
func TestWrap(t *testing.T) {
	rounds.Unraced(t)
	f := Regular(12)
	r := rand.New(rand.NewPCG(5, 5))
	for range 400 {
		runes := make([]rune, r.IntN(120))
		for i := range runes {
			runes[i] = []rune("abcimw.W  é名ש")[r.IntN(13)]
		}
		s, w := strings.TrimSpace(string(runes)), float32(30+r.IntN(200))
		lines := f.Wrap(s, w, 1000)
		if bare := strings.NewReplacer(" ", ""); bare.Replace(strings.Join(lines, "")) != bare.Replace(s) {
			t.Fatalf("%q in %v pixels loses letters: %q", s, w, lines)
		}
		for i, l := range lines {
			if m := f.Measure(l); m > w && len([]rune(l)) > 1 {
				t.Fatalf("%q is %v wide, want at most %v", l, m, w)
			}
			if i+1 == len(lines) {
				break
			}
			// Neither the next line's first word nor, if a word was broken, its first letter
			// may fit into this line.
			next, word := strings.Fields(lines[i+1])[0], l+" "
			if strings.Contains(strings.Join(strings.Fields(s), " "), l+next) && !strings.Contains(strings.Join(strings.Fields(s), " "), l+" "+next) {
				next, word = string([]rune(next)[0]), l
			}
			if f.simple(s) && f.Measure(word+next) <= w {
				t.Fatalf("%q in %v pixels: %q has room for %q", s, w, l, next)
			}
		}
		if cut := f.Wrap(s, w, 2); len(lines) > 2 && (len(cut) != 2 || !strings.HasSuffix(cut[1], Ellipsis) && cut[1] != "") {
			t.Fatalf("%q in two lines is %q", s, cut)
		}
	}
}

// TestWrapOfJSON checks that a JSON value without blanks is broken after commas.
func TestWrapOfJSON(t *testing.T) {
	f := Regular(12)
	for _, line := range f.Wrap(`{"first":"alpha","second":"beta","third":"gamma","fourth":"delta"}`, 150, 20)[:3] {
		if !strings.HasSuffix(line, ",") {
			t.Errorf("a line ends within a word: %s", line)
		}
	}
}
