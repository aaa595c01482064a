package search_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/search"
	"ashlar/testdata/rounds"
)

// argued returns a random trace with names of threads and with arguments, some of which are
// equal. No lane is as long as a block of hits.
func argued(r *rand.Rand) *recording.Recording {
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	var frames []recording.FrameID
	for i := range 9 {
		frames = append(frames, b.FunctionFrame(b.Function(recording.Function{Name: fmt.Sprintf("f%d", i)})))
	}
	for ti, name := range []string{"worker 1", "Worker 2", "main", ""} {
		t := b.Track(recording.TrackKey{PID: 1, TID: int64(10 + ti)})
		if name != "" {
			t.SetName(name)
		}
		at := int64(0)
		var add func(depth int, end int64)
		add = func(depth int, end int64) {
			for at < end && depth < 5 {
				start := at
				stop := min(end, start+10+r.Int64N(400))
				args := uint64(0)
				if ti != 2 && r.IntN(3) > 0 {
					args = 1 + r.Uint64N(20)
				}
				if !t.Begin(start, frames[r.IntN(len(frames))], args) {
					panic("a span cannot begin")
				}
				add(depth+1, start+(stop-start)*2/3)
				at = stop
				t.End(stop)
				at += r.Int64N(5)
			}
		}
		add(0, 60_000)
	}
	rec := b.Finish()
	rec.Args = func(ref uint64) string { return fmt.Sprintf("Order %d", ref) }
	return rec
}

// TestFindsArguments compares the hits with a check of every span.
func TestFindsArguments(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	rec := argued(r)
	for _, text := range []string{"arg:order 7", "arg:Order 1", "arg:order", "arg:/ 1?3$/", "arg:nothing"}[:rounds.Size(5, 2)] {
		p, err := search.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		h, err := search.Find(context.Background(), rec, p)
		if err != nil {
			t.Fatal(err)
		}
		type at struct{ track, lane, i int }
		var want []at
		functions := map[recording.FuncID]bool{}
		total, is := int64(0), map[at]bool{}
		for ti, tr := range rec.Tracks {
			for li := range tr.Lanes {
				l := &tr.Lanes[li]
				for i := range l.Len() {
					if l.Args(i) == 0 || !p.Match(rec.Args(l.Args(i))) {
						continue
					}
					want = append(want, at{ti, li, i})
					is[at{ti, li, i}] = true
					functions[rec.Func(l.Call(i))] = true
					inside := false
					for up := range li {
						for k := range tr.Lanes[up].Len() {
							if is[at{ti, up, k}] && tr.Lanes[up].Start(k) <= l.Start(i) && tr.Lanes[up].End(k) >= l.End(i) {
								inside = true
							}
						}
					}
					if !inside {
						total += l.End(i) - l.Start(i)
					}
				}
			}
		}
		if h.Len() != int64(len(want)) || h.Spans != h.Len() || len(h.Functions) != len(functions) {
			t.Fatalf("%s: %d hits in %d functions, want %d in %d", text, h.Len(), len(h.Functions), len(want), len(functions))
		}
		got := map[at]bool{}
		for hit, ok := h.From(rec.Start); ok; hit, ok = h.Next(hit) {
			got[at{hit.Track, hit.Lane, hit.Index}] = true
		}
		for _, w := range want {
			if !got[w] || !h.Marked(w.track, w.lane, w.i, 1) {
				t.Fatalf("%s: the span %v is not found", text, w)
			}
		}
		for ti, tr := range rec.Tracks {
			for li := range tr.Lanes {
				for i := range tr.Lanes[li].Len() {
					if h.Marked(ti, li, i, 1) != is[at{ti, li, i}] {
						t.Fatalf("%s: span %d of lane %d of track %d is marked wrongly", text, i, li, ti)
					}
				}
			}
		}
		q := analyze.Query{}
		w, err := analyze.Weigh(context.Background(), rec, q)
		if err != nil {
			t.Fatal(err)
		}
		m, err := analyze.MatchHits(context.Background(), rec, analyze.NewTree(rec, w), q, h)
		if err != nil {
			t.Fatal(err)
		}
		if m.Total != total || m.Count != int64(len(want)) || m.OfTotal != w.Sum {
			t.Errorf("%s: matched %d of %d in %d spans, want %d of %d in %d", text, m.Total, m.OfTotal, m.Count, total, w.Sum, len(want))
		}
	}
}

// TestFindsThreads checks which threads are found by number and by name, and compares their
// weight with that of each thread alone.
func TestFindsThreads(t *testing.T) {
	rec := argued(rand.New(rand.NewPCG(5, 6)))
	for text, want := range map[string][]int{
		"thread:worker": {0, 1}, "thread:Worker": {1}, "thread:/^main$/": {2}, "thread:13": {3}, "thread:thread 13": {3}, "thread:x": nil, "worker": nil,
	} {
		p, err := search.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		h, err := search.Find(context.Background(), rec, p)
		if err != nil {
			t.Fatal(err)
		}
		var got []int
		for hit, ok := h.From(rec.Start); ok; hit, ok = h.Next(hit) {
			got = append(got, hit.Track)
			if hit.Lane != 0 || hit.Index != 0 {
				t.Errorf("%s: the hit of track %d is span %d of lane %d", text, hit.Track, hit.Index, hit.Lane)
			}
		}
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("%s finds the tracks %v, want %v", text, got, want)
		}
		if p.OfFunctions() {
			continue
		}
		w, err := analyze.Weigh(context.Background(), rec, analyze.Query{})
		if err != nil {
			t.Fatal(err)
		}
		m, err := analyze.MatchHits(context.Background(), rec, analyze.NewTree(rec, w), analyze.Query{}, h)
		if err != nil {
			t.Fatal(err)
		}
		var sum int64
		for _, ti := range want {
			w, err := analyze.Weigh(context.Background(), rec, analyze.Query{Scope: recording.Scope{Tracks: []int{ti}}})
			if err != nil {
				t.Fatal(err)
			}
			sum += w.Sum
		}
		if m.Total != sum || m.OfTotal != w.Sum {
			t.Errorf("%s: matched %d of %d, want %d of %d", text, m.Total, m.OfTotal, sum, w.Sum)
		}
		for ti := range rec.Tracks {
			if h.Marked(ti, 1, 3, 1) != slices.Contains(want, ti) {
				t.Errorf("%s: track %d is marked wrongly", text, ti)
			}
		}
	}
}

// TestPatternsLookInAField checks that a field limits the search to that text of a
// function.
func TestPatternsLookInAField(t *testing.T) {
	f := recording.Function{Name: "std::thread::run", Module: "libpool.so", File: "src/worker.c"}
	for text, want := range map[string]bool{
		"run": true, "pool": true, "worker": true,
		"name:run": true, "name:pool": false, "module:pool": true, "module:run": false,
		"file:worker": true, "file:/^src/": true, "file:pool": false,
		"thread::run": true, "thread:run": false, "arg:run": false,
	} {
		p, err := search.Parse(text)
		if err != nil {
			t.Fatal(err)
		}
		if got := p.MatchFunction(&f); got != want {
			t.Errorf("%s matches: %v, want %v", text, got, want)
		}
	}
	for _, bad := range []string{"", "name:", "thread:", "file:/[/"} {
		if _, err := search.Parse(bad); err == nil {
			t.Errorf("%q is taken for a pattern", bad)
		}
	}
	if err := analyze.Only("thread:main").Check(); err == nil || !strings.Contains(err.Error(), "thread") {
		t.Errorf("only the stacks of a thread: %v", err)
	}
}
