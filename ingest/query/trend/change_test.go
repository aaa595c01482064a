package trend

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"ashlar/testdata/rounds"
)

// naive returns the statistic of the best split by the definition, from all pairs of
// values. In series longer than mostBlocks, only splits between blocks may end early.
func naive(values []float64) (q float64) {
	n := len(values)
	size := (n + mostBlocks - 1) / mostBlocks
	pairs := func(a, b []float64) (sum float64) {
		for _, x := range a {
			for _, y := range b {
				sum += math.Abs(x - y)
			}
		}
		return sum
	}
	for end := 2 * least; end <= n; end++ {
		for k := least; k <= end-least; k++ {
			if end < n && (k%size != 0 || end%size != 0) {
				continue
			}
			a, b := values[:k], values[k:end]
			m, o := float64(len(a)), float64(len(b))
			e := 2/(m*o)*pairs(a, b) - pairs(a, a)/(m*(m-1)) - pairs(b, b)/(o*(o-1))
			q = math.Max(q, m*o/(m+o)*e)
		}
	}
	return q
}

// TestBestAgainstAllPairs compares the best split with the definition, also for series with
// equal values and for long ones.
func TestBestAgainstAllPairs(t *testing.T) {
	rounds.Unraced(t)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 200 {
		values := make([]float64, 6+r.IntN(40))
		if i%40 == 0 {
			values = make([]float64, 65+r.IntN(100))
		}
		for i := range values {
			values[i] = float64(r.IntN(12))
			if i > len(values)/3 && i < len(values)*2/3 {
				values[i] += float64(r.IntN(6))
			}
		}
		at, end, q := newSplitter(values).best(0, len(values))
		if want := naive(values); math.Abs(q-want) > 1e-9*math.Max(1, want) {
			t.Fatalf("%v: split at %d of %d with %v, want %v", values, at, end, q, want)
		}
	}
}

// TestFindsRepairedChanges checks that a cost that rose and fell again is two changes, also
// a short rise in a long series.
func TestFindsRepairedChanges(t *testing.T) {
	rounds.Unraced(t)
	for _, c := range []struct{ runs, from, to int }{{30, 10, 20}, {24, 8, 16}, {60, 20, 26}, {200, 90, 102}, {500, 240, 262}} {
		if c.runs > 100 && testing.Short() {
			continue
		}
		missed := 0
		for seed := range 10 {
			r := rand.New(rand.NewPCG(11, uint64(seed)))
			values := make([]float64, c.runs)
			for i := range values {
				values[i] = 100 + 2*r.NormFloat64()
				if i >= c.from && i < c.to {
					values[i] += 10
				}
			}
			found := Changes(values)
			if len(found) < 2 || !slices.ContainsFunc(found, near(c.from)) || !slices.ContainsFunc(found, near(c.to)) {
				missed++
			}
		}
		if missed > 1 {
			t.Errorf("%d runs, more from %d to %d: missed in %d of 10", c.runs, c.from, c.to, missed)
		}
	}
}

func near(at int) func(Change) bool {
	return func(c Change) bool { return max(c.At-at, at-c.At) <= 1 }
}

// TestFindsChanges plants changes in noise and finds each where it is, within one run.
func TestFindsChanges(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, c := range []struct {
		runs int
		at   []int
	}{{40, []int{20}}, {40, []int{30}}, {90, []int{30, 60}}, {120, []int{20, 50, 100}}} {
		values := make([]float64, c.runs)
		for i := range values {
			values[i] = 100 + 2*r.NormFloat64()
			for k, at := range c.at {
				if i >= at {
					values[i] += []float64{12, -8, 15}[k]
				}
			}
		}
		var found []int
		for _, x := range Changes(values) {
			found = append(found, x.At)
			if math.Abs(x.Before-mean(values[x.From:x.At])) > 1e-9 || math.Abs(x.After-mean(values[x.At:x.To])) > 1e-9 {
				t.Errorf("a change says %+v", x)
			}
		}
		if !slices.EqualFunc(found, c.at, func(a, b int) bool { return max(a-b, b-a) <= 1 }) {
			t.Errorf("%d runs with changes at %d: found %d", c.runs, c.at, found)
		}
	}
	if got := Changes([]float64{5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5, 5}); got != nil {
		t.Errorf("a constant series changes at %+v", got)
	}
	if got := Changes([]float64{1, 2, 3}); got != nil {
		t.Errorf("three runs change at %+v", got)
	}
}

// TestFalseAlarms checks that at most 12 of 400 series without a change get one, for
// several distributions. At the rate of 1 %, more would occur once in 2000 times.
func TestFalseAlarms(t *testing.T) {
	rounds.Unraced(t)
	r := rand.New(rand.NewPCG(5, 6))
	for name, noise := range map[string]func() float64{
		"normal": r.NormFloat64, "skewed": r.ExpFloat64, "two values": func() float64 { return float64(r.IntN(2)) },
	} {
		alarms := 0
		for range 400 {
			values := make([]float64, 30)
			for i := range values {
				values[i] = noise()
			}
			if len(Changes(values)) > 0 {
				alarms++
			}
		}
		if alarms > 12 {
			t.Errorf("%s noise: %d of 400 series without a change got one", name, alarms)
		}
	}
}

// TestSureKeepsFew checks that a real change among many series is kept and a chance finding
// is dropped.
func TestSureKeepsFew(t *testing.T) {
	all := make([][]Change, 40)
	all[3] = []Change{{At: 5, P: .0005}}
	all[9] = []Change{{At: 7, P: .01}}
	Sure(all)
	if all[3] == nil || all[9] != nil {
		t.Errorf("kept are %+v and %+v", all[3], all[9])
	}
}
