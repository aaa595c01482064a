package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// varied returns functions whose numbers of samples vary from run to run by a relative standard
// deviation beyond chance, which itself differs from function to function.
func varied(r *rand.Rand, functions, runs int, relative float64) (units []Runs) {
	for range functions {
		mean := math.Exp(1 + 5*r.Float64()) // 3 to 400 samples
		own := relative * math.Exp(.3*r.NormFloat64())
		u := Runs{Counted: [2]float64{}}
		for side := range u.Sides {
			values, sum := make([]float64, runs), 0.0
			for i := range values {
				m := mean * math.Exp(own*r.NormFloat64())
				values[i] = math.Max(0, math.Round(m+math.Sqrt(m)*r.NormFloat64()))
				sum += values[i]
			}
			u.Sides[side], u.Counted[side] = NewSample(values), sum/float64(runs)
		}
		units = append(units, u)
	}
	return units
}

// TestPrior checks on functions that did not change that the spread is found, and that a p-value
// below a limit is as rare as the limit says.
func TestPrior(t *testing.T) {
	for _, relative := range []float64{0, .1, .25} {
		r := rand.New(rand.NewPCG(5, 6))
		var below [2]int
		limits := [2]float64{.05, .001}
		tests, sum := 0, 0.0
		const rounds = 150
		for range rounds {
			units := varied(r, 60, 5, relative)
			p := NewPrior(units)
			sum += p.Relative
			for i := range units {
				tests++
				for k, limit := range limits {
					if p.P(&units[i]) < limit {
						below[k]++
					}
				}
			}
		}
		if got := sum / rounds; math.Abs(got-relative) > .04 {
			t.Errorf("relative spread %g: %g was found", relative, got)
		}
		for k, limit := range limits {
			if got := float64(below[k]) / float64(tests); got > 1.6*limit || got < limit/4 {
				t.Errorf("relative spread %g: %.5f of the p-values are below %g", relative, got, limit)
			}
		}
	}
}

// TestPriorFinds checks that five runs show a new function among two hundred, whose own spread
// over so few runs says little.
func TestPriorFinds(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	units := varied(r, 200, 5, .2)
	p := NewPrior(units)
	u := Runs{Sides: [2]Sample{NewSample([]float64{0, 0, 0, 0, 0}), NewSample([]float64{17, 9, 13, 11, 18})}, Counted: [2]float64{0, 13.6}}
	alone := Means(u.Sides[0], u.Sides[1], 13.6/5).P
	if got := p.P(&u); got*200 > .001 || alone*200 < .05 {
		t.Errorf("p is %g with all functions and %g without", got, alone)
	}
}

func TestTrigamma(t *testing.T) {
	for x, want := range map[float64]float64{.5: math.Pi * math.Pi / 2, 1: math.Pi * math.Pi / 6, 2: math.Pi*math.Pi/6 - 1} {
		if got := trigamma(x); math.Abs(got-want) > 1e-9 {
			t.Errorf("trigamma(%g) = %g, want %g", x, got, want)
		}
		if got := inverseTrigamma(want); math.Abs(got-x) > 1e-6 {
			t.Errorf("inverseTrigamma(%g) = %g, want %g", want, got, x)
		}
	}
}
