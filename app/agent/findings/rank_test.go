package findings

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
)

// TestRank checks that the rank for which the others wait is found, with the numbers of an
// independent sum; not if each rank has the longest step in turn, or only for a while.
func TestRank(t *testing.T) {
	for what, c := range map[string]struct {
		ranks, steps int
		slowest      func(step int) int
		found        bool
	}{
		"one":        {8, 40, func(int) int { return 5 }, true},
		"one often":  {8, 40, func(step int) int { return []int{5, 5, 5, 2}[step%4] }, true},
		"pair":       {2, 40, func(int) int { return 1 }, true},
		"turns":      {8, 40, func(step int) int { return step % 8 }, false},
		"pair turns": {2, 40, func(step int) int { return step % 2 }, false},
		"a while":    {8, 40, func(step int) int { return []int{2, 5}[min(1, step/15)] }, false},
		"few":        {8, 10, func(int) int { return 5 }, false},
	} {
		r := rand.New(rand.NewPCG(uint64(len(what)), 9))
		b := recording.NewBuilder()
		forward := b.FunctionFrame(b.Function(recording.Function{Name: "forward"}))
		reduce := b.FunctionFrame(b.Function(recording.Function{Name: "MPI_Allreduce"}))
		tracks := make([]*recording.TrackBuilder, c.ranks)
		for k := range tracks {
			pid := int64(100 + k)
			b.ProcessInfo(b.Process(pid)).Name = fmt.Sprintf("rank %d", k)
			tracks[k] = b.Track(recording.TrackKey{PID: pid, TID: 1})
		}
		at, last, first, late := int64(0), 0, int64(0), int64(0)
		for step := range c.steps {
			starts := make([]int64, c.ranks)
			for k := range starts {
				starts[k] = at + 10*ms + r.Int64N(ms)
				if k == c.slowest(step) {
					starts[k] += 5 * ms
				}
				tracks[k].Span(at, starts[k], forward, 0, false)
			}
			sorted := slices.Sorted(slices.Values(starts))
			end := sorted[c.ranks-1] + 2*ms
			if step == 0 {
				first = sorted[0]
			}
			if starts[5%c.ranks] == sorted[c.ranks-1] {
				last++
				late += sorted[c.ranks-1] - sorted[c.ranks-2]
			}
			for k := range starts {
				tracks[k].Span(starts[k], end, reduce, 0, false)
			}
			at = end
		}
		found, err := Of(t.Context(), b.Finish())
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		if c.found {
			want = []string{fmt.Sprintf("rank %d is the last of %d ranks to begin %d of %d collective operations: all others wait for it for %s, %s of %s.",
				5%c.ranks, c.ranks, last, c.steps, duration(late).Text, part(late, at-first).Text, duration(at-first).Text)}
		}
		got := claimsOf(found, "rank")
		if c.found && len(got) == 1 {
			got[0] = got[0][:min(len(got[0]), len(want[0]))] // then comes the cause
		}
		if !slices.Equal(got, want) {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
}

// TestCommunicationOfLate checks that a GPU is not said to communicate while it only waits for a
// rank that is late, but is if its communication takes long without such a rank.
func TestCommunicationOfLate(t *testing.T) {
	for _, c := range []struct {
		late, reduce int // µs
		rules        []string
	}{{150, 10, []string{"rank"}}, {0, 80, []string{"communication"}}} {
		var text strings.Builder
		for step := range 40 {
			begin := 10000 + (105+c.late+c.reduce)*step
			end := begin + 100 + c.late + c.reduce
			for rank := range 4 {
				compute := 100 + (step+rank)%4
				if rank == 2 {
					compute += c.late - 10*min(1, c.late)
				}
				for _, k := range [][3]any{{"gemm", begin, compute}, {"ncclDevKernel_AllReduce_Sum_f32_RING_LL", begin + compute, end - begin - compute}} {
					fmt.Fprintf(&text, `,{"ph":"X","cat":"kernel","name":%q,"pid":%d,"tid":7,"ts":%d,"dur":%d,"args":{"device":%[2]d,"stream":7}}`, k[0], rank, k[1], k[2])
				}
			}
		}
		_, all := foundIn(t, "job.json", []byte("["+text.String()[1:]+"]"))
		var got []string
		for _, rule := range []string{"rank", "communication"} {
			if claimsOf(all, rule) != nil {
				got = append(got, rule)
			}
		}
		if !slices.Equal(got, c.rules) {
			t.Errorf("%d µs late: %q, want %q", c.late, got, c.rules)
		}
	}
}
