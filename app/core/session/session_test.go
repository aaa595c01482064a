package session

import (
	"runtime"
	"testing"

	"ashlar/ingest/model/recording"
)

// TestSessionLetsGo shows one side, two, the same two swapped, other ones, and one again. The
// comparison is always of the shown sides, sides no longer shown are closed, and at the end no
// goroutine is left.
func TestSessionLetsGo(t *testing.T) {
	before := runtime.NumGoroutine()
	s := New(func() {})
	var sides [4]*Side
	for i := range sides {
		sides[i] = Of("x", manySpans(100*(i+1), 1), func() {})
	}
	closed := func(want ...bool) {
		t.Helper()
		s.gone.Wait()
		for i, d := range sides {
			if got := d.ctx.Err() != nil; got != want[i] {
				t.Errorf("side %d is closed: %v, want %v", i, got, want[i])
			}
		}
	}
	spans := func() (a, b int64) {
		t.Helper()
		q, recs := CompareQuestion{}, [2]*recording.Recording{s.Sides()[0].Recording(), s.Sides()[1].Recording()}
		s.Pair().Ask(q, recs)
		waitFor(t, "the comparison", func() bool { return s.Pair().Answer() != nil })
		if err := s.Pair().Answer().Err; err != nil {
			t.Fatal(err)
		}
		return s.Pair().Answer().Recs[0].Counts.Spans, s.Pair().Answer().Recs[1].Counts.Spans
	}
	s.Show(sides[0])
	if s.Pair() != nil {
		t.Error("one side is compared")
	}
	s.Show(sides[0], sides[1])
	if a, b := spans(); a != 200 || b != 400 {
		t.Errorf("compared are %d and %d spans", a, b)
	}
	first := s.Pair()
	s.Show(sides[1], sides[0])
	if a, b := spans(); a != 400 || b != 200 || s.Pair() == first {
		t.Errorf("swapped, compared are %d and %d spans", a, b)
	}
	closed(false, false, false, false)
	s.Show(sides[1], sides[2])
	closed(true, false, false, false)
	s.Show(sides[2])
	closed(true, true, false, false)
	s.Show(sides[3])
	closed(true, true, true, false)
	s.Close()
	closed(true, true, true, true)
	if len(s.Sides()) != 0 || s.Pair() != nil {
		t.Error("what is closed has sides")
	}
	waitFor(t, "goroutines to end", func() bool { return runtime.NumGoroutine() <= before })
}
