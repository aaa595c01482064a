package recording

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestALoneSampleIsDrawnForAPeriod checks that samples seconds apart, on a thread that
// hardly runs, are drawn as long as the usual period of the event's samples on all threads.
// Earlier snapshots, from before the period was known, do not change.
func TestALoneSampleIsDrawnForAPeriod(t *testing.T) {
	const ms = 1e9
	r := rand.New(rand.NewPCG(7, 8))
	b := NewBuilder()
	ev := b.AddEvent(Event{Name: "cpu", Basis: FromSamples, Metrics: []Metric{{Name: "samples", PerSample: SampleOne}}})
	frame := b.FunctionFrame(b.Function(Function{Name: "f"}))
	call := b.Call(NoCall, frame)
	lone := b.Track(TrackKey{PID: 1, TID: 1})
	busy := b.Track(TrackKey{PID: 1, TID: 2})
	lone.Sample(ev, 0, call, -1, nil)
	lone.Sample(ev, 20_000*ms, call, -1, nil)
	early := b.Snapshot() // without samples of other threads
	var ds []int64
	at := int64(0)
	for i := range 1001 {
		if i > 0 {
			d := ms/2 + r.Int64N(ms)
			ds = append(ds, d)
			at += d
		}
		busy.Sample(ev, at, call, -1, nil)
	}
	one, other := b.Snapshot(), b.Snapshot()
	changed := one.Tracks[0] != other.Tracks[0]
	rec := b.Finish()
	ds = append(ds, 20_000*ms)
	slices.Sort(ds)
	usual := ds[len(ds)/2]
	s := rec.Tracks[0].SamplesOf(ev)
	for i := range 2 {
		if got := s.End(i) - s.Time(i); got != usual {
			t.Errorf("sample %d is drawn for %d ps, the period is %d", i, got, usual)
		}
	}
	if s.Len() != 2 || s.Time(1) != 20_000*ms {
		t.Errorf("the samples were changed: %d, the last at %d", s.Len(), s.Time(1))
	}
	s = rec.Tracks[1].SamplesOf(ev)
	for i := range s.Len() - 1 {
		if s.End(i) != s.Time(i+1) {
			t.Fatalf("sample %d ends at %d, the next one begins at %d", i, s.End(i), s.Time(i+1))
		}
	}
	if s := early.Tracks[0].SamplesOf(ev); s.End(0) != 20_000*ms {
		t.Errorf("an earlier snapshot was changed: its sample ends at %d", s.End(0))
	}
	if changed {
		t.Error("a track that did not change is not that of the snapshot before")
	}
}

// TestStatedPeriod checks that samples much farther apart than the period in the file are
// drawn for that period, not up to the next sample.
func TestStatedPeriod(t *testing.T) {
	b := NewBuilder()
	ev := b.AddEvent(Event{Name: "cpu", Frequency: 20, Basis: FromSamples, Metrics: []Metric{{Name: "samples", PerSample: SampleOne}}})
	call := b.Call(NoCall, b.FunctionFrame(b.Function(Function{Name: "f"})))
	tr := b.Track(TrackKey{PID: 1, TID: 1})
	at := []int64{0, 12, 24, 36, 48}
	for _, s := range at {
		tr.Sample(ev, s*1e12, call, -1, nil)
	}
	tr.Sample(ev, 48*1e12+60e9, call, -1, nil) // a sample soon after the last
	s := b.Finish().Tracks[0].SamplesOf(ev)
	for i := range 4 {
		if got := s.End(i) - s.Time(i); got != 50e9 {
			t.Errorf("sample %d is drawn for %d ps, a twentieth of a second is %d", i, got, int64(50e9))
		}
	}
	if s.End(4) != s.Time(5) {
		t.Errorf("sample 4 ends at %d, the next one begins at %d", s.End(4), s.Time(5))
	}
}
