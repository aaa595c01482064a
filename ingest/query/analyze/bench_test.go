package analyze

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/search"
)

// shapes are recordings with about a million calls each, slow to analyze for different
// reasons.
var shapes = []struct {
	name string
	make func() *recording.Recording
}{
	{"bushy", func() *recording.Recording { return grown(200_000, 1_000_000, 24) }},
	{"200000 functions", func() *recording.Recording { return grown(200_000, 1_000_000, 8) }},
	{"1000 levels", func() *recording.Recording {
		b := recording.NewBuilder()
		b.AddEvent(recording.Event{Metrics: []recording.Metric{{Name: "n"}}})
		f, g := frame(b, "f"), frame(b, "g")
		for i := range 1000 {
			call := b.Call(recording.NoCall, frame(b, fmt.Sprint("task ", i)))
			for k := range 1000 {
				if k%100 == 99 {
					call = b.Call(call, g)
				} else {
					call = b.Call(call, f)
				}
				b.AddStack(0, call, recording.NoTrack, 0, []int64{int64(1 + k%7)})
			}
		}
		return b.Finish()
	}},
}

// grown makes a recording with a random call tree, at most deep levels deep. Half of the
// calls are below one of the latest 20 calls, the others below any.
func grown(functions, calls, deep int) *recording.Recording {
	r := rand.New(rand.NewPCG(1, 1))
	b := recording.NewBuilder()
	b.AddEvent(recording.Event{Metrics: []recording.Metric{{Name: "n"}}})
	frames := make([]recording.FrameID, functions)
	for i := range frames {
		f := b.Function(recording.Function{Name: fmt.Sprintf("space::part%d::function%d", i%977, i), Module: fmt.Sprint("/lib/lib", i%50), File: fmt.Sprint("src/", i%5000, ".c")})
		frames[i] = b.Frame(recording.Frame{Func: f, Line: int32(i % 900), Inlined: i%5 == 0})
	}
	all := []recording.CallID{recording.NoCall}
	depth := []int{0}
	for len(all) < calls {
		k := r.IntN(len(all))
		if r.IntN(2) == 0 {
			k = max(0, len(all)-1-r.IntN(20))
		}
		if depth[k] >= deep {
			continue
		}
		c := b.Call(all[k], frames[r.IntN(functions)])
		if int(c) == len(all) {
			all, depth = append(all, c), append(depth, depth[k]+1)
			b.AddStack(0, c, recording.NoTrack, 0, []int64{r.Int64N(1000)})
		}
	}
	return b.Finish()
}

func BenchmarkTree(b *testing.B) {
	for _, s := range shapes {
		rec := s.make()
		w, err := Weigh(context.Background(), rec, Query{})
		if err != nil {
			b.Fatal(err)
		}
		some := RefTo(rec.Functions.At(1))
		for _, ts := range [][]Transform{
			nil, {Focus(some)}, {Transform{Op: OpHide, Ref: some}}, {Transform{Op: OpDrop, Ref: some}}, {Only("7")}, {Transform{Op: OpCollapseRecursion}}, {Transform{Op: OpCollapseRecursion, Ref: some}},
			{Transform{Op: OpMergeByFile}}, {Transform{Op: OpMergeByModule}}, {Transform{Op: OpFoldInlined}}, {CallersOf(some)}, {CalleesOf(some)}, {Transform{Op: OpInvert}}, {ByTime()},
		} {
			b.Run(fmt.Sprint(s.name, "/", ts), func(b *testing.B) {
				b.ReportAllocs()
				for b.Loop() {
					t := NewTree(rec, w, ts...)
					b.ReportMetric(float64(len(t.Nodes)), "nodes")
					b.ReportMetric(float64(t.Cut), "cut")
				}
			})
		}
		t := NewTree(rec, w)
		for _, by := range []By{ByFunction, ByModule, ByFile, ByLine} {
			b.Run(fmt.Sprint(s.name, "/by ", by), func(b *testing.B) {
				for b.Loop() {
					Table(rec, t, by)
				}
			})
		}
		b.Run(s.name+"/around", func(b *testing.B) {
			for b.Loop() {
				Around(rec, t, some)
			}
		})
		b.Run(s.name+"/match", func(b *testing.B) {
			p, err := search.Parse("function7")
			if err != nil {
				b.Fatal(err)
			}
			for b.Loop() {
				Match(rec, t, p)
			}
		})
	}
}
