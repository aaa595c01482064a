package analyze

import (
	"fmt"
	"slices"
	"testing"

	"ashlar/ingest/model/recording"
)

// TestEachPath checks that each node is visited once, with the path to its parent, both if
// calls are numbered depth first and if two deep stacks grow by turns.
func TestEachPath(t *testing.T) {
	for _, byTurns := range []bool{false, true} {
		t.Run(fmt.Sprint(byTurns), func(t *testing.T) {
			const depth = 300
			b := recording.NewBuilder()
			event := b.AddEvent(recording.Event{Metrics: []recording.Metric{{Name: "n"}}})
			frame := func(i int) recording.FrameID {
				return b.FunctionFrame(b.Function(recording.Function{Name: fmt.Sprint("f", i)}))
			}
			ends := []recording.CallID{0, 0}
			for i := range 2 * depth {
				side := i / depth
				if byTurns {
					side = i % 2
				}
				ends[side] = b.Call(ends[side], frame(side+i%7))
				b.AddStack(event, ends[side], recording.NoTrack, 0, []int64{1})
				b.AddStack(event, b.Call(ends[side], frame(20)), recording.NoTrack, 0, []int64{1})
			}
			rec := b.Finish()
			w, err := Weigh(t.Context(), rec, Query{})
			if err != nil {
				t.Fatal(err)
			}
			tree := NewTree(rec, w)
			var path []int32
			visited := make([]int, len(tree.Nodes))
			tree.EachPath(func(i int32) {
				visited[i]++
				var want []int32
				for at := i; at != 0; {
					at = tree.Nodes[at].Parent
					want = append(want, at)
				}
				if slices.Reverse(want); !slices.Equal(path, want) {
					t.Fatalf("the path of node %d is %v, want %v", i, path, want)
				}
			}, func(i int32) { path = append(path, i) }, func(i int32) {
				if path[len(path)-1] != i {
					t.Fatalf("node %d leaves the path %v", i, path)
				}
				path = path[:len(path)-1]
			})
			for i, n := range visited {
				if n != 1 {
					t.Fatalf("node %d was visited %d times", i, n)
				}
			}
			if len(path) > 0 {
				t.Errorf("the path %v is left", path)
			}
		})
	}
}
