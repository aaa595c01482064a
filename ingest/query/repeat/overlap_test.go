package repeat

import (
	"math/rand/v2"
	"testing"

	"ashlar/ingest/model/recording"
)

// TestEndAfter compares the search along a lane with the search in all of it.
func TestEndAfter(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	frame := b.FunctionFrame(b.Function(recording.Function{Name: "f"}))
	tr := b.Track(recording.TrackKey{TID: 1})
	at := int64(0)
	for range 3000 {
		at += rng.Int64N(50)
		tr.Begin(at, frame, 0)
		at += rng.Int64N(50)
		tr.End(at)
	}
	lane := &b.Finish().Tracks[0].Lanes[0]
	seen := 0
	for from := int64(-5); from < at+100; from += rng.Int64N(rng.Int64N(4000) + 1) {
		if seen = endAfter(lane, seen, from); seen != lane.Search(from) {
			t.Fatalf("the first span that ends after %d is %d, want %d", from, seen, lane.Search(from))
		}
	}
}
