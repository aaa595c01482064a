package verdict_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ashlar/app/core/verdict"
	"ashlar/ingest/query/compare"
)

// spread describes a sampled program. Its requests call main.key, which spends its time in
// many library functions that the rest of the program calls too.
type spread struct {
	key   float64  // samples in library functions below main.key, per other sample
	other float64  // the same below main.log
	below []string // what main.key calls on the way to them
	speed float64  // factor of the number of samples
}

const spreadLeaves = 40

// stacks returns the samples of a run by stack.
func (s spread) stacks(seed uint64) map[string]int {
	r := rand.New(rand.NewPCG(seed, 42))
	counts := map[string]int{}
	if s.speed == 0 {
		s.speed = 1
	}
	n := int(s.speed * (1 + s.key + s.other) * (20_000 + 200*r.NormFloat64()))
	for range n {
		leaf := fmt.Sprintf("lib.f%02d", r.IntN(spreadLeaves))
		at := r.Float64() * (1 + s.key + s.other)
		switch {
		case at < s.key:
			counts["main.main;main.serve;main.handle;main.key;"+strings.Join(append(slices.Clone(s.below), leaf), ";")]++
		case at < s.key+s.other:
			counts["main.main;main.serve;main.log;lib.print;"+leaf]++
		case at < s.key+s.other+.06:
			counts["main.main;main.serve;main.handle;main.key"]++
		case at < s.key+s.other+.3:
			counts["main.main;main.serve;main.handle;main.compare"]++
		case at < s.key+s.other+.4:
			counts["main.main;main.sort;main.less"]++
		default:
			counts["main.main;main.load;"+leaf]++
		}
	}
	return counts
}

// totalIn returns the mean samples per run of the stacks that contain a function.
func totalIn(runs []map[string]int, name string) float64 {
	sum := 0
	for _, stacks := range runs {
		for stack, n := range stacks {
			if slices.Contains(strings.Split(stack, ";"), name) {
				sum += n
			}
		}
	}
	return float64(sum) / float64(len(runs))
}

func inputs(t *testing.T, runs []map[string]int) (all []compare.Input) {
	t.Helper()
	for _, stacks := range runs {
		var b strings.Builder
		for stack, n := range stacks {
			fmt.Fprintf(&b, "%s %d\n", stack, n)
		}
		all = append(all, input(t, "x.folded", []byte(b.String())))
	}
	return all
}

// saidOf returns the verdict on two sides of runs, and the functions named for their totals.
func saidOf(t *testing.T, a, b []map[string]int) (string, []string) {
	t.Helper()
	c, err := compare.Compare(context.Background(), inputs(t, a), inputs(t, b), compare.Options{Normalize: compare.Auto})
	if err != nil {
		t.Fatal(err)
	}
	table, err := c.Table(context.Background(), compare.ByFunction, true)
	if err != nil {
		t.Fatal(err)
	}
	var callers []string
	for _, x := range verdict.Callers(c, table) {
		callers = append(callers, x.Row.Name)
	}
	return verdict.Of(c, table), callers
}

// TestCallers compares runs in which the cost below a function changed, spread thinly over
// library functions. The first sentence must name the function and what it calls.
func TestCallers(t *testing.T) {
	printf := []string{"fmt.Sprintf", "fmt.doPrintf"}
	usual := spread{key: .02, other: .03}
	for _, test := range []struct {
		name  string
		a, b  spread
		named string // the only caller named
		says  string
		// With one run a side, main.key itself may be too close to call.
		orNamed, orSays string
	}{
		{"newly calls", spread{key: 0, other: .03}, spread{key: .08, other: .03, below: printf}, "main.key", "newly calls fmt.Sprintf", "fmt.Sprintf", "new, called by main.key"},
		{"no longer calls", spread{key: .08, other: .03, below: printf}, spread{key: 0, other: .03}, "main.key", "no longer calls fmt.Sprintf", "fmt.Sprintf", "gone, called by main.key"},
		{"calls more", spread{key: .02, other: .03, below: []string{"main.format"}}, spread{key: .09, other: .03, below: []string{"main.format"}}, "main.format", "mostly in lib.f", "", ""},
		{"another caller", usual, spread{key: .02, other: .1}, "lib.print", "mostly in lib.f", "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			for seed := uint64(1); seed <= 3; seed++ {
				var a, b []map[string]int
				for run := range uint64(4) {
					a, b = append(a, test.a.stacks(seed*100+run)), append(b, test.b.stacks(seed*100+50+run))
				}
				for _, runs := range []int{4, 1} {
					text, callers := saidOf(t, a[:runs], b[:runs])
					t.Log(text)
					first := firstSentence(text)
					named, says := test.named, test.says
					if runs == 1 && slices.Equal(callers, []string{test.orNamed}) {
						named, says = test.orNamed, test.orSays
					}
					if !slices.Equal(callers, []string{named}) || !strings.Contains(first, says) {
						t.Errorf("seed %d, %d runs: %q names %q, want %s and %q", seed, runs, text, callers, named, says)
						continue
					}
					da, db := totalIn(a[:runs], named), totalIn(b[:runs], named)
					_, number, _ := strings.Cut(first, named+" total ")
					number, _, _ = strings.Cut(number, " (")
					number = strings.NewReplacer("−", "-", "+", "", " ", "").Replace(number)
					got, err := json.Number(number).Float64()
					if d := db - da; err != nil || got-d > 1 || d-got > 1 {
						t.Errorf("seed %d, %d runs: %q, the stacks give %.2f", seed, runs, first, d)
					}
				}
			}
		})
	}
}

// TestNewAmongMany compares five runs per side of a program with many small functions, one of
// them new in B: too few samples for its own spread to tell, and yet in each run of B.
func TestNewAmongMany(t *testing.T) {
	runs := func(seed uint64, added ...int) (all []map[string]int) {
		r := rand.New(rand.NewPCG(seed, 3))
		for _, n := range added {
			stacks := map[string]int{"main;check": n}
			for f := range 150 {
				mean := 5 + float64(f%40)
				stacks[fmt.Sprintf("main;f%d", f)] = max(1, int(mean+math.Sqrt(mean)*1.2*r.NormFloat64()))
			}
			all = append(all, stacks)
		}
		return all
	}
	got, _ := saidOf(t, runs(1, 0, 0, 0, 0, 0), runs(2, 17, 9, 13, 11, 18))
	if !strings.HasPrefix(got, "check +") {
		t.Errorf("check is new in every run of B, but the verdict is: %s", got)
	}
}

// TestCallersOfNothing compares four runs of one program with four others, some of which do
// more of everything. No verdict may name a caller.
func TestCallersOfNothing(t *testing.T) {
	const pairs = 40
	alarms := 0
	for seed := range uint64(pairs) {
		usual := spread{key: .04, other: .03, below: []string{"main.format"}}
		other := usual
		if seed%2 == 1 {
			other.speed = 1.15
		}
		var a, b []map[string]int
		for run := range uint64(4) {
			a, b = append(a, usual.stacks(seed*100+run)), append(b, other.stacks(seed*100+50+run))
		}
		for _, runs := range []int{4, 1} {
			if text, callers := saidOf(t, a[:runs], b[:runs]); len(callers) > 0 {
				alarms++
				t.Logf("seed %d, %d runs: %s", seed, runs, text)
			}
		}
	}
	if alarms > 2*pairs/20 {
		t.Errorf("%d of %d verdicts name a caller that only varies", alarms, 2*pairs)
	}
	t.Logf("%d of %d", alarms, 2*pairs)
}
