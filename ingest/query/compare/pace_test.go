package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"
)

// TestPace compares five runs with five on a machine that runs everything up to a third
// faster or slower from run to run. What is planted must be certain, and what all
// functions have in common must be no change of a function.
func TestPace(t *testing.T) {
	const functions, runs, rounds = 8, 5, 40
	side := func(r *rand.Rand, factor func(f int) float64) (in []Input) {
		for range runs {
			machine := math.Exp(.15 * r.NormFloat64())
			var hots []hot
			for f := range functions {
				own := math.Exp(.02 * r.NormFloat64())
				hots = append(hots, hot{[]string{"main@app", fmt.Sprintf("f%d@app", f)}, 300 * machine * own * factor(f)})
			}
			in = append(in, Input{Rec: sampled(r.Uint64(), hots, []string{"main"}, false)})
		}
		return in
	}
	for _, tt := range []struct {
		name    string
		factor  func(f int) float64
		changed int     // f0 to this one changed
		common  float64 // of the others
	}{
		{"nothing", func(f int) float64 { return 1 }, 0, 1},
		{"one", func(f int) float64 { return []float64{1.5, 1}[min(f, 1)] }, 1, 1},
		{"two alike", func(f int) float64 { return []float64{1.5, 1.5, 1}[min(f, 2)] }, 2, 1},
		{"longer", func(f int) float64 { return 2 }, 0, 2},
		{"longer, and one", func(f int) float64 { return []float64{3, 2}[min(f, 1)] }, 1, 2},
	} {
		r := rand.New(rand.NewPCG(uint64(len(tt.name)), 3))
		found, alarms := 0, 0
		for range rounds {
			c, err := Compare(bg, side(r, func(int) float64 { return 1 }), side(r, tt.factor), Options{})
			if err != nil {
				t.Fatal(err)
			}
			table := mustTable(t, c, ByFunction)
			if table.Common < .7*tt.common || table.Common > 1.4*tt.common {
				t.Errorf("%s: all functions changed to %.2f times their cost, want about %v", tt.name, table.Common, tt.common)
			}
			alarm := false
			for f := range functions {
				switch sure := row(t, table, fmt.Sprint("f", f)).Self.Level() >= .95; {
				case !sure:
				case f < tt.changed:
					found++
				default:
					alarm = true
				}
			}
			if alarm {
				alarms++
			}
		}
		if found < tt.changed*rounds*9/10 {
			t.Errorf("%s: %d of %d changes are certain", tt.name, found, tt.changed*rounds)
		}
		if alarms > rounds/10 {
			t.Errorf("%s: %d of %d comparisons have a false alarm", tt.name, alarms, rounds)
		}
	}
}

// TestPaceOfExactCosts compares costs that hardly vary: a change of a percent is certain,
// and a cost that is the same everywhere has not changed.
func TestPaceOfExactCosts(t *testing.T) {
	side := func(seed uint64, changed float64) (in []Input) {
		r := rand.New(rand.NewPCG(seed, 5))
		for range 3 {
			hots := []hot{{[]string{"main@app", "steady@app"}, 500_000}}
			for f := range 6 {
				cost := 1e6 * (1 + .0001*r.NormFloat64())
				if f == 0 {
					cost *= changed
				}
				hots = append(hots, hot{[]string{"main@app", fmt.Sprintf("f%d@app", f)}, cost})
			}
			in = append(in, Input{Rec: sampled(r.Uint64(), hots, []string{"main"}, true)})
		}
		return in
	}
	c, err := Compare(bg, side(1, 1), side(2, 1.01), Options{Metric: "time"})
	if err != nil {
		t.Fatal(err)
	}
	table := mustTable(t, c, ByFunction)
	if r := row(t, table, "steady"); r.Self.Level() >= .5 {
		t.Errorf("a cost that is the same in all runs changed: %+v", *r.Self)
	}
	if r := row(t, table, "f0"); r.Self.P > .01 {
		t.Errorf("a change of a percent where costs vary by a ten-thousandth: %+v", *r.Self)
	}
}
