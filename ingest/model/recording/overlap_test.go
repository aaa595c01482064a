package recording

import (
	"testing"

	"ashlar/testdata/rounds"
)

// selfOf returns the self times of functions, from spans only, by name.
func selfOf(r *Recording) map[string]int64 {
	self := map[string]int64{}
	name := func(c CallID) string { return r.FuncName(c) }
	for c, took := range r.SpanTime {
		if took != 0 {
			self[name(CallID(c))] += took
			if p := r.Calls.Parent(CallID(c)); p != NoCall {
				self[name(p)] -= took
			}
		}
	}
	return self
}

// Read and Write overlap within Nested. The self time of Nested is the time that neither
// covers.
func TestOverlapWithinASpan(t *testing.T) {
	for group, within := range map[uint32]int64{0: 0, 7: 5} { // without groups, it lies in Nested
		b := NewBuilder()
		b.AddEvent(SpanEvent())
		track := b.Track(TrackKey{TID: 1})
		track.SpanOf(group, 10, 100, b.frameOf("Nested"), 0, false)
		track.SpanOf(group, 20, 50, b.frameOf("Read"), 0, false)
		track.SpanOf(group, 30, 70, b.frameOf("Write"), 0, false)
		track.SpanOf(group, 60, 65, b.frameOf("part of Write"), 0, false)
		track.SpanOf(group, 80, 90, b.frameOf("Close"), 0, false)
		r := b.Finish()
		for name, want := range map[string]int64{"Nested": 30, "Read": 30, "Write": 40 - within, "part of Write": 5, "Close": 10, Overlapping: 15 + within} {
			if got := selfOf(r)[name]; got != want {
				t.Errorf("group %d: self of %s is %d, want %d", group, name, got, want)
			}
		}
		if r.Counts.Spans != int64(r.Tracks[0].Spans()) || len(r.Warnings) != 1+1 {
			t.Errorf("group %d: %d spans, %v", group, r.Counts.Spans, r.Warnings)
		}
	}
}

// The self time of a span is the time that no span inside it covers, even if the inner
// spans overlap. The test counts it moment by moment.
func TestSelfOfOverlapped(t *testing.T) {
	for seed := range rounds.Of(uint64(2000)) {
		rng := random(seed)
		b := NewBuilder()
		b.AddEvent(SpanEvent())
		track := b.Track(TrackKey{TID: 1})
		const long = 60
		group := uint32(rng.IntN(2))
		var covered [long]bool
		type span struct{ start, end int64 }
		spans := []span{{0, long}}
		for range rng.IntN(8) {
			start := 1 + rng.Int64N(long-2)
			x := span{start, start + rng.Int64N(long-1-start)}
			spans = append(spans, x)
			for i := x.start; i < x.end; i++ {
				covered[i] = true
			}
		}
		rng.Shuffle(len(spans), func(i, j int) { spans[i], spans[j] = spans[j], spans[i] })
		for _, x := range spans {
			name := "part"
			if x.end-x.start == long {
				name = "whole"
			}
			track.SpanOf(group, x.start, x.end, b.frameOf(name), 0, false)
			if rng.IntN(5) == 0 {
				b.Snapshot()
			}
		}
		r := b.Finish()
		var want int64
		for _, c := range covered {
			if !c {
				want++
			}
		}
		if got := selfOf(r)["whole"]; got != want {
			t.Fatalf("seed %d: self is %d, want %d: %v", seed, got, want, spans)
		}
		for i := range r.Tracks[0].Lanes {
			l := &r.Tracks[0].Lanes[i]
			for k := 1; k < l.Len(); k++ {
				if l.Start(k) < l.End(k-1) {
					t.Fatalf("seed %d: spans of lane %d overlap", seed, i)
				}
			}
		}
	}
}
