package perfscript

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
)

// TestDeltas prints the same samples with times since boot, since the first sample, and
// since the previous one. All must give the same recording.
func TestDeltas(t *testing.T) {
	for _, even := range []bool{false, true} {
		rng := rand.New(rand.NewPCG(1, 1))
		var texts [3]strings.Builder
		start, now, before := int64(2221_725043_000), int64(0), int64(0)
		var want []int64
		for range 40 {
			for i, at := range []int64{start + now, now, now - before} {
				fmt.Fprintf(&texts[i], "vet 7 %5d.%09d: 1 cycles: \n\t1 f (/a)\n\n", at/1e9, at%1e9)
			}
			want = append(want, now*1000)
			before = now
			if even {
				now += 1_000_000
			} else {
				now += rng.Int64N(1_000_000_000)
			}
		}
		for i, text := range texts {
			r, err := decodeText(t, text.String(), 0)
			if err != nil {
				t.Fatal(err)
			}
			var got []int64
			s := r.Tracks[0].Samples[0]
			for k := range s.Len() {
				got = append(got, s.Time(k))
			}
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Errorf("even %v, form %d: times %v, want %v", even, i, got, want)
			}
			said := false
			for _, w := range r.Warnings {
				said = said || w.Code == "time-deltas"
			}
			if said != (i == 2) {
				t.Errorf("even %v, form %d: warnings %+v", even, i, r.Warnings)
			}
		}
	}
}
