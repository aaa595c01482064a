package spans

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"ashlar/ingest/model/recording"
)

// spreads are distributions that are hard for selection.
var spreads = map[string]func(r *rand.Rand) int64{
	"alike":       func(*rand.Rand) int64 { return 7_000_000 },
	"few values":  func(r *rand.Rand) int64 { return int64(r.IntN(3)) },
	"narrow":      func(r *rand.Rand) int64 { return 1e9 + int64(r.IntN(50)) },
	"even":        func(r *rand.Rand) int64 { return r.Int64N(1e12) },
	"heavy tail":  func(r *rand.Rand) int64 { return int64(1e3 / math.Pow(r.Float64()+1e-9, 1.5)) },
	"whole range": func(r *rand.Rand) int64 { return r.Int64() },
	"one far out": func(r *rand.Rand) int64 {
		if r.IntN(50000) == 0 {
			return math.MaxInt64 - 1
		}
		return int64(r.IntN(1000))
	},
}

// scattered puts values into slices of several lengths.
func scattered(r *rand.Rand, all []int64) parts {
	var p parts
	for rest := all; len(rest) > 0; {
		n := min(len(rest), 1+r.IntN(5000))
		p = append(p, slices.Clone(rest[:n]))
		rest = rest[n:]
	}
	return p
}

func TestRanksAreThoseOfSorting(t *testing.T) {
	for name, draw := range spreads {
		for _, n := range []int{1, 2, 3, 10, 999, 1000, 1001, sortAtMost + 1, 120_001} {
			r := rand.New(rand.NewPCG(uint64(n), 5))
			all := make([]int64, n)
			for i := range all {
				all[i] = draw(r)
			}
			p := scattered(r, all)
			sorted := slices.Sorted(slices.Values(all))
			ranks := []int64{0, int64(n) / 2, int64(n) * 9 / 10, int64(n) - 1}
			got, err := atRanks(context.Background(), p, sorted[0], sorted[n-1], ranks)
			if err != nil {
				t.Fatal(err)
			}
			for k, rank := range ranks {
				if got[k] != sorted[rank] {
					t.Errorf("%s: value %d of %d is %d, want %d", name, rank, n, got[k], sorted[rank])
				}
				if v := Nth(slices.Clone(all), int(rank)); v != sorted[rank] {
					t.Errorf("%s: Nth(%d) of %d is %d, want %d", name, rank, n, v, sorted[rank])
				}
			}
		}
	}
}

// TestNearestRank compares with the definition: the smallest value for which at least the
// given thousandths of all values are no larger.
func TestNearestRank(t *testing.T) {
	for n := int64(1); n < 2500; n++ {
		for _, mille := range []int64{500, 900, 990, 999, 1, 1000} {
			place := int64(1)
			for place*1000 < mille*n {
				place++
			}
			if got := rankOf(n, mille); got != place-1 {
				t.Fatalf("%d thousandths of %d values is place %d, want %d", mille, n, got, place-1)
			}
		}
	}
	// The expected result was computed with big integers.
	if got := rankOf(math.MaxInt64, 999); got != 9214148664817921031 {
		t.Errorf("of the most values there can be it is place %d", got)
	}
}

func TestBinsHoldEveryValueOnce(t *testing.T) {
	for name, draw := range spreads {
		r := rand.New(rand.NewPCG(3, 5))
		all := make([]int64, 20_000)
		for i := range all {
			all[i] = draw(r)
		}
		least, most := slices.Min(all), slices.Max(all)
		log, linear, err := histograms(context.Background(), scattered(r, all), least, most)
		if err != nil {
			t.Fatal(err)
		}
		if len(linear) > linearBins+1 || len(log) > 220 {
			t.Errorf("%s: %d linear and %d logarithmic bins", name, len(linear), len(log))
		}
		for kind, bins := range map[string][]Bin{"linear": linear, "log": log} {
			if bins[0].Count == 0 || bins[len(bins)-1].Count == 0 {
				t.Errorf("%s, %s: an empty bin at an end: %v", name, kind, bins)
			}
			for i, b := range bins {
				if i > 0 && b.From != bins[i-1].To || b.To <= b.From {
					t.Fatalf("%s, %s: %v does not follow", name, kind, b)
				}
				var want, sum int64
				for _, v := range all {
					if v >= b.From && v < b.To {
						want++
						recording.Add(&sum, v)
					}
				}
				if b.Count != want || b.Sum != sum {
					t.Errorf("%s, %s: %d of %d in %d..%d, want %d of %d", name, kind, b.Count, b.Sum, b.From, b.To, want, sum)
				}
				if kind == "linear" && i > 0 && i < len(bins)-1 && b.To-b.From != bins[0].To-bins[0].From {
					t.Errorf("%s: bins differ in width", name)
				}
			}
		}
	}
}

func TestTrend(t *testing.T) {
	course := func(n int, f func(i int) int64) []Moment {
		var ms []Moment
		for i := range n {
			ms = append(ms, Moment{int64(i) * 1000, int64(i+1) * 1000, 5, f(i)})
		}
		return ms
	}
	r := rand.New(rand.NewPCG(1, 1))
	for _, c := range []struct {
		name string
		ms   []Moment
		want Direction
	}{
		{"rises", course(60, func(i int) int64 { return 1000 + int64(i)*20 }), Slower},
		{"falls with noise", course(60, func(i int) int64 { return 9000 - int64(i)*100 + r.Int64N(400) }), Faster},
		{"alike", course(60, func(int) int64 { return 1000 }), Steady},
		{"noise", course(60, func(int) int64 { return 1000 + r.Int64N(500) }), Steady},
		{"rises by nothing that matters", course(60, func(i int) int64 { return 1_000_000 + int64(i)*100 }), Steady},
		{"a few outliers", course(60, func(i int) int64 {
			if i > 55 {
				return 90_000
			}
			return 1000 + r.Int64N(10)
		}), Steady},
		{"too few", course(5, func(i int) int64 { return int64(i) * 100 }), Unknown},
		{"nothing", nil, Unknown},
	} {
		if got := TrendOf(c.ms); got.Direction != c.want {
			t.Errorf("%s: %+v, want %s", c.name, got, c.want)
		}
	}
	line := TrendOf(course(20, func(i int) int64 { return 500 + int64(i)*10 }))
	if line.First != 500 || line.Last != 690 || line.Tau != 1 {
		t.Errorf("a line from 500 to 690 is told as %+v", line)
	}
}

// TestZerosStandBesideTheRest checks that zero durations have a separate bin, at most five
// empty bins before the shortest other duration.
func TestZerosStandBesideTheRest(t *testing.T) {
	log, _, err := histograms(context.Background(), parts{{0, 0, 0, 31_000_000, 90_000_000}}, 0, 90_000_000)
	if err != nil {
		t.Fatal(err)
	}
	if log[0].From != 0 || log[0].Count != 3 || log[6].Count != 1 || log[6].From > 31_000_000 || log[6].To <= 31_000_000 {
		t.Errorf("the first bins are %v", log[:7])
	}
	for i := range log[1:] {
		if log[i].To != log[i+1].From {
			t.Errorf("bin %d ends at %d, the next begins at %d", i, log[i].To, log[i+1].From)
		}
	}
	if last := log[len(log)-1]; last.Count != 1 || last.From > 90_000_000 || last.To <= 90_000_000 {
		t.Errorf("the last bin is %v", last)
	}
}
