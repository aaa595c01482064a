package recording

import (
	"math/rand/v2"
	"slices"
	"testing"
)

// TestScopesMeanTheSame checks that Equal is true exactly for scopes that select the same
// in every recording.
func TestScopesMeanTheSame(t *testing.T) {
	for _, c := range []struct {
		a, b Scope
		same bool
	}{
		{Scope{}, Scope{}, true},
		{Scope{From: 3, To: 4}, Scope{}, true},
		{Between(1, 2), Between(1, 2), true},
		{Between(1, 2), Between(1, 3), false},
		{Between(1, 2), Scope{}, false},
		{Scope{Tracks: []int{}}, Scope{}, false},
		{Scope{Tracks: []int{2, 1}}, Scope{Tracks: []int{1, 2, 2}}, true},
		{Scope{Tracks: []int{1}}, Scope{Tracks: []int{1, 2}}, false},
		{Between(1, 2).On([]int{1}), Between(1, 2), false},
		{Between(1, 2).On([]int{1}).AllTime(), Scope{Tracks: []int{1}}, true},
		{Between(1, 2).Moved(5), Between(6, 7), true},
		{Scope{}.Moved(5), Scope{}, true},
		{Scope{}.Of(&CallSet{Text: "f"}), Scope{}, false},
		{Scope{}.Of(&CallSet{Text: "f"}), Scope{}.Of(&CallSet{Text: "g"}), false},
		{Scope{}.Of(&CallSet{Text: "f"}), Scope{}.Of(&CallSet{Text: "f", Calls: 3}), true},
	} {
		if c.a.Equal(c.b) != c.same || c.b.Equal(c.a) != c.same {
			t.Errorf("%+v and %+v: the same is %v, want %v", c.a, c.b, c.a.Equal(c.b), c.same)
		}
		if whole := c.a.Equal(Scope{}); whole != c.a.IsWhole() {
			t.Errorf("%+v is the whole: %v, want %v", c.a, c.a.IsWhole(), whole)
		}
	}
}

func TestClip(t *testing.T) {
	rec := &Recording{Start: 100, End: 200, Tracks: make([]*Track, 3)}
	for _, c := range []struct{ in, want Scope }{
		{Scope{}, Scope{}},
		{Between(50, 150), Between(100, 150)},
		{Between(120, 999), Between(120, 200)},
		{Between(0, 50), Between(100, 100)},
		{Between(300, 400), Between(200, 200)},
		{Between(150, 120), Between(150, 150)},
		{Scope{Tracks: []int{-1, 0, 2, 3}}, Scope{Tracks: []int{0, 2}}},
		{Scope{Tracks: []int{7}}, Scope{Tracks: []int{}}},
	} {
		was := slices.Clone(c.in.Tracks)
		if got := c.in.Clip(rec); !got.Equal(c.want) {
			t.Errorf("%+v clipped is %+v, want %+v", c.in, got, c.want)
		}
		if !slices.Equal(was, c.in.Tracks) {
			t.Errorf("clipping wrote to the tracks: %v", c.in.Tracks)
		}
	}
}

// TestScopeTakes compares the spans and samples that a scope selects with a check of each
// span and sample.
func TestScopeTakes(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 14))
	b := NewBuilder()
	b.AddEvent(SpanEvent())
	b.AddEvent(Event{Basis: FromSamples, Metrics: []Metric{{Name: "n", PerSample: SampleOne}}})
	f := b.FunctionFrame(b.Function(Function{Name: "f"}))
	for tid := range int64(3) {
		track, at := b.Track(TrackKey{TID: tid}), int64(0)
		for range 40 {
			track.Begin(at, f, 0)
			at += r.Int64N(4)
			track.End(at)
			track.Sample(1, at, b.Stack([]FrameID{f}), -1, nil)
			at += r.Int64N(4)
		}
	}
	rec := b.Finish()
	for range 2000 {
		var in Scope
		if r.IntN(4) > 0 {
			from := r.Int64N(rec.End)
			in = Between(from, from+1+r.Int64N(rec.End-from+3))
		}
		if r.IntN(2) == 0 {
			in = in.On([]int{2, 0})
		}
		from, to := in.Bounds(rec)
		takes := in.TrackTest()
		for ti, track := range rec.Tracks {
			want := in.Tracks == nil || ti != 1
			if takes(ti) != want || in.HasTrack(ti) != want {
				t.Fatalf("%+v has track %d: %v", in, ti, takes(ti))
			}
			l := &track.Lanes[0]
			first, last := in.SpansIn(l)
			for i := range l.Len() {
				s, e := l.Start(i), l.End(i)
				touches := s < to && e > from || s == e && s >= from && s <= to || !in.Ranged
				if touches != (i >= first && i < last) {
					t.Fatalf("%+v: span %d from %d to %d is taken: %v", in, i, s, e, !touches)
				}
			}
			samples := track.SamplesOf(1)
			run := in.SamplesIn(rec, ti, samples)[0]
			first, last = run.First, run.Last
			for i := range samples.Len() {
				at := samples.Time(i)
				if want := at >= from && (at < to || to >= rec.End); want != (i >= first && i < last) {
					t.Fatalf("%+v: the sample at %d is taken: %v", in, at, !want)
				}
			}
		}
	}
}
