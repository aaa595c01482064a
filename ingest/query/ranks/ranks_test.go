package ranks_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"ashlar/ingest"
	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/ranks"
)

// job is a simulated training of some ranks.
type job struct {
	ranks, steps int
	straggler    int  // the rank whose computation takes longer, -1 for none
	host         bool // without GPUs
	shift        []float64
	r            *rand.Rand

	events [][]string // by rank
	// What the ranks do, in µs.
	last          []int
	late, waiting []float64
	computing     []float64
}

// run simulates the job: in each step a rank computes and all reduce what they computed, in two
// operations, of which the second waits for the first.
func (j *job) run() {
	j.events = make([][]string, j.ranks)
	j.last, j.late, j.waiting, j.computing = make([]int, j.ranks), make([]float64, j.ranks), make([]float64, j.ranks), make([]float64, j.ranks)
	end := 100.0
	for range j.steps {
		pause := float64(50 + j.r.IntN(100)) // the operations of a step have different sizes
		from, beside := end, make([]float64, j.ranks)
		for part := range 2 {
			at := make([]float64, j.ranks)
			for k := range at {
				if part == 1 {
					at[k] = max(end, beside[k]) + float64(j.r.IntN(1000))/1000
					continue
				}
				d := float64(900000+j.r.IntN(60000)) / 1000
				if k == j.straggler && j.r.IntN(10) > 0 {
					d += 300
				}
				j.add(k, "gemm", "kernel", from+5, d)
				j.computing[k] += d
				at[k] = from + 5 + d
				if !j.host { // until then it computes beside the first operation
					beside[k] = at[k] + float64(j.r.IntN(400000))/1000
					j.add(k, "gelu", "kernel", at[k], beside[k]-at[k])
					j.computing[k] += beside[k] - at[k]
				}
			}
			last := 0 // to arrive
			for k := range at {
				if at[k] > at[last] {
					last = k
				}
			}
			end = at[last] + pause + float64(j.r.IntN(20000))/1000
			j.last[last]++
			late := math.Inf(1)
			for k := range at {
				wait := max(0, at[last]-max(at[k], beside[k]))
				if j.waiting[k] += wait; k != last {
					late = min(late, wait)
				}
				j.add(k, "ncclDevKernel_AllReduce_Sum_f32", "kernel", at[k], end-at[k])
			}
			j.late[last] += late
		}
	}
}

func (j *job) add(rank int, name, category string, at, duration float64) {
	pid, tid := rank, "stream "+name
	if j.host {
		category, tid = "cpu_op", "main"
		name = strings.Replace(name, "ncclDevKernel_AllReduce_Sum_f32", "gloo:all_reduce", 1)
	}
	j.events[rank] = append(j.events[rank], fmt.Sprintf(`{"ph":"X","cat":%q,"name":%q,"pid":%d,"tid":%q,"ts":%.3f,"dur":%.3f}`, category, name, pid, tid, at+j.shift[rank], duration))
}

// of returns the recording of some ranks.
func (j *job) of(t *testing.T, ranks ...int) *recording.Recording {
	t.Helper()
	var all []string
	for _, k := range ranks {
		all = append(all, fmt.Sprintf(`{"ph":"M","name":"process_name","pid":%d,"args":{"name":"rank %d"}}`, k, k))
		all = append(all, j.events[k]...)
	}
	l := ingest.OpenInput(context.Background(), source.FromBytes("trace.json", []byte("["+strings.Join(all, ",\n")+"]")), ingest.Options{})
	t.Cleanup(func() { l.Close() })
	if err := l.Wait(); err != nil {
		t.Fatal(err)
	}
	return l.Snapshot()
}

func newJob(seed uint64, n, steps, straggler int) *job {
	j := &job{ranks: n, steps: steps, straggler: straggler, host: seed%2 == 1, shift: make([]float64, n), r: rand.New(rand.NewPCG(seed, 40))}
	for k := range j.shift {
		j.shift[k] = float64(j.r.IntN(1e7)) / 1000
	}
	j.run()
	return j
}

// TestOffsets compares the offsets with those of the simulation. The recordings begin and end
// with different operations.
func TestOffsets(t *testing.T) {
	for seed := range uint64(20) {
		j := newJob(seed, 4, 20, int(seed%5)-1)
		var recs []*recording.Recording
		for k := range j.ranks {
			all := j.events[k]
			j.events[k] = all[4*j.r.IntN(3) : len(all)-j.r.IntN(3)]
			recs = append(recs, j.of(t, k))
		}
		shift, spread, ok := ranks.Offsets(context.Background(), recs)
		if !ok || spread > 1e4 {
			t.Fatalf("seed %d: %t, spread %d ps", seed, ok, spread)
		}
		for k := range recs {
			got := float64(shift[k])/1e6 + float64(recs[0].Clock.Origin.Mantissa-recs[k].Clock.Origin.Mantissa)
			if want := j.shift[0] - j.shift[k]; got < want-.01 || got > want+.01 {
				t.Errorf("seed %d: rank %d is %f µs off, want %f", seed, k, got, want)
			}
		}
	}
}

// TestOffsetsOfOthers checks that ranks of different jobs, or with too few operations, have no offsets.
func TestOffsetsOfOthers(t *testing.T) {
	for seed := range uint64(20) {
		a, b := newJob(2*seed, 2, 20, -1), newJob(2*seed+100, 2, 20, -1)
		if shift, spread, ok := ranks.Offsets(context.Background(), []*recording.Recording{a.of(t, 0), b.of(t, 0)}); ok {
			t.Errorf("seed %d: different jobs are %d ps apart, spread %d", seed, shift, spread)
		}
		if _, _, ok := ranks.Offsets(context.Background(), []*recording.Recording{a.of(t, 0), newJob(2*seed, 2, 3, -1).of(t, 0)}); ok {
			t.Errorf("seed %d: a job of 6 operations has offsets", seed)
		}
	}
}
