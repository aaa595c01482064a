package analyze

import (
	"cmp"
	"context"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/recording"
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
	p, err := ParsePattern(text)
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

func TestFind(t *testing.T) {
	for seed := range uint64(40) {
		rec, _ := newWorld(seed)
		r := rand.New(rand.NewPCG(seed, 3))
		for _, text := range []string{"f", "walk", "lib", "tree.go", "/^[gh]$/", "nobody", "READ"} {
			checkHits(t, rec, text, r)
		}
	}
}

// TestFindInBlocks has far more spans than are counted together, with long
// stretches without a hit.
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
	for _, text := range append(names, "a") {
		checkHits(t, rec, text, r)
	}
}

// TestSpanStats compares lengths and ranks with looking at each span.
func TestSpanStats(t *testing.T) {
	for seed := range uint64(40) {
		rec, n := newWorld(seed)
		n.finish(rec)
		for _, q := range queries(rec, rand.New(rand.NewPCG(seed, 4))) {
			got, err := SpanStats(context.Background(), rec, q)
			if q.Event != spanEvent {
				if got != nil || err != nil {
					t.Errorf("samples have span lengths: %v, %v", got, err)
				}
				continue
			}
			from, to := rec.Start, rec.End
			if q.Ranged {
				from, to = q.From, q.To
			}
			lengths := map[string][]int64{}
			for _, s := range n.spans {
				if chosen(q, s.track) && (s.start < to && s.end > from || s.start == s.end && s.start >= from && s.start <= to) {
					name := s.path[len(s.path)-1]
					lengths[name] = append(lengths[name], s.end-s.start)
				}
			}
			for id, g := range got {
				f := rec.Functions.At(id)
				all := lengths[functionName{f.Name, f.Module, f.File}.String()]
				slices.Sort(all)
				var want SpanStat
				for _, d := range all {
					want.Sum += d
				}
				if want.Count = int64(len(all)); want.Count > 0 {
					want.Min, want.Max = all[0], all[len(all)-1]
				}
				if g != want {
					t.Errorf("seed %d, %+v: %s has %+v, want %+v", seed, q, f.Name, g, want)
				}
				for i, d := range all {
					longer, of, err := SpanRank(context.Background(), rec, q, recording.FuncID(id), d)
					k, _ := slices.BinarySearch(all, d+1)
					if err != nil || longer != int64(len(all)-k) || of != int64(len(all)) {
						t.Errorf("span %d of %d of %s: %d are longer of %d", i, len(all), f.Name, longer, of)
					}
				}
			}
		}
	}
}

// TestTransformedThreads: what transforms take away from spans, samples and
// windows goes from threads and contexts, too.
func TestTransformedThreads(t *testing.T) {
	for seed := range uint64(40) {
		rec, n := newWorld(seed)
		n.finish(rec)
		for _, q := range queries(rec, rand.New(rand.NewPCG(seed, 2))) {
			for _, x := range []Transform{Focus(Named("walk")), Drop(Named("walk")), CalleesOf(Named("walk")), Hide(Named("walk"))} {
				keep := func(path string) bool {
					has := slices.ContainsFunc(strings.Split(path, ";"), func(s string) bool { return s == "walk@app" })
					return x.Op == OpHide || has != (x.Op == OpDrop)
				}
				rows, err := ByTrack(context.Background(), rec, q, x)
				if err != nil {
					t.Fatal(err)
				}
				byTID, err := ByContext(context.Background(), rec, q, "tid", x)
				if err != nil {
					t.Fatal(err)
				}
				got := map[int]Row{}
				for _, r := range rows {
					got[r.Track] = r
				}
				for track := recording.NoTrack; track < len(rec.Tracks); track++ {
					one := q
					one.Tracks = []int{track}
					if !chosen(q, track) {
						continue
					}
					a, _ := n.expect(rec, one)
					var self, count int64
					for path, c := range a.count {
						if keep(path) {
							count += c
							self += a.self[path]
						}
					}
					if g := got[track]; g.Self != self || g.Count != count {
						t.Errorf("seed %d, %+v, %v: track %d has %d in %d, want %d in %d", seed, q, x, track, g.Self, g.Count, self, count)
					}
					name := "[no tid]"
					if track >= 0 {
						name = number(rec.Tracks[track].TID)
					}
					i := slices.IndexFunc(byTID, func(r Row) bool { return r.Name == name })
					if count == 0 && i >= 0 || count != 0 && (i < 0 || byTID[i].Self != self || byTID[i].Count != count) {
						t.Errorf("seed %d, %+v, %v: tid %s of %+v should have %d in %d", seed, q, x, name, byTID, self, count)
					}
				}
			}
		}
	}
}

// TestFirstSeen: the first span or sample of each call.
func TestFirstSeen(t *testing.T) {
	for seed := range uint64(30) {
		rec, _ := newWorld(seed)
		for _, q := range queries(rec, rand.New(rand.NewPCG(seed, 5))) {
			q.First = true
			w := weigh(t, rec, q)
			if w.Basis != Spans && w.Basis != Samples {
				continue
			}
			want := never(rec.Calls.Len())
			for ti, tr := range rec.Tracks {
				if !chosen(q, ti) {
					continue
				}
				if s := tr.SamplesOf(q.Event); w.Basis == Samples && s != nil {
					for i := range s.Len() {
						if at := s.Time(i); !q.Ranged || at >= q.From && (at < q.To || q.To >= rec.End) {
							want[s.Call(i)] = min(want[s.Call(i)], at)
						}
					}
				}
				for li := range tr.Lanes {
					l := &tr.Lanes[li]
					for i := range l.Len() {
						s, e := l.Start(i), l.End(i)
						in := !q.Ranged || s < q.To && e > q.From || s == e && s >= q.From && s <= q.To
						if w.Basis == Spans && in {
							want[l.Call(i)] = min(want[l.Call(i)], s)
						}
					}
				}
			}
			if !slices.Equal(w.First, want) {
				t.Errorf("seed %d, %+v: %v, want %v", seed, q, w.First, want)
			}
		}
	}
}

func TestStopped(t *testing.T) {
	rec, _ := newWorld(1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	p, err := ParsePattern("f")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := Find(ctx, rec, p); !errors.Is(err, context.Canceled) {
		t.Errorf("Find: %v", err)
	}
	if _, err := SpanStats(ctx, rec, Query{}); !errors.Is(err, context.Canceled) {
		t.Errorf("SpanStats: %v", err)
	}
	if _, err := ByContext(ctx, rec, Query{Event: sampledEvent}, "cpu"); !errors.Is(err, context.Canceled) {
		t.Errorf("ByContext: %v", err)
	}
	if _, _, err := SpanRank(ctx, rec, Query{}, 0, 0); !errors.Is(err, context.Canceled) {
		t.Errorf("SpanRank: %v", err)
	}
}

// TestShallow: with a limit to the depth, what lies deeper is as if it had never
// been recorded.
func TestShallow(t *testing.T) {
	for seed := range uint64(40) {
		rec, n := newWorld(seed)
		n.finish(rec)
		for _, q := range queries(rec, rand.New(rand.NewPCG(seed, 6))) {
			if q.Event != spanEvent {
				continue
			}
			q.Depth = 1 + int(seed%4)
			less := naive{}
			for _, s := range n.spans {
				if len(s.path) <= q.Depth {
					less.spans = append(less.spans, s)
				}
			}
			checkTree(t, rec, NewTree(rec, weigh(t, rec, q)), less.ofSpans(rec, q))

			// The depth for a number of spans is the largest that has no more.
			q.Depth = 0
			for limit := range 60 {
				d := Shallow(rec, q, limit)
				cost := func(depth int) int {
					in, of := 0, 0
					for _, s := range n.spans {
						if len(s.path) > depth {
							continue
						}
						of++
						touches := s.start < q.To && s.end > q.From || s.start == s.end && s.start >= q.From && s.start <= q.To
						if chosen(q, s.track) && (!q.Ranged || touches) {
							in++
						}
					}
					return min(in, of-in)
				}
				if d > 0 && (cost(d) > limit || cost(d+1) <= limit) {
					t.Errorf("seed %d, %+v: depth %d costs %d, one more %d, at most %d", seed, q, d, cost(d), cost(d+1), limit)
				}
				if d == 0 && cost(1) <= limit && cost(1000) > limit {
					t.Errorf("seed %d, %+v: no depth for %d, though 1 costs %d", seed, q, limit, cost(1))
				}
			}
		}
	}
}
