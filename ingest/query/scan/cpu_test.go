package scan

import (
	"context"
	"math/rand/v2"
	"testing"

	"ashlar/ingest/model/recording"
)

// TestCPUIsWhatSpansTell compares the columns and each track's sum with the CPU times of
// single spans. Spans inside another span with a known CPU time do not count again.
func TestCPUIsWhatSpansTell(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 16))
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	b.SetCPU(func(ref uint64) (int64, bool) { return int64(ref / 4), ref%4 != 0 })
	frame := b.FunctionFrame(b.Function(recording.Function{Name: "f"}))
	for th := range 3 {
		tr := b.Track(recording.TrackKey{TID: int64(th + 1)})
		for at := int64(0); at < 60_000; at += 5 + r.Int64N(20) {
			if tr.Depth() > 4 || tr.Depth() > 0 && r.IntN(2) == 0 {
				tr.End(at)
			} else {
				tr.Begin(at, frame, uint64(4+r.IntN(400))) // a quarter have no CPU time
			}
		}
	}
	rec := b.Finish()
	of, err := CPU(context.Background(), rec)
	if err != nil {
		t.Fatal(err)
	}
	if again, _ := CPU(context.Background(), rec); again != of || rec.CPUTimes.Known() != of {
		t.Error("what is known is found again")
	}
	for ti, tr := range rec.Tracks {
		var sum int64
		told := 0
		for li := range tr.Lanes {
			l := &tr.Lanes[li]
			for i := range l.Len() {
				ps, known := rec.SpanCPU(l, i)
				if got := of.Spans[ti][li][i]; known != (got != recording.Missing) || known && got != ps {
					t.Fatalf("span %d of lane %d: %d, want %d, %v", i, li, got, ps, known)
				}
				if !known || within(rec, tr, li, i) {
					continue
				}
				told++
				sum += ps
			}
		}
		if told < 100 || of.Outer[ti] != sum {
			t.Errorf("track %d: %d on processors, want %d of %d spans", ti, of.Outer[ti], sum, told)
		}
	}
}

// within reports whether a span is inside another span with a known CPU time.
func within(rec *recording.Recording, t *recording.Track, lane, i int) bool {
	at, end := t.Lanes[lane].Start(i), t.Lanes[lane].End(i)
	for up := range lane {
		l := &t.Lanes[up]
		for k := range l.Len() {
			if _, known := rec.SpanCPU(l, k); known && l.Start(k) <= at && l.End(k) >= end {
				return true
			}
		}
	}
	return false
}
