package analyze

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/testdata/rounds"
)

// TestTransformedThreads checks that stacks removed by transforms do not count for threads
// and contexts either.
func TestTransformedThreads(t *testing.T) {
	for seed := range rounds.Of(uint64(40)) {
		rec, n := newWorld(seed)
		n.finish(rec)
		r := rand.New(rand.NewPCG(seed, 2))
		all := queries(rec, r)
		if seed%4 == 0 {
			all = append(all, n.queriesOfSets(t, rec, r)...)
		}
		for _, q := range all {
			for _, x := range []Transform{Focus(Named("walk")), Transform{Op: OpDrop, Ref: Named("walk")}, CalleesOf(Named("walk")), Transform{Op: OpHide, Ref: Named("walk")}} {
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
					one.Scope.Tracks = []int{track}
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

// TestFirstSeen checks the time of the first span or sample of each call.
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
						if at := s.Time(i); !q.Scope.Ranged || at >= q.Scope.From && (at < q.Scope.To || q.Scope.To >= rec.End) {
							want[s.Call(i)] = min(want[s.Call(i)], at)
						}
					}
				}
				for li := range tr.Lanes {
					l := &tr.Lanes[li]
					for i := range l.Len() {
						s, e := l.Start(i), l.End(i)
						in := !q.Scope.Ranged || s < q.Scope.To && e > q.Scope.From || s == e && s >= q.Scope.From && s <= q.Scope.To
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

// TestShallow checks that a depth limit gives the same answer as if deeper spans had not
// been recorded.
func TestShallow(t *testing.T) {
	rounds.Unraced(t)
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

			// Shallow must return the largest depth that visits no more than the limit.
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
						touches := s.start < q.Scope.To && s.end > q.Scope.From || s.start == s.end && s.start >= q.Scope.From && s.start <= q.Scope.To
						if chosen(q, s.track) && (!q.Scope.Ranged || touches) {
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

// TestThreadOf compares the result with the functions of each track.
func TestThreadOf(t *testing.T) {
	b := recording.NewBuilder()
	ev := b.AddEvent(recording.Event{Metrics: []recording.Metric{{Name: "samples", PerSample: recording.SampleOne}}})
	r := rand.New(rand.NewPCG(9, 1))
	for ti := range 5 {
		tr := b.Track(recording.TrackKey{PID: 1, TID: int64(ti)})
		for k := range 30 {
			var fs []recording.FrameID
			for range 1 + r.IntN(4) {
				fs = append(fs, b.FunctionFrame(b.Function(recording.Function{Name: fmt.Sprint(ti*r.IntN(40) + r.IntN(9))})))
			}
			tr.Sample(ev, int64(k*1000), b.Stack(fs), -1, nil)
		}
	}
	rec := b.Finish()
	on := make([]map[int]bool, rec.Functions.Len())
	for ti, tr := range rec.Tracks {
		for _, s := range tr.Samples {
			for i := range s.Len() {
				for _, c := range rec.Calls.Path(nil, s.Call(i)) {
					f := rec.Func(c)
					if on[f] == nil {
						on[f] = map[int]bool{}
					}
					on[f][ti] = true
				}
			}
		}
	}
	got, err := ThreadOf(context.Background(), rec)
	if err != nil {
		t.Fatal(err)
	}
	several := 0
	for f, tracks := range on {
		want := int32(NoThread)
		for ti := range tracks {
			want = int32(ti)
		}
		if len(tracks) > 1 {
			want = ManyThreads
			several++
		}
		if got[f] != want {
			t.Errorf("function %d runs on %v, got %d", f, tracks, got[f])
		}
	}
	if several == 0 || several == len(on) {
		t.Error("the made-up recording tests only one of the cases")
	}
}

// A cancelled query ends with an error.
func TestStopped(t *testing.T) {
	rec, _ := newWorld(1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := ByContext(ctx, rec, Query{Event: sampledEvent}, "cpu"); !errors.Is(err, context.Canceled) {
		t.Errorf("ByContext: %v", err)
	}
}
