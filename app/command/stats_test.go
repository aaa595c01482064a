package command

import (
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// statsTrace writes a Chrome trace with n calls of f and returns their durations in
// nanoseconds. The file gives them as fractions of microseconds.
func statsTrace(t *testing.T, n int) (path string, durations []int64) {
	t.Helper()
	r := rand.New(rand.NewPCG(4, uint64(n)))
	var b strings.Builder
	b.WriteString(`{"traceEvents":[{"name":"g","ph":"X","ts":0,"dur":0.001,"pid":7,"tid":9}`)
	for i := range n {
		d := 1 + int64(1e4/(r.Float64()+1e-3))
		durations = append(durations, d)
		fmt.Fprintf(&b, ",\n"+`{"name":"f","cat":"c","ph":"X","ts":%d,"dur":%d.%03d,"pid":7,"tid":%d}`, 100000*(i+1), d/1000, d%1000, 9+i%2)
	}
	b.WriteString("]}")
	path = filepath.Join(t.TempDir(), "trace.json")
	if err := os.WriteFile(path, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	return path, durations
}

func TestStatsEqualANaiveCount(t *testing.T) {
	for _, n := range []int{1, 2, 7, 1000, 1001} {
		path, ds := statsTrace(t, n)
		for _, scale := range []string{"log", "linear"} {
			r := run("stats", path, "-f", "f", "--json", "--histogram", scale)
			if r.code != Done || r.stderr != "" {
				t.Fatalf("%d calls: exit %d: %s", n, r.code, r.stderr)
			}
			var got struct {
				Function, Unit                         string
				Count                                  int64
				Min, Max, Mean, Median, P90, P99, P999 json.Number
				Histogram                              []statsTestBin
				Slowest                                []struct{ Start, Duration, PID, TID int64 }
				OverTime                               []struct{ Count int64 } `json:"over_time"`
				Trend                                  struct{ Says string }
			}
			if err := json.Unmarshal([]byte(r.stdout), &got); err != nil {
				t.Fatal(err)
			}
			sorted := slices.Sorted(slices.Values(ds))
			at := func(mille int) json.Number { return json.Number(fmt.Sprint(sorted[(n*mille+999)/1000-1])) }
			if got.Function != "f" || got.Unit != "ns" || got.Count != int64(n) || got.Min != json.Number(fmt.Sprint(sorted[0])) ||
				got.Max != at(1000) || got.Median != at(500) || got.P90 != at(900) || got.P99 != at(990) || got.P999 != at(999) {
				t.Errorf("%d calls: %+v", n, got)
			}
			sum := new(big.Rat)
			for _, d := range ds {
				sum.Add(sum, big.NewRat(d, 1))
			}
			want, _ := sum.Quo(sum, big.NewRat(int64(n), 1)).Float64()
			if mean, err := got.Mean.Float64(); err != nil || mean != want {
				t.Errorf("%d calls: mean %s, want %v", n, got.Mean, want)
			}
			checkStatsBins(t, got.Histogram, ds)
			for i, s := range got.Slowest {
				k := slices.Index(ds, s.Duration)
				// Times count from the recording's start, when g starts.
				if s.Duration != sorted[n-1-i] || s.PID != 7 || s.Start != int64(k+1)*100000000 && n < 8 {
					t.Errorf("%d calls: slowest %d is %+v", n, i, s)
				}
			}
			if len(got.Slowest) != min(n, 10) {
				t.Errorf("%d slowest of %d", len(got.Slowest), n)
			}
		}
	}
}

// statsTestBin is a bin with edges in nanoseconds, which may be fractional.
type statsTestBin struct {
	From, To float64
	Count    int64
}

func checkStatsBins(t *testing.T, bins []statsTestBin, ds []int64) {
	t.Helper()
	for i, b := range bins {
		var want int64
		for _, d := range ds {
			if float64(d) >= b.From && float64(d) < b.To {
				want++
			}
		}
		if b.Count != want || i > 0 && bins[i-1].To != b.From {
			t.Errorf("bin %v..%v has %d, want %d", b.From, b.To, b.Count, want)
		}
	}
}

func TestStatsText(t *testing.T) {
	path, _ := statsTrace(t, 500)
	r := run("stats", path, "--function", "f")
	for _, w := range []string{"500 calls", "p99.9", "slowest", "over time: ", "█"} {
		if !strings.Contains(r.stdout, w) {
			t.Errorf("the text does not have %q:\n%s", w, r.stdout)
		}
	}
	if r.code != Done {
		t.Error(r.stderr)
	}
}

func TestStatsOfSamplesSayWhatTheyCannot(t *testing.T) {
	r := run("stats", "--demo", "-f", "runtime.mallocgc", "--json")
	var got map[string]any
	if err := json.Unmarshal([]byte(r.stdout), &got); err != nil {
		t.Fatal(err, r.stderr)
	}
	for _, key := range []string{"count", "min", "max", "mean", "median", "p90", "p99", "p999"} {
		if v, ok := got[key]; !ok || v != nil {
			t.Errorf("%s is %v, though samples do not tell", key, v)
		}
	}
	if got["cannot"] != cannotSamples || got["basis"] != "samples" {
		t.Errorf("%v, %v", got["cannot"], got["basis"])
	}
	if text := run("stats", "--demo", "-f", "runtime.mallocgc"); !strings.Contains(text.stdout, cannotSamples) {
		t.Errorf("the text does not say what samples cannot tell: %s", text.stdout)
	}
}

func TestStatsMisused(t *testing.T) {
	path, _ := statsTrace(t, 2)
	missing := run("stats", path, "-f", "ff")
	missing.sentence(t, Problem, path, "no function is called ff")
	for _, args := range [][]string{{"stats", path}, {"stats", path, "-f", "f", "--histogram", "round"}, {"stats", "-f", "f"}} {
		r := run(args...)
		r.sentence(t, Usage)
	}
}
