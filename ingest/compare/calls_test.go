package compare

import (
	"cmp"
	"fmt"
	"slices"
	"testing"

	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
)

// naiveCalls lists the spans of a function on a track by looking at every one, in
// the order in which they began.
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

// TestTwin finds for every span of random recordings the one of the same number
// in another, against a naive count.
func TestTwin(t *testing.T) {
	found := 0
	for seed := range uint64(12) {
		a, b := random(seed, poolA), random(seed+100, poolB)
		c := mustCompare(t, a, b, Options{})
		threads := MatchThreads([]*recording.Recording{a, b}, MatchOptions{})
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
					// And back.
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

// TestFastAndSlow makes recordings of the fastest and slowest calls and holds
// them against sums over the spans of the whole.
func TestFastAndSlow(t *testing.T) {
	p := newProgram(5)
	p.b.AddEvent(recording.SpanEvent())
	var lengths []int64
	for i := range 3 {
		tr := p.b.Track(recording.TrackKey{PID: 1, TID: int64(i + 1)})
		at := int64(1000)
		for range 37 {
			length := int64(1000 + p.r.IntN(5000))
			lengths = append(lengths, length)
			tr.Begin(at, p.frame("f"), 0)
			tr.Begin(at+100, p.frame("g"), 0)
			tr.Begin(at+150, p.frame("f"), 0) // within the call: not one of its own
			tr.End(at + 300)
			tr.End(at + length/2)
			tr.End(at + length)
			tr.Begin(at+length+50, p.frame("other"), 0)
			tr.End(at + length + 90)
			at += length + 500
		}
	}
	rec := p.b.Finish()
	f := recording.FuncID(slices.IndexFunc(rec.Functions.Slice(), func(f recording.Function) bool { return f.Name == "f" }))
	fast, slow, err := FastAndSlow(rec, []recording.FuncID{f}, analyze.Query{})
	if err != nil {
		t.Fatal(err)
	}
	slices.Sort(lengths)
	n := len(lengths) / 4
	sum := func(of []int64) (s int64) {
		for _, v := range of {
			s += v
		}
		return s
	}
	for name, x := range map[string]struct {
		rec  *recording.Recording
		want int64
	}{"fast": {fast, sum(lengths[:n])}, "slow": {slow, sum(lengths[len(lengths)-n:])}} {
		w, err := analyze.Weigh(bg, x.rec, analyze.Query{})
		if err != nil {
			t.Fatal(err)
		}
		if w.Sum != x.want {
			t.Errorf("%s calls take %d, want %d", name, w.Sum, x.want)
		}
		if x.rec.Counts.Spans != int64(3*n) {
			t.Errorf("%s calls have %d spans, want 3 in each of %d", name, x.rec.Counts.Spans, n)
		}
		for _, fn := range x.rec.Functions.Slice() {
			if fn.Name == "other" {
				t.Errorf("%s calls have what ran beside them", name)
			}
		}
		if want := fmt.Sprintf("the %d", n); x.rec.Source.Name[:len(want)] != want {
			t.Errorf("%s calls are called %q", name, x.rec.Source.Name)
		}
	}
	if _, _, err := FastAndSlow(sampled(1, before, threadsA, true), []recording.FuncID{0}, analyze.Query{}); err == nil {
		t.Error("samples were taken for calls")
	}
}

// TestNodes holds the confidences of nodes against those of a table in which each
// path is a function of its own, and sees noise and a change for what they are.
func TestNodes(t *testing.T) {
	c := mustCompare(t, sampled(1, before, threadsA, false), sampled(2, after(), threadsB, false), Options{})
	_, nodes, err := c.Sure(bg)
	if err != nil {
		t.Fatal(err)
	}
	if len(nodes) != len(c.Tree.Nodes) {
		t.Fatalf("there are %d confidences for %d nodes", len(nodes), len(c.Tree.Nodes))
	}
	for i := 1; i < len(nodes); i++ {
		nd := &c.Tree.Nodes[i]
		if nodes[i] == nil {
			t.Errorf("nothing is known of %s", c.Tree.Name(i))
			continue
		}
		if nodes[i].A != nd.A.SamplesTotal || nodes[i].B != nd.B.SamplesTotal {
			t.Errorf("%s is judged by %d and %d samples, it has %d and %d", c.Tree.Name(i), nodes[i].A, nodes[i].B, nd.A.SamplesTotal, nd.B.SamplesTotal)
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

	// Of spans: the same program twice has no sure node, and the rows of leaves
	// agree in their counts with the tree.
	a, b := random(3, poolA), random(3, poolA)
	c = mustCompare(t, a, b, Options{})
	if _, nodes, err = c.Sure(bg); err != nil {
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
