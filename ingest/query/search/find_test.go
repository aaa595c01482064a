package search

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/testdata/rounds"
)

// naiveHits lists the hits of a pattern in order, found one by one.
func naiveHits(rec *recording.Recording, is func(*recording.Function) bool) (hits []Hit, spans, samples int64) {
	match := func(c recording.CallID) bool {
		f := rec.Functions.At(int(rec.Func(c)))
		return is(&f)
	}
	for ti, t := range rec.Tracks {
		for li := range t.Lanes {
			l := &t.Lanes[li]
			for i := range l.Len() {
				if match(l.Call(i)) {
					hits = append(hits, Hit{Time: l.Start(i), Track: ti, Lane: li, Index: i, Call: l.Call(i)})
					spans++
				}
			}
		}
		for _, s := range t.Samples {
			before := false
			for i := range s.Len() {
				any := slices.ContainsFunc(rec.Calls.Path(nil, s.Call(i)), match)
				if any {
					samples++
				}
				if any && !before {
					hits = append(hits, Hit{Time: s.Time(i), Track: ti, Lane: -1, Index: i, Samples: s, Call: s.Call(i)})
				}
				before = any
			}
		}
	}
	slices.SortStableFunc(hits, func(a, b Hit) int { return cmp.Compare(a.Time, b.Time) })
	return hits, spans, samples
}

func sameHit(a, b Hit) bool {
	a.row, b.row = 0, 0
	return a == b
}

func checkHits(t *testing.T, rec *recording.Recording, text string, r *rand.Rand) {
	t.Helper()
	p, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	h, err := Find(context.Background(), rec, p)
	if err != nil {
		t.Fatal(err)
	}
	want, spans, samples := naiveHits(rec, p.MatchFunction)
	if h.Len() != int64(len(want)) || h.Spans != spans || h.Samples != samples {
		t.Fatalf("%q: %d hits, %d spans, %d samples, want %d, %d, %d", text, h.Len(), h.Spans, h.Samples, len(want), spans, samples)
	}
	at, ok := h.From(rec.Start - 1)
	for i, w := range want {
		if !ok || !sameHit(at, w) {
			t.Fatalf("%q: hit %d is %+v (%v), want %+v", text, i, at, ok, w)
		}
		if i%7 == 0 {
			if n := h.Number(at); n != int64(i+1) {
				t.Errorf("%q: hit %d has the number %d", text, i+1, n)
			}
		}
		back, any := h.Prev(at)
		if any != (i > 0) || any && !sameHit(back, want[i-1]) {
			t.Errorf("%q: before hit %d comes %+v (%v)", text, i, back, any)
		}
		at, ok = h.Next(at)
	}
	if ok {
		t.Errorf("%q: behind the last hit there is %+v", text, at)
	}
	for i := range 20 {
		k, n := r.IntN(len(want)+1), 1+r.IntN(9)
		if i == 0 {
			k, n = 0, len(want)+1
		}
		if got := h.List(int64(k), n); !slices.EqualFunc(got, want[k:min(k+n, len(want))], sameHit) {
			t.Errorf("%q: %d hits from %d on are %+v", text, n, k, got)
		}
	}
	for range 20 {
		x := rec.Start + r.Int64N(rec.Duration()+2)
		i, _ := slices.BinarySearchFunc(want, x, func(h Hit, x int64) int { return cmp.Compare(h.Time, x) })
		from, ok := h.From(x)
		if ok != (i < len(want)) || ok && !sameHit(from, want[i]) {
			t.Errorf("%q: from %d on: %+v (%v)", text, x, from, ok)
		}
		before, ok := h.Before(x)
		if ok != (i > 0) || ok && !sameHit(before, want[i-1]) {
			t.Errorf("%q: before %d: %+v (%v)", text, x, before, ok)
		}
	}
	const n = 16
	width := (rec.Duration() + n) / n
	for _, track := range []int{recording.NoTrack, 1} {
		marks := make([]bool, n)
		for _, w := range want {
			if track == recording.NoTrack || track == w.Track {
				marks[(w.Time-rec.Start)/width] = true
			}
		}
		if got := h.Marks(track, rec.Start, rec.Start+n*width, n); !slices.Equal(got, marks) {
			t.Errorf("%q: marks of track %d are %v, want %v", text, track, got, marks)
		}
	}
}

// anyRecording returns a recording of random spans on threads, most of them nested and some
// of zero length, and random samples. Two modules have a function f.
func anyRecording(seed uint64) *recording.Recording {
	r := rand.New(rand.NewPCG(seed, 1))
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	b.AddEvent(recording.Event{Name: "cycles", Basis: recording.FromSamples, Metrics: []recording.Metric{{Name: "samples", PerSample: recording.SampleOne}}})
	var frames []recording.FrameID
	for _, f := range []recording.Function{{Name: "main", Module: "app", File: "main.go"}, {Name: "f", Module: "app", File: "f.go"}, {Name: "f", Module: "lib", File: "f.c"},
		{Name: "g", Module: "lib", File: "g.c"}, {Name: "walk", Module: "app", File: "tree.go"}, {Name: "read", Module: "[kernel]"}, {Name: "h", Module: "app", File: "f.go"}} {
		frames = append(frames, b.FunctionFrame(b.Function(f)))
	}
	for tid := range int64(4) {
		t := b.Track(recording.TrackKey{PID: 1, TID: tid + 1})
		at := r.Int64N(20)
		for range r.IntN(120) {
			switch f := frames[r.IntN(len(frames))]; {
			case tid == 3:
				t.Span(at, at+r.Int64N(30), f, 0, false)
			case t.Depth() > 0 && r.IntN(2) == 0:
				t.End(at)
			default:
				t.Begin(at, f, 0)
			}
			if r.IntN(3) > 0 {
				at += r.Int64N(12)
			}
		}
		for range r.IntN(60) {
			var stack []recording.FrameID
			for range r.IntN(6) {
				stack = append(stack, frames[r.IntN(len(frames))])
			}
			t.Sample(1, r.Int64N(400), b.Stack(stack), -1, []int64{1})
		}
	}
	return b.Finish()
}

func frame(b *recording.Builder, name string) recording.FrameID {
	return b.FunctionFrame(b.Function(recording.Function{Name: name}))
}

func TestFind(t *testing.T) {
	for seed := range rounds.Of(uint64(40)) {
		rec := anyRecording(seed)
		r := rand.New(rand.NewPCG(seed, 3))
		for _, text := range []string{"f", "walk", "lib", "tree.go", "/^[gh]$/", "nobody", "READ"} {
			checkHits(t, rec, text, r)
		}
	}
}

// TestBehind moves the hits on some tracks to the end, and compares order, numbers and
// steps with a list in that order.
func TestBehind(t *testing.T) {
	later := 0
	for seed := range rounds.Of(uint64(40)) {
		rec := anyRecording(seed)
		for _, text := range []string{"f", "walk", "/^[gh]$/", "nobody"} {
			p, err := Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			all, err := Find(context.Background(), rec, p)
			if err != nil {
				t.Fatal(err)
			}
			for _, tracks := range [][]int{nil, {0}, {1, 3}, {0, 1, 2, 3}} {
				var want, last []Hit
				for _, x := range all.List(0, int(all.Len())) {
					if slices.Contains(tracks, x.Track) {
						last = append(last, x)
					} else {
						want = append(want, x)
					}
				}
				later += min(len(want), len(last))
				want = append(want, last...)
				h := all.Behind(tracks)
				if got := h.List(0, len(want)+1); !slices.EqualFunc(got, want, sameHit) {
					t.Fatalf("%q, %v behind: %+v, want %+v", text, tracks, got, want)
				}
				for i, x := range want {
					if got := h.List(int64(i), 1); len(got) != 1 || !sameHit(got[0], x) {
						t.Errorf("%q, %v behind: hit %d is %+v, want %+v", text, tracks, i, got, x)
					}
					if n := h.Number(x); n != int64(i+1) {
						t.Errorf("%q, %v behind: %+v has the number %d, want %d", text, tracks, x, n, i+1)
					}
					if prev, ok := h.Prev(x); ok != (i > 0) || ok && !sameHit(prev, want[i-1]) {
						t.Errorf("%q, %v behind: before %d comes %+v (%v)", text, tracks, i, prev, ok)
					}
				}
			}
		}
	}
	if later == 0 {
		t.Fatal("nothing comes behind")
	}
}

// TestFindInBlocks searches lanes with far more spans than a block, with long stretches
// without a hit.
func TestFindInBlocks(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	b.AddEvent(recording.Event{Basis: recording.FromSamples, Metrics: []recording.Metric{{Name: "n", PerSample: recording.SampleOne}}})
	names := []string{"common", "rare", "half", "never"}
	for i := range 3 {
		tr := b.Track(recording.TrackKey{TID: int64(i)})
		at := int64(0)
		for k := range 6 * hitBlock {
			name := names[0]
			switch {
			case k%2500 == 10:
				name = names[1]
			case k > 3*hitBlock && k < 4*hitBlock || r.IntN(50) == 0 && i == 2:
				name = names[2]
			}
			tr.Begin(at, frame(b, name), 0)
			at += r.Int64N(3)
			tr.End(at)
			if i == 1 {
				tr.Sample(1, at, b.Stack([]recording.FrameID{frame(b, "common"), frame(b, name)}), -1, nil)
			}
		}
	}
	rec := b.Finish()
	for _, text := range append(names, "a")[:rounds.Size(5, 2)] {
		checkHits(t, rec, text, r)
	}
}

func TestPattern(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"abc", "xABCx", true}, {"abc", "xab", false}, {"Abc", "xabc", false}, {"Abc", "xAbc", true},
		{"aab", "aaab", true}, {"ärger", "Ärger", true}, {"Ärger", "ärger", false}, {"a", "", false},
		{"/^a.c$/", "abc", true}, {"/^a.c$/", "Abc", false}, {"/(?i)^a.c$/", "Abc", true},
		{"//", "a//b", true}, {"/", "a/b", true}, {"世", "你好世界", true}, {"k", "K", true},
		{"a b", "A B", true}, {"[", "x[", true},
	} {
		p, err := Parse(c.pattern)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.Match(c.text); got != c.want {
			t.Errorf("%q in %q: %v", c.pattern, c.text, got)
		}
	}
	for _, bad := range []string{"", "/(/"} {
		if _, err := Parse(bad); err == nil {
			t.Errorf("%q is taken", bad)
		}
	}
}

func TestStopped(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p, err := Parse("f")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Find(ctx, anyRecording(1), p); !errors.Is(err, context.Canceled) {
		t.Errorf("Find: %v", err)
	}
}
