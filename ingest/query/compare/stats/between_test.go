package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// made draws the counts of functions in two runs of an unchanged program: all costs have
// a common factor, and each varies around it.
func made(r *rand.Rand, n int, mean, common, deviation float64) (counts [][2]float64, ratios []Ratio) {
	for range n {
		a := math.Round(mean + math.Sqrt(mean)*r.NormFloat64())
		b := mean * math.Exp(common+deviation*r.NormFloat64())
		b = math.Round(b + math.Sqrt(b)*r.NormFloat64())
		counts = append(counts, [2]float64{a, b})
		ratios = append(ratios, Ratio{math.Log((b + .5) / (a + .5)), 1/(a+.5) + 1/(b+.5)})
	}
	return counts, ratios
}

// TestBetweenRate checks that about one in twenty functions of an unchanged program has p <
// 0.05 if runs vary as usual, for any number of functions, and at most one in eight if they
// vary three times as much.
func TestBetweenRate(t *testing.T) {
	for _, functions := range []int{5, 12, 40} {
		for deviation, most := range map[float64]float64{0: .05, .03: .06, .1: .125} {
			r := rand.New(rand.NewPCG(37, 1))
			under, all := 0, 0
			for range 600 / functions {
				counts, ratios := made(r, functions, 800, .4, deviation)
				b := NewBetween(ratios, TypicalOfSamples)
				for i, c := range counts {
					all++
					if p, _ := b.Reference(&ratios[i]).Counts(c[0], c[1], 1); p < .05 {
						under++
					}
				}
			}
			if share := float64(under) / float64(all); share > most {
				t.Errorf("%d functions that vary by %g: %.1f %% are below 0.05", functions, deviation, 100*share)
			}
		}
	}
}

// TestBetweenLearns checks that many functions give the factor and the deviation, and that
// a change beyond these is found even if a third of the functions changed.
func TestBetweenLearns(t *testing.T) {
	r := rand.New(rand.NewPCG(37, 2))
	_, ratios := made(r, 90, 5000, .7, .08)
	for i := range 30 {
		ratios[i].Log += 1.5
	}
	b := NewBetween(ratios, TypicalOfSamples)
	if math.Abs(b.Common-.7) > .1 {
		t.Errorf("the common factor is %g, planted 0.7", b.Common)
	}
	ref := b.Reference(nil)
	if d := math.Sqrt(ref.more); d < .05 || d > .15 {
		t.Errorf("the deviation is %g, planted 0.08", d)
	}
	if p, _ := ref.Counts(5000, 5000*2*1.6, 1); p > .001 {
		t.Errorf("a change of 60 %% beyond the common factor has p %g", p)
	}
	if p, _ := ref.Counts(5000, 5000*2*1.05, 1); p < .3 {
		t.Errorf("a change of 5 %% beyond the common factor has p %g", p)
	}
	// A single other function is not enough.
	few := []Ratio{{.26, .002}, {0, .002}}
	if p, _ := NewBetween(few, TypicalOfSamples).Reference(&few[0]).Counts(1000, 1300, 1); p < .01 {
		t.Errorf("a change of 30 %% beside one other function has p %g", p)
	}
}

// TestCommon checks the factor on which most functions agree, beside functions that changed.
func TestCommon(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	for _, tt := range []struct {
		name          string
		common        float64
		like, changed int
		by, apart     float64
	}{
		{"nothing", 0, 6, 0, 0, .0001},
		{"one changed", 0, 5, 1, .4, .0001},
		{"two changed alike", 0, 3, 2, .4, .0001},
		{"all doubled", math.Ln2, 6, 0, 0, .0001},
		{"all doubled, two more", math.Ln2, 5, 2, .4, .0001},
		{"a slower machine", .2, 6, 0, 0, .01},
	} {
		for range 50 {
			var ratios []Ratio
			for i := range tt.like + tt.changed {
				log := tt.common + .02*r.NormFloat64()
				if i < tt.changed {
					log += tt.by
				}
				ratios = append(ratios, Ratio{log, .02 * .02})
			}
			got := Common(ratios, tt.apart)
			if math.Abs(got-tt.common) > .03 {
				t.Errorf("%s: the common factor is %.3f, want %.3f", tt.name, got, tt.common)
			}
		}
	}
}
