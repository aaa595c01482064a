package analyze

import (
	"math/rand/v2"
	"slices"
	"testing"

	"ashlar/ingest/model/recording"
)

func win(start, end int64) recording.Window { return recording.Window{Start: start, End: end} }

func TestCover(t *testing.T) {
	seconds := []recording.Window{win(0, 100), win(0, 10), win(10, 20), win(20, 30), win(30, 40)}
	for _, c := range []struct {
		name     string
		windows  []recording.Window
		from, to int64
		want     []int
	}{
		{"none", nil, 0, 10, nil},
		{"the fine ones where they cover all", seconds, 5, 25, []int{1, 2, 3}},
		{"edges do not touch", seconds, 10, 20, []int{2}},
		{"the coarse one where the fine ones leave most of the range open", seconds, 0, 100, []int{0}},
		{"behind the fine ones", seconds, 50, 60, []int{0}},
		{"outside", seconds, 200, 300, nil},
		{"twice the same", []recording.Window{win(0, 10), win(0, 10)}, 0, 10, []int{0}},
		{"one inside another", []recording.Window{win(0, 10), win(3, 5)}, 0, 10, []int{0}},
		{"overlapping", []recording.Window{win(0, 10), win(5, 15), win(10, 20)}, 0, 20, []int{0, 2}},
		{"least beside the range", []recording.Window{win(0, 100), win(40, 60)}, 45, 55, []int{1}},
		{"no length", []recording.Window{win(5, 5), win(5, 5), win(0, 5)}, 0, 10, []int{2, 0, 1}},
		{"no length in another", []recording.Window{win(5, 5), win(0, 10)}, 0, 10, []int{1}},
		{"file order does not matter", []recording.Window{win(20, 30), win(0, 10), win(10, 20)}, 0, 30, []int{1, 2, 0}},
	} {
		if got := cover(c.windows, c.from, c.to); !slices.Equal(got, c.want) {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
	}
}

// TestCoverIsBest checks that no choice of windows is better than cover's, by trying all
// choices among a few random windows.
func TestCoverIsBest(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	for range 400 {
		ws := make([]recording.Window, r.IntN(9))
		for i := range ws {
			ws[i].Start = r.Int64N(30)
			ws[i].End = ws[i].Start + 1 + r.Int64N(12)
		}
		from := r.Int64N(30)
		to := from + 1 + r.Int64N(15)
		value := func(set []int) (m merit, ok bool) {
			for k, i := range set {
				w := ws[i]
				if w.Start >= to || w.End <= from {
					return m, false
				}
				for _, j := range set[:k] {
					if ws[j].Start < w.End && w.Start < ws[j].End {
						return m, false
					}
				}
				in := min(w.End, to) - max(w.Start, from)
				m = m.plus(merit{in, in - (w.End - w.Start), 1})
			}
			return m, true
		}
		var best merit
		for bits := range 1 << len(ws) {
			var set []int
			for i := range ws {
				if bits>>i&1 == 1 {
					set = append(set, i)
				}
			}
			if m, ok := value(set); ok && best.less(m) {
				best = m
			}
		}
		got := cover(ws, from, to)
		m, ok := value(got)
		if !ok || m != best {
			t.Fatalf("for %d..%d of %v: %v (allowed: %v) is worth %v, the best is worth %v", from, to, ws, got, ok, m, best)
		}
	}
}
