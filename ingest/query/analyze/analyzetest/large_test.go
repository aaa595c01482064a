package analyzetest_test

import (
	"context"
	"fmt"
	"os"
	"testing"

	"ashlar/ingest"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/search"
	"ashlar/ingest/query/spans"
)

// large opens the recording named by ASHLAR_LARGE, for benchmarks on a recording made by
// testdata/gen.
func large(b *testing.B) *recording.Recording {
	path := os.Getenv("ASHLAR_LARGE")
	if path == "" {
		b.Skip("ASHLAR_LARGE names no recording")
	}
	if largeOne == nil {
		l := ingest.Open(context.Background(), path, ingest.Options{})
		if err := l.Wait(); err != nil {
			b.Fatal(err)
		}
		largeOne = l.Snapshot()
	}
	return largeOne
}

var largeOne *recording.Recording

// BenchmarkRange weighs the spans of parts of a large recording. Run it several times with
// -benchtime 5x and take the best.
func BenchmarkRange(b *testing.B) {
	rec := large(b)
	d := rec.Duration()
	for _, c := range []struct {
		name     string
		from, to int64
	}{
		{"all but the edges", rec.Start + d/1000, rec.End - d/1000},
		{"half", rec.Start + d/4, rec.Start + d*3/4},
		{"tenth", rec.Start + d/2, rec.Start + d*6/10},
	} {
		q := analyze.Query{Scope: recording.Between(c.from, c.to)}
		run := func(name string, q analyze.Query, tree bool) {
			b.Run(c.name+"/"+name, func(b *testing.B) {
				for b.Loop() {
					w, err := analyze.Weigh(context.Background(), rec, q)
					if err != nil {
						b.Fatal(err)
					}
					b.ReportMetric(float64(w.Records), "spans")
					if tree {
						analyze.Table(rec, analyze.NewTree(rec, w), analyze.ByFunction)
					}
				}
			})
		}
		run("all threads", q, false)
		run("all threads, tree and table", q, true)
		shallow := q
		shallow.Depth = analyze.Shallow(rec, q, 8_000_000)
		run(fmt.Sprint("first answer, depth ", shallow.Depth), shallow, true)
		for i := range rec.Tracks[1:] {
			q.Scope.Tracks = append(q.Scope.Tracks, i)
		}
		run("all threads but one", q, false)
	}
}

func BenchmarkFind(b *testing.B) {
	rec := large(b)
	for _, text := range []string{"a", "parse", "/^no such function$/", rec.Functions.At(rec.Functions.Len() - 1).Name} {
		p, err := search.Parse(text)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(text, func(b *testing.B) {
			for b.Loop() {
				h, err := search.Find(context.Background(), rec, p)
				if err != nil {
					b.Fatal(err)
				}
				h.From(rec.Start)
				b.ReportMetric(float64(h.Spans), "hits")
			}
		})
		h, err := search.Find(context.Background(), rec, p)
		if err != nil {
			b.Fatal(err)
		}
		b.Run(text+"/next", func(b *testing.B) {
			at, _ := h.From(rec.Start)
			for b.Loop() {
				next, ok := h.Next(at)
				if at = next; !ok {
					at, _ = h.From(rec.Start)
				}
			}
		})
		b.Run(text+"/number", func(b *testing.B) {
			at, _ := h.From(rec.Start + rec.Duration()/2)
			for b.Loop() {
				h.Number(at)
			}
		})
		b.Run(text+"/marks", func(b *testing.B) {
			for b.Loop() {
				h.Marks(recording.NoTrack, rec.Start, rec.End, 1280)
			}
		})
	}
}

func BenchmarkSpanStats(b *testing.B) {
	rec := large(b)
	for b.Loop() {
		if _, err := spans.Stats(context.Background(), rec, recording.Scope{}); err != nil {
			b.Fatal(err)
		}
	}
}
