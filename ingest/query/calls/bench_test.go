package calls_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/calls"
)

// tasks makes a recording of four threads that run n tasks of about 50 spans each.
func tasks(n int) *recording.Recording {
	r := rand.New(rand.NewPCG(3, 3))
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	var frames []recording.FrameID
	for i := range 64 {
		frames = append(frames, b.FunctionFrame(b.Function(recording.Function{Name: fmt.Sprint("f", i)})))
	}
	task := b.FunctionFrame(b.Function(recording.Function{Name: "task"}))
	for tid := range 4 {
		t, at := b.Track(recording.TrackKey{TID: int64(tid)}), int64(0)
		for range n / 4 {
			at += 1000 + r.Int64N(1000)
			t.Begin(at, task, 0)
			for range 2 * 49 {
				if at += 50 + r.Int64N(100); t.Depth() > 1 && (r.IntN(2) == 0 || t.Depth() > 9) {
					t.End(at)
				} else {
					t.Begin(at, frames[(t.Depth()*7+r.IntN(2))%64], 0)
				}
			}
			for t.Depth() > 0 {
				at += r.Int64N(100)
				t.End(at)
			}
		}
	}
	return b.Finish()
}

// BenchmarkSet looks up 100,000 calls among 50 million spans and weighs the spans inside
// them.
func BenchmarkSet(b *testing.B) {
	rec := tasks(1_000_000)
	for _, text := range []string{"task[slowest 100000]", "task[9990ps..10300ps]", "task[self 2550ps..]", "!task[slowest 100000]", "f7|f11[1000ps..1100ps]"} {
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				in, err := calls.Bind(context.Background(), rec, recording.Scope{}.Of(&recording.CallSet{Text: text}))
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(in.Calls.Calls), "calls")
			}
		})
		in, err := calls.Bind(context.Background(), rec, recording.Scope{}.Of(&recording.CallSet{Text: text}))
		if err != nil {
			b.Fatal(err)
		}
		b.Run(text+"/weigh", func(b *testing.B) {
			for b.Loop() {
				w, err := analyze.Weigh(context.Background(), rec, analyze.Query{Scope: in})
				if err != nil {
					b.Fatal(err)
				}
				b.ReportMetric(float64(w.Records), "spans")
			}
		})
	}
}
