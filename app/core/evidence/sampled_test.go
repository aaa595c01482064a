package evidence

import (
	"encoding/json"
	"math/rand/v2"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

// TestIntervals samples programs with known shares, with equal and with different weights.
// About 95 % of the intervals must contain the true share, for light and heavy functions
// alike.
func TestIntervals(t *testing.T) {
	const rounds, samples = 1200, 600
	for _, p := range []struct {
		often  [3]float64 // probabilities of sampling a, b and c
		weighs [3]int64   // weight of each sample of them
	}{
		{[3]float64{.05, .35, .6}, [3]int64{1, 1, 1}},
		{[3]float64{.05, .35, .6}, [3]int64{1, 1, 20}},
		{[3]float64{.05, .35, .6}, [3]int64{20, 1, 1}},
		{[3]float64{.5, .3, .2}, [3]int64{1000, 30, 7}},
	} {
		r := rand.New(rand.NewPCG(1, 2))
		var held [3]int
		for range rounds {
			var n [3]int64
			for range samples {
				k := 0
				for x := r.Float64() - p.often[0]; x > 0 && k < 2; x -= p.often[k] {
					k++
				}
				n[k]++
			}
			var truth float64
			for k := range n {
				truth += p.often[k] * float64(p.weighs[k])
			}
			for k, in := range intervals(t, n, p.weighs) {
				share := p.often[k] * float64(p.weighs[k]) / truth
				if in != nil && number(t, in[0]) <= share+5e-5 && number(t, in[1]) >= share-5e-5 {
					held[k]++
				}
			}
		}
		for k, h := range held {
			if rate := float64(h) / rounds; rate < .92 || rate > .985 {
				t.Errorf("%+v: %.3f of the intervals of function %d have its share", p, rate, k)
			}
		}
	}
}

// intervals returns the intervals of functions with n samples of the given weights.
func intervals(t *testing.T, n, weighs [3]int64) (all [3]*[2]json.Number) {
	t.Helper()
	b := recording.NewBuilder()
	e := b.AddEvent(recording.Event{Primary: 1, Metrics: []recording.Metric{{Name: "samples", Unit: "count"}, {Name: "bytes", Unit: "bytes"}}})
	var sum int64
	for k, name := range []string{"a", "b", "c"} {
		if n[k] > 0 {
			b.AddStack(e, b.Stack([]recording.FrameID{b.FunctionFrame(b.Function(recording.Function{Name: name}))}), recording.NoTrack, 0, []int64{n[k], n[k] * weighs[k]})
		}
		sum += n[k] * weighs[k]
	}
	rec, q := b.Finish(), analyze.Query{Metric: 1}
	w, err := analyze.Weigh(t.Context(), rec, q)
	if err != nil {
		t.Fatal(err)
	}
	s, err := SampledOf(t.Context(), rec, q, w)
	if err != nil || s.Samples != n[0]+n[1]+n[2] {
		t.Fatalf("there are %d samples: %v", s.Samples, err)
	}
	s.By(rec, analyze.ByFunction)
	for _, r := range analyze.Table(rec, analyze.NewTree(rec, w), analyze.ByFunction) {
		x := s.Row(&r, sum)
		self, total := x.SelfInterval, x.TotalInterval
		if (self == nil) != (total == nil) || self != nil && *self != *total {
			t.Fatalf("%s has %v by itself and %v in all", r.Name, self, total)
		}
		all[r.Name[0]-'a'] = self
	}
	return all
}

func number(t *testing.T, n json.Number) float64 {
	t.Helper()
	f, err := n.Float64()
	if err != nil {
		t.Fatal(err)
	}
	return f
}
