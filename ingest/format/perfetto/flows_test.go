package perfetto

import (
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"ashlar/ingest/model/recording"
)

// TestFlows compares the hash table with a map, with ids that often collide.
func TestFlows(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	var f flows
	want := map[uint64][]recording.FlowStep{}
	for i := range 100_000 {
		id := rng.Uint64N(200)
		if id < 100 {
			id <<= 32
		}
		step := recording.FlowStep{Track: rng.IntN(3), Time: int64(i)}
		if rng.IntN(2) == 0 {
			f.put(id, step)
			want[id] = append(want[id], step)
			continue
		}
		var is []recording.FlowStep
		if want[id] != nil {
			is = append(want[id], step)
			delete(want, id)
		}
		if got := f.take(id, step); !slices.Equal(got, is) {
			t.Fatalf("flow %d has steps %v, want %v", id, got, is)
		}
		if f.n != len(want) {
			t.Fatalf("%d flows have begun, want %d", f.n, len(want))
		}
	}
	var got, open [][]recording.FlowStep
	for steps := range f.open {
		got = append(got, steps)
	}
	for _, id := range slices.Sorted(maps.Keys(want)) {
		if len(want[id]) > 1 {
			open = append(open, want[id])
		}
	}
	if !slices.EqualFunc(got, open, slices.Equal) {
		t.Errorf("flows with steps %v are open, want %v", got, open)
	}
}
