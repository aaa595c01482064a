package analyze

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"ashlar/ingest/model/recording"
)

func weigh(t *testing.T, rec *recording.Recording, q Query) *Weights {
	t.Helper()
	w, err := Weigh(context.Background(), rec, q)
	if err != nil {
		t.Fatal(err)
	}
	return w
}

// frame interns the frame of a function without a module.
func frame(b *recording.Builder, name string) recording.FrameID {
	return b.FunctionFrame(b.Function(recording.Function{Name: name}))
}

// TestSpanEdges checks spans that touch an edge of the range.
func TestSpanEdges(t *testing.T) {
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	tr := b.Track(recording.TrackKey{TID: 1})
	for _, s := range [][2]int64{{0, 10}, {10, 10}, {10, 10}, {10, 20}, {20, 20}, {20, 30}, {40, 40}} {
		tr.Begin(s[0], frame(b, "f"), 0)
		tr.End(s[1])
	}
	rec := b.Finish()
	for _, c := range []struct{ from, to, time, count int64 }{
		{0, 40, 30, 7},
		{0, 10, 10, 3},  // the span up to 10, and two zero-length spans at 10
		{10, 20, 10, 4}, // the same two, one up to 20 and one at 20
		{11, 19, 8, 1},
		{19, 21, 2, 3},
		{20, 20, 0, 1}, // an empty range that contains a zero-length span
		{30, 40, 0, 1},
		{31, 39, 0, 0},
		{-5, 100, 30, 7},
		{41, 50, 0, 0},
	} {
		q := Query{Scope: recording.Between(c.from, c.to)}
		time := weigh(t, rec, q)
		q.Metric = recording.SpanCount
		count := weigh(t, rec, q)
		if time.Sum != c.time || count.Sum != c.count || time.Records != c.count {
			t.Errorf("%d..%d: time %d, %d spans, want %d and %d", c.from, c.to, time.Sum, count.Sum, c.time, c.count)
		}
	}
}

// TestTotalsBackInRange checks that a total is exact if only a part of it exceeds 64 bits,
// and a limit if it does so itself.
func TestTotalsBackInRange(t *testing.T) {
	const big = 9_000_000_000_000_000_000
	for _, c := range []struct {
		self [3]int64 // of main, main;x and main;y
		want int64
	}{
		{[3]int64{-big, big, big}, big},
		{[3]int64{big, big, -big}, big},
		{[3]int64{5, big, big}, math.MaxInt64},
		{[3]int64{-5, -big, -big}, -math.MaxInt64},
		{[3]int64{-5, big, 7}, big + 2},
	} {
		b := recording.NewBuilder()
		b.AddEvent(recording.Event{Metrics: []recording.Metric{{Name: "n"}}})
		main := b.Call(recording.NoCall, frame(b, "main"))
		for i, call := range []recording.CallID{main, b.Call(main, frame(b, "x")), b.Call(main, frame(b, "y"))} {
			b.AddStack(0, call, recording.NoTrack, 0, []int64{c.self[i]})
		}
		rec := b.Finish()
		w := weigh(t, rec, Query{})
		for name, tree := range map[string]*Tree{"unmerged": NewTree(rec, w), "chosen": NewTree(rec, w, Only("main"))} {
			if got := tree.Nodes[tree.Children(0)[0]].Total; got != c.want || tree.Nodes[0].Total != c.want {
				t.Errorf("%s: %v add up to %d, want %d", name, c.self, got, c.want)
			}
		}
	}
}

// TestRecursion checks that a recursive function counts once per stack in total, also with
// other functions in between.
func TestRecursion(t *testing.T) {
	b := recording.NewBuilder()
	b.AddEvent(recording.Event{Name: "e", Metrics: []recording.Metric{{Name: "n"}}})
	f, g := frame(b, "f"), frame(b, "g")
	b.AddStack(0, b.Stack([]recording.FrameID{f, f, f}), recording.NoTrack, 0, []int64{10})
	b.AddStack(0, b.Stack([]recording.FrameID{f, g, f, g}), recording.NoTrack, 0, []int64{5})
	b.AddStack(0, b.Stack([]recording.FrameID{g}), recording.NoTrack, 0, []int64{1})
	b.AddStack(0, recording.NoCall, recording.NoTrack, 0, []int64{2})
	rec := b.Finish()
	rows := Table(rec, NewTree(rec, weigh(t, rec, Query{})), ByFunction)
	want := []Row{
		{Name: "f", Self: 10, Total: 15, Count: 1},
		{Name: "g", Self: 6, Total: 6, Count: 2, Func: 1},
		{Name: "[no stack]", Self: 2, Total: 2, Count: 1, Func: NoFunc},
	}
	if len(rows) != len(want) {
		t.Fatalf("%d rows, want %d: %v", len(rows), len(want), rows)
	}
	for i := range want {
		if rows[i] != want[i] {
			t.Errorf("row %d is %+v, want %+v", i, rows[i], want[i])
		}
	}
}

// TestTotals checks that, without a range, weights add up to the totals of the recording.
func TestTotals(t *testing.T) {
	for seed := range uint64(40) {
		rec, _ := newWorld(seed)
		for e := range rec.Events {
			if rec.Events[e].Basis == recording.FromSamples {
				continue // the builder computes no totals for samples
			}
			for m := range rec.Events[e].Metrics {
				if w := weigh(t, rec, Query{Event: e, Metric: m}); w.Sum != rec.Events[e].Metrics[m].Total {
					t.Errorf("seed %d: %s of event %d adds up to %d, the recording says %d", seed, rec.Events[e].Metrics[m].Name, e, w.Sum, rec.Events[e].Metrics[m].Total)
				}
			}
		}
	}
}

// TestOverlap checks that spans of a track that overlap without nesting keep all of their
// time, and that adjacent ranges add up to the whole.
func TestOverlap(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 50 {
		b := recording.NewBuilder()
		b.AddEvent(recording.SpanEvent())
		tr := b.Track(recording.TrackKey{TID: 1})
		for range 1 + r.IntN(60) {
			start := r.Int64N(200)
			tr.Span(start, start+r.Int64N(40), frame(b, string(rune('a'+r.IntN(5)))), 0, false)
		}
		rec := b.Finish()
		whole := weigh(t, rec, Query{})
		if total := rec.Events[0].Metrics[recording.SpanTime].Total; whole.Sum != total {
			t.Fatalf("self adds up to %d, the total is %d", whole.Sum, total)
		}
		cut := rec.Start + r.Int64N(rec.Duration()+1)
		left := weigh(t, rec, Query{Scope: recording.Between(rec.Start, cut)})
		right := weigh(t, rec, Query{Scope: recording.Between(cut, rec.End)})
		if left.Sum+right.Sum != whole.Sum {
			t.Errorf("%d before %d and %d behind it do not add up to %d", left.Sum, cut, right.Sum, whole.Sum)
		}
		for c, v := range whole.Self {
			if v < 0 {
				t.Errorf("call %d has the self time %d", c, v)
			}
			var parts int64
			for _, w := range []*Weights{left, right} {
				if c < len(w.Self) {
					parts += w.Self[c]
				}
			}
			if parts != v {
				t.Errorf("call %d has %d in two parts and %d in whole", c, parts, v)
			}
		}
		rows, err := ByTrack(context.Background(), rec, Query{})
		if err != nil || len(rows) != 1 || rows[0].Self != whole.Sum {
			t.Errorf("by thread: %v, %v, want one row of %d", rows, err, whole.Sum)
		}
	}
}

// TestRangeOfStacks checks that a recording without times ignores the range and reports
// that.
func TestRangeOfStacks(t *testing.T) {
	b := recording.NewBuilder()
	b.AddEvent(recording.Event{Metrics: []recording.Metric{{Name: "n"}}})
	b.AddStack(0, b.Stack([]recording.FrameID{frame(b, "f")}), recording.NoTrack, 0, []int64{7})
	rec := b.Finish()
	w := weigh(t, rec, Query{Scope: recording.Between(0, 1)})
	if w.Ranged || w.Sum != 7 || w.Basis != Stacks {
		t.Errorf("ranged %v, sum %d, from %s; want all 7, from stacks, not ranged", w.Ranged, w.Sum, w.Basis)
	}
	rows, err := ByTrack(context.Background(), rec, Query{})
	if err != nil || len(rows) != 1 || rows[0].Name != "[no thread]" || rows[0].Track != recording.NoTrack || rows[0].Self != 7 {
		t.Errorf("by thread: %+v, %v", rows, err)
	}
	if w := weigh(t, rec, Query{Event: 3}); w.Sum != 0 {
		t.Errorf("an event that is not there weighs %d", w.Sum)
	}
}

func TestCancelled(t *testing.T) {
	rec, _ := newWorld(1)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	q := Query{Scope: recording.Between(rec.Start, rec.End)}
	if _, err := Weigh(ctx, rec, q); !errors.Is(err, context.Canceled) {
		t.Errorf("Weigh: %v", err)
	}
	if _, err := ByTrack(ctx, rec, q); !errors.Is(err, context.Canceled) {
		t.Errorf("ByTrack: %v", err)
	}
}

func TestModuleBase(t *testing.T) {
	for module, want := range map[string]string{
		"": "", "[kernel.kallsyms]": "[kernel.kallsyms]", "/usr/lib/libc.so.6": "libc.so.6", `C:\app\shop.dll`: "shop.dll", "app": "app",
	} {
		if got := ModuleBase(module); got != want {
			t.Errorf("%q is called %q, want %q", module, got, want)
		}
	}
}

// TestLastSample checks that a range excludes its end, except at the end of the recording.
func TestLastSample(t *testing.T) {
	b := recording.NewBuilder()
	b.AddEvent(recording.Event{Basis: recording.FromSamples, Metrics: []recording.Metric{{Name: "n", PerSample: recording.SampleOne}}})
	tr := b.Track(recording.TrackKey{TID: 1})
	for _, at := range []int64{10, 20, 30} {
		tr.Sample(0, at, b.Stack([]recording.FrameID{frame(b, "f")}), -1, nil)
	}
	rec := b.Finish()
	for _, c := range []struct{ from, to, want int64 }{{10, 20, 1}, {20, 30, 2}, {10, 30, 3}, {11, 29, 1}, {30, 30, 1}, {20, 20, 0}, {10, 31, 3}} {
		if w := weigh(t, rec, Query{Scope: recording.Between(c.from, c.to)}); w.Sum != c.want {
			t.Errorf("%d..%d has %d samples, want %d", c.from, c.to, w.Sum, c.want)
		}
	}
}
