package spans_test

import (
	"context"
	"math/rand/v2"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/spans"
)

func TestDensityOfSpans(t *testing.T) {
	rec, all := traceOf(3, 4, 5000)
	const cells = 77
	width := rec.Duration()/cells + 1
	for _, name := range []string{"", "f1"} {
		var of []recording.FuncID
		if name != "" {
			of = analyze.Named(name).Functions(rec)
		}
		d, err := spans.DensityOf(context.Background(), rec, analyze.Query{}, rec.Start, width, cells, of)
		if err != nil {
			t.Fatal(err)
		}
		want := make([]int64, cells)
		for _, s := range all {
			if name == "" || s.name == name {
				want[(s.start-rec.Start)/width]++
			}
		}
		checkCells(t, d, want)
	}
}

func TestDensityOfSamples(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 6))
	b := recording.NewBuilder()
	b.AddEvent(recording.Event{Name: "cycles", Basis: recording.FromSamples, Metrics: []recording.Metric{
		{Name: "samples", PerSample: recording.SampleOne}, {Name: "period", PerSample: recording.SampleColumn}}})
	frame := func(n string) recording.FrameID {
		return b.FunctionFrame(b.Function(recording.Function{Name: n}))
	}
	calls := []recording.CallID{b.Stack([]recording.FrameID{frame("main")}), b.Stack([]recording.FrameID{frame("main"), frame("f"), frame("g")})}
	const cells, width = 40, 1000
	var want [3][]int64 // all, with f, by period
	for i := range want {
		want[i] = make([]int64, cells)
	}
	for i := range 3000 {
		at, c, period := r.Int64N(cells*width), r.IntN(2), r.Int64N(9)
		if i == 0 {
			at = 0
		}
		b.Track(recording.TrackKey{TID: int64(i % 3)}).Sample(0, at, calls[c], -1, []int64{1, period})
		want[0][at/width]++
		want[1][at/width] += int64(c)
		want[2][at/width] += period
	}
	rec := b.Finish()
	for i, q := range []struct {
		metric int
		of     []recording.FuncID
	}{{0, nil}, {0, analyze.Named("f").Functions(rec)}, {1, nil}} {
		d, err := spans.DensityOf(context.Background(), rec, analyze.Query{Metric: q.metric}, 0, width, cells, q.of)
		if err != nil {
			t.Fatal(err)
		}
		checkCells(t, d, want[i])
	}
}

func checkCells(t *testing.T, d *spans.Density, want []int64) {
	t.Helper()
	var sum, most int64
	for i, n := range want {
		sum, most = sum+n, max(most, n)
		if d.Cells[i] != n {
			t.Fatalf("cell %d has %d, want %d", i, d.Cells[i], n)
		}
	}
	if d.Sum != sum || d.Most != most {
		t.Errorf("sum %d, most %d; want %d and %d", d.Sum, d.Most, sum, most)
	}
}
