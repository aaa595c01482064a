package perfetto

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestOpens compares the stack with a slice.
func TestOpens(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	var s opens
	var list []int64
	for i := range int64(100_000) {
		if up := i/20_000%2 == 0; r.IntN(10) < 3 == up {
			o, ok := s.pop()
			if n := len(list); ok != (n > 0) || ok && o.at != list[n-1] {
				t.Fatalf("%d of %d (%v) is popped", o.at, n, ok)
			} else if ok {
				list = list[:n-1]
			}
		} else {
			s.push(opened{at: i})
			list = append(list, i)
		}
		if i%9973 == 0 || i > 99_990 {
			var all []int64
			for o := range s.all {
				all = append(all, o.at)
			}
			if !slices.Equal(all, list) {
				t.Fatalf("after %d there are %d, not %d", i, len(all), len(list))
			}
		}
	}
}
