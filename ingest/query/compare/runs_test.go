package compare

import (
	"math"
	"math/rand/v2"
	"testing"

	"ashlar/ingest/query/compare/stats"
)

// TestMoreRuns checks that, with the number of runs from MoreRuns, the difference is found
// about four times in five.
func TestMoreRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 9))
	const sd, shift = 10, 4
	e := sd * math.Sqrt(2./3)
	c := Confidence{Method: FromRuns, P: .6, Low: shift - 3*e, High: shift + 3*e, A: 3, B: 3, Spread: [2]float64{sd, sd}}
	n := 3 + c.MoreRuns()
	found := 0
	const tries = 600
	for range tries {
		var a, b []float64
		for range n {
			a, b = append(a, sd*r.NormFloat64()), append(b, shift+sd*r.NormFloat64())
		}
		if stats.Means(stats.NewSample(a), stats.NewSample(b), 0).P < .05 {
			found++
		}
	}
	if share := float64(found) / tries; share < .74 || share > .86 {
		t.Errorf("with %d runs per side the difference is found in %.0f %% of tries", n, 100*share)
	}
	if c.P = .01; c.MoreRuns() != 0 {
		t.Errorf("a settled difference asks for %d more runs", c.MoreRuns())
	}
	if c := (Confidence{Method: FromCounts, P: .5, Low: -1, High: 3}); c.MoreRuns() != -1 {
		t.Error("samples of one run ask for more runs")
	}
}
