package recording

import (
	"maps"
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
	for _, group := range []uint32{0, 7} {
		b := NewBuilder()
		b.AddEvent(SpanEvent())
		track := b.Track(TrackKey{TID: 1})
		track.SpanOf(group, 10, 100, b.frameOf("Nested"), 0, false)
		track.SpanOf(group, 20, 50, b.frameOf("Read"), 0, false)
		track.SpanOf(group, 30, 70, b.frameOf("Write"), 0, false)
		track.SpanOf(group, 60, 65, b.frameOf("part of Write"), 0, false)
		track.SpanOf(group, 80, 90, b.frameOf("Close"), 0, false)
		r := b.Finish()
		for name, want := range map[string]int64{"Nested": 30, "Read": 30, "Write": 35, "part of Write": 5, "Close": 10, Overlapping: 20} {
			if got := selfOf(r)[name]; got != want {
				t.Errorf("group %d: self of %s is %d, want %d", group, name, got, want)
			}
		}
		if r.Counts.Spans != int64(r.Tracks[0].Spans()) || len(r.Warnings) != 1+1 {
			t.Errorf("group %d: %d spans, %v", group, r.Counts.Spans, r.Warnings)
		}
	}
}

// A span that lies in two spans that cross each other is subtracted from the self time of both,
// and lies in the one that began last, even after the other has ended.
func TestWithinSpansThatCross(t *testing.T) {
	for _, snapshots := range []bool{false, true} {
		b := NewBuilder()
		b.AddEvent(SpanEvent())
		track := b.Track(TrackKey{TID: 1})
		for _, x := range []struct {
			name       string
			start, end int64
		}{{"step", 0, 1000}, {"fwd", 100, 1050}, {"loss", 120, 1100}, {"mm", 150, 350}, {"add", 200, 210}, {"mm", 450, 650}, {"mm", 750, 950}, {"free", 1010, 1020}, {"free", 1060, 1070}, {"step", 1100, 1200}} {
			track.Span(x.start, x.end, b.frameOf(x.name), 0, false)
			if snapshots {
				b.Snapshot()
			}
		}
		r := b.Finish()
		want := map[string]int64{"step": 400 + 100, "fwd": 950 - 600 - 10, "loss": 980 - 600 - 20, "mm": 600 - 10, "add": 10, "free": 20, Overlapping: 600 + 600 + 10}
		if got := selfOf(r); !maps.Equal(got, want) {
			t.Errorf("snapshots %v: self times are %v, want %v", snapshots, got, want)
		}
		if want := "Spans of a thread partly overlap: sums count 1.83 ns more than once."; len(r.Warnings) == 0 || r.Warnings[0].Text != want {
			t.Errorf("snapshots %v: the warnings are %v, want %q first", snapshots, r.Warnings, want)
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
