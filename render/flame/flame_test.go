package flame

import (
	"context"
	"math"
	"math/rand/v2"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
)

// tree returns the tree of random stacks with weights from 1-less to 1000-less.
func tree(t *testing.T, stacks int, less int64) (*recording.Recording, *analyze.Tree) {
	t.Helper()
	b := recording.NewBuilder()
	ev := b.AddEvent(recording.Event{Metrics: []recording.Metric{{Name: "samples"}}})
	r := rand.New(rand.NewPCG(7, 8))
	for range stacks {
		var fs []recording.FrameID
		for range 1 + r.IntN(12) {
			fs = append(fs, b.FunctionFrame(b.Function(recording.Function{Name: string(rune('a' + r.IntN(6)))})))
		}
		b.AddStack(ev, b.Stack(fs), recording.NoTrack, 0, []int64{1 + r.Int64N(1000) - less})
	}
	rec := b.Finish()
	w, err := analyze.Weigh(context.Background(), rec, analyze.Query{})
	if err != nil {
		t.Fatal(err)
	}
	return rec, analyze.NewTree(rec, w)
}

// TestWidthsAreWeights checks that bars are as wide as their share of the zoomed node,
// lie within their parent, and do not overlap in a row.
func TestWidthsAreWeights(t *testing.T) {
	for _, less := range []int64{0, 200, 500, 1000} {
		_, tr := tree(t, 3000, less)
		widthsAreWeights(t, tr)
	}
}

func widthsAreWeights(t *testing.T, tr *analyze.Tree) {
	t.Helper()
	const w = 900
	// The weight that a bar's width shows: the sum of the magnitudes of self, in the node
	// and below.
	gross := make([]float64, len(tr.Nodes))
	for i := len(tr.Nodes) - 1; i >= 0; i-- {
		gross[i] += math.Abs(float64(tr.Nodes[i].Self))
		if i > 0 {
			gross[tr.Nodes[i].Parent] += gross[i]
		}
	}
	for _, zoom := range []int{0, 1, len(tr.Nodes) / 2} {
		at := map[int32]Bar{}
		bars := Layout(tr, zoom, w)
		for _, b := range bars {
			at[b.Node] = b
		}
		for _, b := range bars {
			nd := &tr.Nodes[b.Node]
			if int(nd.Depth) != b.Row {
				t.Fatalf("node %d of depth %d is in row %d", b.Node, nd.Depth, b.Row)
			}
			if b.Row <= int(tr.Nodes[zoom].Depth) {
				if b.X0 != 0 || math.Abs(b.X1-w) > 1e-6 {
					t.Fatalf("a bar above the zoomed one is %v to %v wide", b.X0, b.X1)
				}
				continue
			}
			if want := gross[b.Node] / gross[zoom] * w; math.Abs(b.X1-b.X0-want) > 1e-6 {
				t.Fatalf("node %d is %v wide, want %v", b.Node, b.X1-b.X0, want)
			}
			p := at[nd.Parent]
			if b.X0 < p.X0-1e-6 || b.X1 > p.X1+1e-6 {
				t.Fatalf("node %d at %v..%v sticks out of its parent %v..%v", b.Node, b.X0, b.X1, p.X0, p.X1)
			}
		}
		byRow := map[int][]Bar{}
		for _, b := range bars {
			byRow[b.Row] = append(byRow[b.Row], b)
		}
		for row, bs := range byRow {
			for i := range bs {
				for k := range i {
					if bs[i].X0 < bs[k].X1-1e-6 && bs[k].X0 < bs[i].X1-1e-6 {
						t.Fatalf("bars %v and %v of row %d overlap", bs[i], bs[k], row)
					}
				}
			}
		}
	}
}

// TestNothingVisibleIsLeftOut checks that every node at least a pixel wide has a bar.
func TestNothingVisibleIsLeftOut(t *testing.T) {
	_, tr := tree(t, 3000, 0)
	const w = 900
	have := map[int32]bool{}
	for _, b := range Layout(tr, 0, w) {
		have[b.Node] = true
	}
	for i := range tr.Nodes {
		if float64(tr.Nodes[i].Total)/float64(tr.Nodes[0].Total)*w >= 1 && !have[int32(i)] {
			t.Fatalf("node %d, %d of %d, has no bar", i, tr.Nodes[i].Total, tr.Nodes[0].Total)
		}
	}
}
