package recording

import (
	"fmt"
	"math"
	"runtime"
	"testing"
)

// A track in a snapshot does not change, whatever is added to the track later, and
// snapshots share tracks that have not changed.
func TestSharedTracks(t *testing.T) {
	b := NewBuilder()
	b.AddEvent(SpanEvent())
	b.AddEvent(StateEvent())
	sampled := b.AddEvent(Event{Name: "samples", Basis: FromSamples, Metrics: []Metric{{Name: "n", PerSample: SampleOne}}})
	f := b.FunctionFrame(b.Function(Function{Name: "f"}))
	state := b.Call(NoCall, b.StateFrame(Running, ""))
	call := b.Call(NoCall, f)
	still := b.Track(TrackKey{TID: 2})
	still.State(0, 3, state, NoTrack)
	still.Over(3)
	tr, often := b.Track(TrackKey{TID: 1}), TrackKey{TID: 3}
	say := func(t *Track) string {
		s := fmt.Sprint(t.Name, " ", t.Sort, t.Instants, t.InState, t.Open, len(t.Lanes), t.States.Len(), len(t.Samples))
		for i := range t.States.Len() {
			s += fmt.Sprint(" ", t.States.Start(i), "-", t.States.End(i), "<", b.rec.Waker(t, i).Track)
		}
		for i := range t.Lanes {
			s += fmt.Sprint(" lane ", t.Lanes[i].Len(), t.Lanes[i].End(t.Lanes[i].Len()-1))
		}
		for _, x := range t.Samples {
			s += fmt.Sprint(" samples ", x.Len(), x.Time(0))
		}
		return s
	}
	steps := []func(at int64){
		func(at int64) { tr.SetName(fmt.Sprint("thread ", at)) },
		func(at int64) { tr.SetSort(int(at)) },
		func(at int64) { tr.Instant(at-1, "moment", 0) },
		func(at int64) { tr.State(at, at+math.MaxUint32+1, state, still.Index()) },
		func(at int64) { tr.State(at, at+5, state, NoTrack) },
		func(at int64) { tr.Begin(at, f, 0) },
		func(at int64) { tr.End(at) },
		func(at int64) { tr.Sample(sampled, at-3, call, -1, nil) },
		func(at int64) { tr.Span(at, at+4, f, 0, false) },
		func(at int64) { tr.Break(at) },
		func(at int64) {
			again := b.Track(often)
			again.State(at, at+2, state, NoTrack)
			again.Instant(at, "again", 0)
			again.Over(at + 2)
		},
	}
	var shown []*Recording
	var said []string
	for k := range 20 * len(steps) {
		steps[k%len(steps)](int64(k+1) * 2 * math.MaxUint32)
		if k%3 == 0 || k%7 == 0 {
			r := b.Snapshot()
			shown, said = append(shown, r), append(said, say(r.Tracks[1])+say(r.Tracks[len(r.Tracks)-1]))
		}
		if k%11 == 0 {
			if r := b.Snapshot(); r.Tracks[1] != b.Snapshot().Tracks[1] {
				t.Fatalf("after step %d: two snapshots have two tracks", k)
			}
		}
	}
	shown = append(shown, b.Finish())
	last := shown[len(shown)-1]
	said = append(said, say(last.Tracks[1])+say(last.Tracks[2]))
	if l := &last.Tracks[2].States; l.Len() != 20 || last.Tracks[2].InState[Running] != 40 || len(last.Tracks[2].Instants) != 20 {
		t.Errorf("a thread that came again has %s", say(last.Tracks[2]))
	}
	for i, r := range shown {
		if got := say(r.Tracks[1]) + say(r.Tracks[len(r.Tracks)-1]); got != said[i] {
			t.Errorf("snapshot %d became %s, and was %s", i, got, said[i])
		}
		if r.Tracks[0] != shown[0].Tracks[0] {
			t.Errorf("snapshot %d has a track of its own of the thread that ended", i)
		}
	}
}

// Every field of a TrackKey counts for finding a track.
func TestTrackKeys(t *testing.T) {
	keys := []TrackKey{
		{TID: 1}, {TID: 0}, {TID: -1}, {TID: 1 << 32}, {TID: 1<<32 + 1}, {TID: 1<<32 - 1}, {PID: 1, TID: 1}, {PID: 1}, {PID: -5, TID: 1}, {PID: 1 << 40, TID: 1},
		{Kind: AsyncTrack, TID: 1}, {Kind: AsyncTrack, PID: 1, TID: 1}, {Name: "a"}, {Name: "b"}, {Kind: AsyncTrack, Name: "a"}, {PID: TextID, TID: TextID}, {TID: 1, Name: "a"},
	}
	b := NewBuilder()
	for i, k := range keys {
		if got := b.Track(k).Index(); got != i {
			t.Errorf("%+v is track %d, want %d", k, got, i)
		}
	}
	for i, k := range keys {
		b.Track(k).SetName("another")
		if got := b.Track(k).Index(); got != i {
			t.Errorf("%+v is found at %d, want %d", k, got, i)
		}
	}
}

// BenchmarkShortTracks adds short-lived threads, such as goroutines, with snapshots in
// between.
func BenchmarkShortTracks(b *testing.B) {
	const n = 50_000
	for b.Loop() {
		bd := NewBuilder()
		bd.AddEvent(StateEvent())
		run, wait := bd.Call(NoCall, bd.StateFrame(Running, "")), bd.Call(NoCall, bd.StateFrame(Runnable, ""))
		var r *Recording
		for i := range int64(n) {
			t := bd.Track(TrackKey{TID: i})
			t.SetName("worker")
			for k := range int64(2) {
				t.State(i*1e6+k*4e5, i*1e6+k*4e5+1e5, wait, 0)
				t.State(i*1e6+k*4e5+1e5, i*1e6+k*4e5+4e5, run, NoTrack)
			}
			t.Over(i*1e6 + 8e5)
			if i%(n/4) == 0 {
				r = bd.Snapshot()
			}
		}
		runtime.GC()
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.HeapAlloc)/n, "held-B/track")
		runtime.KeepAlive(r)
		bd.Finish()
	}
}
