package details

import (
	"cmp"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"ashlar/ingest/query/analyze"
)

// TestHeaviestRows checks that heaviestRows picks the same rows as sorting all rows by
// magnitude.
func TestHeaviestRows(t *testing.T) {
	for seed := range uint64(500) {
		rng := rand.New(rand.NewPCG(seed, 1))
		rows := make([]analyze.Row, rng.IntN(12))
		for i := range rows {
			rows[i].Self = int64(rng.IntN(9) - 4)
			if rng.IntN(20) == 0 {
				rows[i].Self = []int64{math.MaxInt64, math.MinInt64 + 1}[rng.IntN(2)]
			}
		}
		slices.SortFunc(rows, func(a, b analyze.Row) int { return cmp.Compare(b.Self, a.Self) })
		abs := func(v int64) int64 { return max(v, -v) }
		var want, got []int64
		for _, r := range rows {
			if r.Self != 0 {
				want = append(want, abs(r.Self))
			}
		}
		slices.SortFunc(want, func(a, b int64) int { return cmp.Compare(b, a) })
		most := 1 + rng.IntN(8)
		seen := map[int]bool{}
		for _, i := range heaviestRows(rows, most) {
			if seen[i] {
				t.Fatalf("row %d twice of %v", i, rows)
			}
			seen[i] = true
			got = append(got, abs(rows[i].Self))
		}
		if !slices.Equal(got, want[:min(most, len(want))]) {
			t.Fatalf("%v of %v", got, want)
		}
	}
}

// TestWhatIsAskedOfSlowCalls checks that the question is about the smaller group, slow or
// fast calls.
func TestWhatIsAskedOfSlowCalls(t *testing.T) {
	for _, x := range []struct {
		slow, all int64
		apart     bool
		where     string
		want      string
	}{
		{1, 9, true, "", ""},
		{40, 1000, true, " on this thread", "Why are 40 of 1000 calls on this thread slow?"},
		{1, 28, true, "", "Why is 1 of 28 calls slow?"},
		{500, 1000, true, "", "Why are 500 of 1000 calls slow?"},
		{760, 1000, true, "", "Why are 240 of 1000 calls fast?"},
		{100, 1000, false, "", "Why are the slowest 100 of 1000 calls slower?"},
	} {
		if got := slowText(x.slow, x.all, x.apart, x.where); got != x.want {
			t.Errorf("%d of %d: %q, want %q", x.slow, x.all, got, x.want)
		}
	}
}
