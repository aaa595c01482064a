package timeline

import (
	"math"
	"testing"

	"ashlar/ingest/model/recording"
)

// TestDensityIsWhatIsThere compares the density of a recording with sums over all
// outermost spans and over all samples. Times within one pixel may count for the
// neighbouring pixel.
func TestDensityIsWhatIsThere(t *testing.T) {
	const n = 500
	compare := func(name string, rec *recording.Recording, event int, want []float64) {
		got := Density(rec, event, 0, n)
		scale := total(want) / total(got)
		var most, a, b float64
		for _, w := range want {
			most = max(most, w)
		}
		for i := range got {
			a, b = a+got[i]*scale, b+want[i]
			if d := math.Abs(a - b); d > most {
				t.Fatalf("%s: up to part %d there is %v, want %v", name, i, a, b)
			}
			if got[i] < 0 || got[i] > 1 {
				t.Fatalf("%s: part %d is %v", name, i, got[i])
			}
		}
	}
	spans := nested(7, 6, 20000)
	want := make([]float64, n)
	for _, tr := range spans.Tracks {
		l := &tr.Lanes[0]
		for i := range l.Len() {
			part := func(at int64) int64 { return min(n-1, (at-spans.Start)*n/spans.Duration()) }
			for k := part(l.Start(i)); k <= part(l.End(i)); k++ {
				from := float64(spans.Start) + float64(spans.Duration())*float64(k)/n
				to := float64(spans.Start) + float64(spans.Duration())*float64(k+1)/n
				want[k] += max(0, min(to, float64(l.End(i)))-max(from, float64(l.Start(i))))
			}
		}
	}
	compare("spans", spans, 0, want)

	samples := both(t, 6)
	want = make([]float64, n)
	for i, tr := range samples.Tracks {
		if s := tr.SamplesOf(1); i%2 == 1 {
			for k := range s.Len() {
				part := float64(samples.Duration()) / n
				from, to := float64(s.Time(k)-samples.Start), float64(s.End(k)-samples.Start)
				for w := int(from / part); w < min(n, int(to/part)+1); w++ {
					share := max(0, min(to, part*float64(w+1))-max(from, part*float64(w)))
					want[w] += share / (to - from)
				}
			}
		}
	}
	compare("samples", samples, 1, want)
}
