package spans

import (
	"math/rand/v2"
	"slices"
	"testing"

	"ashlar/ingest/model/recording"
)

// TestCore compares the core of random recordings, with some events far away, with the
// largest gap in a sorted list of all events.
func TestCore(t *testing.T) {
	type event struct{ start, end int64 }
	r := rand.New(rand.NewPCG(5, 6))
	found := 0
	for range 300 {
		b := recording.NewBuilder()
		b.AddEvent(recording.SpanEvent())
		f := b.FunctionFrame(b.Function(recording.Function{Name: "f"}))
		var all []event
		n := 20 + r.IntN(400)
		far := func() int64 { return []int64{-1, 0, 0, 1}[r.IntN(4)] * r.Int64N(30_000) }
		for tid := range int64(1 + r.IntN(3)) {
			track := b.Track(recording.TrackKey{PID: 1, TID: tid + 1})
			at, stray := int64(50_000), r.IntN(12)
			var times []event
			for i := range n {
				at += r.Int64N(10)
				e := event{at, at + r.Int64N(5)}
				if i < stray {
					e.start = max(0, e.start+far())
					e.end = e.start + 1
				} else if at = e.end; r.IntN(400) == 0 {
					at += 40_000
				}
				times = append(times, e)
			}
			slices.SortFunc(times, func(x, y event) int { return int(x.start - y.start) })
			last := int64(-1)
			for _, e := range times {
				if e.start < last || r.IntN(3) == 0 {
					track.Instant(e.start, "i", 0)
					e.end = e.start
				} else {
					track.Begin(e.start, f, 0)
					track.End(e.end)
					last = e.end
				}
				all = append(all, e)
			}
		}
		rec := b.Finish()
		want := Core{From: rec.Start, To: rec.End}
		most := min(strayEvents, len(all)/strayShare)
		slices.SortFunc(all, func(x, y event) int { return int(x.start - y.start) })
		until := int64(0)
		for i, e := range all {
			if i > 0 && float64(e.start-until) > emptyShare*float64(rec.End-rec.Start) {
				if i <= most {
					want.From, want.Before = e.start, i
				} else if len(all)-i <= most {
					want.To, want.After = until, len(all)-i
				}
			}
			until = max(until, e.end)
		}
		if got := NewCore(rec); got != want {
			t.Fatalf("%d events: %+v, want %+v", len(all), got, want)
		}
		if want.Before+want.After > 0 {
			found++
		}
	}
	if found < 10 {
		t.Errorf("only %d recordings have events far from the others", found)
	}
}
