package search

import (
	"context"
	"slices"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/testdata/rounds"
)

// TestNames compares the hits by function with a count of spans and samples one by one.
func TestNames(t *testing.T) {
	type sums struct{ count, total, longest, first int64 }
	for seed := range rounds.Of(uint64(40)) {
		rec := anyRecording(seed)
		p, err := Parse("a")
		if err != nil {
			t.Fatal(err)
		}
		h, err := Find(context.Background(), rec, p)
		if err != nil {
			t.Fatal(err)
		}
		want := map[recording.FuncID]sums{}
		add := func(f recording.FuncID, at, count, lasts int64, nested bool) {
			s, ok := want[f]
			if !ok {
				s = sums{first: at, longest: lasts}
			}
			s.first, s.longest = min(s.first, at), max(s.longest, lasts)
			if s.count += count; !nested {
				s.total += lasts
			}
			want[f] = s
		}
		matching := func(f recording.FuncID) bool {
			fn := rec.Functions.At(int(f))
			return p.MatchFunction(&fn)
		}
		for _, tr := range rec.Tracks {
			for li := range tr.Lanes {
				l := &tr.Lanes[li]
				for i := range l.Len() {
					f := rec.Func(l.Call(i))
					if !matching(f) {
						continue
					}
					path := rec.Calls.Path(nil, rec.Calls.Parent(l.Call(i)))
					nested := slices.ContainsFunc(path, func(c recording.CallID) bool { return rec.Func(c) == f })
					add(f, l.Start(i), 1, l.End(i)-l.Start(i), nested)
				}
			}
			for _, s := range tr.Samples {
				outer := func(i int) recording.CallID {
					path := rec.Calls.Path(nil, s.Call(i))
					if k := slices.IndexFunc(path, func(c recording.CallID) bool { return matching(rec.Func(c)) }); k >= 0 {
						return path[k]
					}
					return recording.NoCall
				}
				for i := 0; i < s.Len(); {
					c, first := outer(i), i
					for i++; i < s.Len() && outer(i) == c && s.End(i-1) >= s.Time(i); i++ {
					}
					if c != recording.NoCall {
						add(rec.Func(c), s.Time(first), int64(i-first), s.End(i-1)-s.Time(first), false)
					}
				}
			}
		}
		names, err := h.Names(context.Background())
		if err != nil || len(names) != len(want) {
			t.Fatalf("seed %d: %d names, want %d, %v", seed, len(names), len(want), err)
		}
		for i, n := range names {
			if got := (sums{n.Count, n.Total, n.LongestTime, n.First.Time}); got != want[n.Func] {
				t.Errorf("seed %d: %s has %+v, want %+v", seed, rec.Functions.At(int(n.Func)).Name, got, want[n.Func])
			}
			if i > 0 && names[i-1].Total < n.Total {
				t.Errorf("seed %d: name %d has more than the one before", seed, i)
			}
		}
	}
}
