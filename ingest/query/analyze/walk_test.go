package analyze

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"ashlar/ingest/model/recording"
)

// walked returns a recording with stacks of few functions on many lines, so that functions
// recur and share callers. With byTurns, two deep stacks grow by turns.
func walked(t *testing.T, byTurns bool) (*recording.Recording, *Weights) {
	rng := rand.New(rand.NewPCG(3, 4))
	b := recording.NewBuilder()
	event := b.AddEvent(recording.Event{Metrics: []recording.Metric{{Name: "n"}}})
	frame := func(i int) recording.FrameID {
		f := b.Function(recording.Function{Name: fmt.Sprint("f", i), Module: fmt.Sprint("m", i%3), File: fmt.Sprint("d/", i%4, ".py")})
		return b.Frame(recording.Frame{Func: f, Line: rng.Int32N(4)})
	}
	add := func(c recording.CallID) {
		if n := rng.Int64N(3); n > 0 {
			b.AddStack(event, c, recording.NoTrack, 0, []int64{n - 1})
		}
	}
	ends := []recording.CallID{0, 0}
	for i := range 600 {
		side := i / 300
		if byTurns {
			side = i % 2
		}
		ends[side] = b.Call(ends[side], frame(side+i%7))
		add(ends[side])
		add(b.Call(ends[side], frame(20)))
	}
	for range 2000 {
		c := recording.NoCall
		for range rng.IntN(12) {
			c = b.Call(c, frame(rng.IntN(9)))
		}
		add(c)
	}
	rec := b.Finish()
	w, err := Weigh(t.Context(), rec, Query{})
	if err != nil {
		t.Fatal(err)
	}
	return rec, w
}

// TestTableOf compares the tables of weights with those of their trees.
func TestTableOf(t *testing.T) {
	for _, byTurns := range []bool{false, true} {
		rec, w := walked(t, byTurns)
		for _, by := range []By{ByFunction, ByModule, ByFile, ByLine, ByPackage, ByName} {
			got, want := TableOf(rec, w, by), Table(rec, NewTree(rec, w), by)
			if !slices.Equal(got, want) {
				t.Errorf("by turns %v, by %s: the rows are\n%v, want\n%v", byTurns, by, got, want)
			}
		}
		drop := Transform{OpDrop, Named("f3")}
		if got, want := TableOf(rec, w, ByFunction, drop), Table(rec, NewTree(rec, w, drop), ByFunction); !slices.Equal(got, want) {
			t.Errorf("without f3, the rows are\n%v, want\n%v", got, want)
		}
	}
}

// TestWalk compares the sums of calls with sums over each record's own path.
func TestWalk(t *testing.T) {
	for _, byTurns := range []bool{false, true} {
		rec, w := walked(t, byTurns)
		n := rec.Calls.Len()
		want, has := make([]int64, n), make([]bool, n)
		for c := range w.Self {
			for at := recording.CallID(c); ; at = rec.Calls.Parent(at) {
				want[at] += w.Self[c]
				has[at] = has[at] || w.Count[c] > 0
				if at == recording.NoCall {
					break
				}
			}
		}
		got, any := make([]int64, n), make([]bool, n)
		var path []recording.CallID
		w.Walk(rec, func(c recording.CallID) {
			if up := rec.Calls.Parent(c); len(path) > 0 && path[len(path)-1] != up || len(path) == 0 && up != recording.NoCall {
				t.Fatalf("call %d joins the path %v, but its parent is %d", c, path, up)
			}
			path = append(path, c)
		}, func(c recording.CallID, sum int64, is bool) {
			if path[len(path)-1] != c {
				t.Fatalf("call %d leaves the path %v", c, path)
			}
			path = path[:len(path)-1]
			got[c] += sum
			any[c] = any[c] || is
		})
		if !slices.Equal(got[1:], want[1:]) || !slices.Equal(any[1:], has[1:]) || len(path) > 0 {
			t.Errorf("by turns %v: the sums of calls are\n%v, want\n%v; the path %v is left", byTurns, got, want, path)
		}
	}
}

// TestOutermost compares with a search for each node's row in all nodes above it.
func TestOutermost(t *testing.T) {
	for _, byTurns := range []bool{false, true} {
		rec, _ := walked(t, byTurns)
		n := rec.Calls.Len()
		parent := func(i int32) int32 { return int32(rec.Calls.Parent(recording.CallID(i))) }
		row := make([]int32, n)
		for i := 1; i < n; i++ {
			row[i] = int32(rec.Func(recording.CallID(i))%6) - 1
		}
		want := make([]bool, n)
		for i := int32(1); int(i) < n; i++ {
			want[i] = row[i] >= 0
			for at := parent(i); at != 0; at = parent(at) {
				want[i] = want[i] && row[at] != row[i]
			}
		}
		if got := Outermost(n, parent, row, 5); !slices.Equal(got, want) {
			t.Errorf("by turns %v: the outermost nodes are\n%v, want\n%v", byTurns, got, want)
		}
	}
}
