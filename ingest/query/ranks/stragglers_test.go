package ranks_test

import (
	"context"
	"fmt"
	"math"
	"slices"
	"testing"

	"ashlar/ingest/query/gpu"
	"ashlar/ingest/query/ranks"
	"ashlar/testdata/rounds"
)

func report(t *testing.T, j *job) *ranks.Report {
	t.Helper()
	var all []int
	for k := range j.ranks {
		all = append(all, k)
	}
	rec := j.of(t, all...)
	devices, err := gpu.Devices(context.Background(), rec)
	if err != nil {
		t.Fatal(err)
	}
	r, err := ranks.Of(context.Background(), rec, devices)
	if err != nil || r == nil {
		t.Fatalf("%v, %v", r, err)
	}
	if r.Straggler >= 0 && r.Cause != nil {
		if name := rec.Functions.At(int(r.Cause.Function)).Name; name != "gemm" {
			t.Errorf("%s takes longer, want gemm", name)
		}
	}
	return r
}

// TestReport compares reports with what the simulated ranks did, with clocks that differ.
func TestReport(t *testing.T) {
	for seed := range rounds.Size[uint64](40, 5) {
		n, straggler := 2+int(seed%7), -1
		if seed%3 > 0 {
			straggler = int(seed % uint64(n))
		}
		j := newJob(seed, n, 40, straggler)
		r := report(t, j)
		if r.Operations != 80 || len(r.Ranks) != n || len(r.Collectives) != 1 || r.Collectives[0].Ranks != n {
			t.Fatalf("seed %d: %d operations of %d ranks, %v", seed, r.Operations, len(r.Ranks), r.Collectives)
		}
		var wait int64
		for i, got := range r.Ranks {
			near := func(ps int64, µs float64) bool { return math.Abs(float64(ps)/1e6-µs) < .5 }
			if got.Name != fmt.Sprintf("rank %d", i) || got.Last != j.last[i] || !near(got.Late, j.late[i]) || !near(got.Wait, j.waiting[i]) || !j.host && !near(got.Compute, j.computing[i]) {
				t.Errorf("seed %d: %+v; want %d times last, late for %f µs, waiting for %f, computing for %f", seed, got, j.last[i], j.late[i], j.waiting[i], j.computing[i])
			}
			wait += got.Wait
		}
		if wait != r.Collectives[0].Wait {
			t.Errorf("seed %d: ranks wait for %d ps, in operations for %d", seed, wait, r.Collectives[0].Wait)
		}
		if r.Straggler != straggler || straggler >= 0 && r.Cause == nil {
			t.Errorf("seed %d: straggler %d (p = %g, %v), want %d", seed, r.Straggler, r.P, r.Cause, straggler)
		}
	}
}

// TestNoStraggler checks that the probability of chance is not too small where ranks take turns
// by chance, also if a few operations take much longer than all others.
func TestNoStraggler(t *testing.T) {
	rounds.Unraced(t)
	var p []float64
	for seed := range uint64(100) {
		j := newJob(seed, 2+int(seed%4), 20, -1)
		p = append(p, report(t, j).P)
	}
	slices.Sort(p)
	if small := p[len(p)/20]; small < .02 {
		t.Errorf("5 %% of the reports have a probability of at most %g", small)
	}
}
