package timeline

import (
	"math/rand/v2"
	"testing"

	"ashlar/ingest/model/recording"
)

// TestBusyIsTheUnion checks that a thread with overlapping spans is busy while any of
// them runs, in the sum and in the overview.
func TestBusyIsTheUnion(t *testing.T) {
	for seed := range uint64(40) {
		rng := rand.New(rand.NewPCG(seed, 3))
		b := recording.NewBuilder()
		b.AddEvent(recording.SpanEvent())
		tb := b.Track(recording.TrackKey{TID: 1})
		frame := b.FunctionFrame(b.Function(recording.Function{Name: "kernel"}))
		var ran [1000]bool
		b.Cover(0, int64(len(ran)))
		for range 1 + rng.IntN(40) {
			start := rng.IntN(len(ran) - 60)
			end := start + rng.IntN(60)
			tb.Span(int64(start), int64(end), frame, 0, false)
			for at := start; at < end; at++ {
				ran[at] = true
			}
		}
		want := 0
		for _, r := range ran {
			if r {
				want++
			}
		}
		rec := b.Finish()
		for range 2 { // the second result comes from the cache
			if got := covered(rec, rec.Tracks[0]); got != float64(want) {
				t.Fatalf("seed %d: %v is covered of %d", seed, got, want)
			}
		}
		p := density{rec: rec, d: make([]float64, len(ran)), perPs: 1, res: 1}
		p.track(rec.Tracks[0])
		for at, d := range p.d {
			if (d > .5) != ran[at] || d > 1.001 {
				t.Fatalf("seed %d: %v of %d is busy, want %v", seed, d, at, ran[at])
			}
		}
	}
}
