package compare

import (
	"cmp"
	"slices"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/compare/match"
)

// naiveCalls lists the spans of a function on a track, in order of their starts, by
// checking every span.
func naiveCalls(rec *recording.Recording, t *recording.Track, f recording.FuncID) (at [][2]int) {
	for li := range t.Lanes {
		for i := range t.Lanes[li].Len() {
			if rec.Func(t.Lanes[li].Call(i)) == f {
				at = append(at, [2]int{li, i})
			}
		}
	}
	slices.SortStableFunc(at, func(x, y [2]int) int {
		return cmp.Or(cmp.Compare(t.Lanes[x[0]].Start(x[1]), t.Lanes[y[0]].Start(y[1])), cmp.Compare(x[0], y[0]))
	})
	return at
}

// TestTwin compares the twin of every span of random recordings with a naive search for the
// call with the same number.
func TestTwin(t *testing.T) {
	found := 0
	for seed := range uint64(12) {
		a, b := random(seed, poolA), random(seed+100, poolB)
		c := mustCompare(t, a, b, Options{})
		threads := match.Threads([]*recording.Recording{a, b}, match.Options{})
		for ti, track := range a.Tracks {
			for f := range a.Functions.Len() {
				own := naiveCalls(a, track, recording.FuncID(f))
				other := int32(-1)
				if g := c.Matching.Funcs[c.Matching.IDs[0][f]].In[1]; g >= 0 {
					other = g
				}
				thread := threads.Funcs[threads.IDs[0][ti]].In[1]
				var there [][2]int
				if other >= 0 && thread >= 0 {
					there = naiveCalls(b, b.Tracks[thread], recording.FuncID(other))
				}
				for n, at := range own {
					got := c.Twin(bg, threads, Occurrence{0, ti, at[0], at[1]})
					if n >= len(there) {
						if got != nil {
							t.Fatalf("seed %d: call %d of function %d has a twin, but the other side has only %d calls", seed, n, f, len(there))
						}
						continue
					}
					want := Occurrence{1, int(thread), there[n][0], there[n][1]}
					if got == nil || got.Occurrence != want || got.Number != n+1 {
						t.Fatalf("seed %d: the twin of call %d of function %d is %+v, want %+v", seed, n, f, got, want)
					}
					found++
					// The twin's twin is the span itself.
					if back := c.Twin(bg, threads, got.Occurrence); back == nil || (back.Occurrence != Occurrence{0, ti, at[0], at[1]}) {
						t.Fatalf("seed %d: the twin's twin is %+v", seed, back)
					}
				}
			}
		}
	}
	if found < 200 {
		t.Fatalf("only %d twins were found", found)
	}
}

// TestNodes checks the confidences of nodes: their numbers of samples, high values for
// changed functions and low ones for unchanged functions.
func TestNodes(t *testing.T) {
	c := mustCompare(t, sampled(1, append(steady(), before...), threadsA, false), sampled(2, append(steady(), after()...), threadsB, false), Options{})
	_, nodes, err := c.NodeConfidences(bg)
	if err != nil {
		t.Fatal(err)
	}
	if len(nodes) != len(c.Tree.Nodes) {
		t.Fatalf("there are %d confidences for %d nodes", len(nodes), len(c.Tree.Nodes))
	}
	samples := make([][2]int64, len(nodes)) // in each node and its descendants, by side
	for i := len(nodes) - 1; i > 0; i-- {
		for side := range 2 {
			samples[i][side] += c.Tree.count[side][i]
			samples[c.Tree.Nodes[i].Parent][side] += samples[i][side]
		}
	}
	for i := 1; i < len(nodes); i++ {
		if nodes[i] == nil {
			t.Errorf("nothing is known of %s", c.Tree.Name(i))
			continue
		}
		if nodes[i].A != samples[i][0] || nodes[i].B != samples[i][1] {
			t.Errorf("%s is judged by %d and %d samples, it has %d", c.Tree.Name(i), nodes[i].A, nodes[i].B, samples[i])
		}
		switch name := c.Tree.Name(i); name {
		case "parse", "legacy_check", "validate":
			if nodes[i].Level() < .99 {
				t.Errorf("%s is only %.3f sure", name, nodes[i].Level())
			}
		case "sort", "gc", "log":
			if nodes[i].Level() > .95 {
				t.Errorf("%s has not changed, but is %.3f sure", name, nodes[i].Level())
			}
		}
	}

	// In traces of the same program, no node is certain.
	a, b := random(3, poolA), random(3, poolA)
	c = mustCompare(t, a, b, Options{})
	if _, nodes, err = c.NodeConfidences(bg); err != nil {
		t.Fatal(err)
	}
	known := 0
	for i, conf := range nodes {
		if conf == nil {
			continue
		}
		known++
		if conf.Level() > .5 {
			t.Errorf("%s is the same on both sides, but %.3f sure", c.Tree.Name(i), conf.Level())
		}
	}
	if known == 0 {
		t.Error("nothing is known of the nodes of a trace")
	}
}
