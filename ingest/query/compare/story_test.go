package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/compare/match"
	"ashlar/testdata/rounds"
)

// hot is a stack of an invented program, with its expected number of samples.
type hot struct {
	stack []string
	mean  float64
}

var before = []hot{
	{[]string{"main@app", "parse@app"}, 4000},
	{[]string{"main@app", "parse@app", "read@libc"}, 900},
	{[]string{"main@app", "render@app"}, 2500},
	{[]string{"main@app", "render@app", "Cache<int>::get@app"}, 1200},
	{[]string{"main@app", "sort@app"}, 1500},
	{[]string{"main@app", "sort@app", "less@app"}, 700},
	{[]string{"main@app", "log@app"}, 800},
	{[]string{"main@app", "legacy_check@app"}, 400},
	{[]string{"main@app", "gc@runtime"}, 600},
	{[]string{"main@app"}, 150},
}

// after returns the changed program: parse is 20 % slower, legacy_check is gone, validate
// is new, and Cache has another template argument.
func after() []hot {
	out := append([]hot(nil), before...)
	out[0].mean *= 1.2
	out[3].stack = []string{"main@app", "render@app", "Cache<unsigned long>::get@app"}
	out[7] = hot{[]string{"main@app", "validate@app"}, 350}
	return out
}

// poisson draws a number of samples from a Poisson distribution.
func poisson(r *rand.Rand, mean float64) int64 {
	if mean > 50 {
		return max(0, int64(math.Round(mean+math.Sqrt(mean)*r.NormFloat64())))
	}
	n, p := int64(0), math.Exp(-mean)
	for u := r.Float64(); u > p; u *= r.Float64() {
		n++
	}
	return n
}

// sampled records a program whose samples are distributed over threads with the given
// names; with exact, without noise.
func sampled(seed uint64, hots []hot, names []string, exact bool) *recording.Recording {
	p := newProgram(seed)
	p.b.Source().Path = fmt.Sprintf("run-%d", seed)
	p.b.AddEvent(recording.Event{Name: "cpu-clock", Mode: "frequency", Primary: 1, Metrics: []recording.Metric{
		{Name: "samples", Unit: "count", PerSample: recording.SampleOne}, {Name: "time", Unit: "ns"},
	}})
	var tracks []int
	for i, n := range names {
		t := p.b.Track(recording.TrackKey{PID: 7, TID: int64(8 + i)})
		t.SetName(n)
		tracks = append(tracks, t.Index())
	}
	const period = 1_000_000
	for i, h := range hots {
		n := int64(h.mean)
		if !exact {
			n = poisson(p.r, h.mean)
		}
		if n > 0 {
			// The thread's name determines its stacks, whatever the order of threads.
			track := tracks[i%len(tracks)]
			for k, name := range names {
				if name == fmt.Sprint("pool-", i%len(names)) {
					track = tracks[k]
				}
			}
			p.b.AddStack(0, p.stack(h.stack...), track, 0, []int64{n, n * period})
		}
	}
	return p.b.Finish()
}

var threadsA, threadsB = []string{"pool-0", "pool-1", "pool-2"}, []string{"pool-2", "pool-0", "pool-1"}

// TestTheStoryExact compares recordings without noise: only the planted changes may differ.
func TestTheStoryExact(t *testing.T) {
	c := mustCompare(t, sampled(1, before, threadsA, true), sampled(2, after(), threadsB, true), Options{})
	table := mustTable(t, c, ByFunction)
	top := table.Rows[0]
	if top.Name != "parse" || top.ASelf*12 != top.BSelf*10 || top.Status != Changed || top.Self.Level() < .95 { // nine functions show the noise
		t.Errorf("the first row is %+v", top)
	}
	for name, want := range map[string]Status{
		"legacy_check": Gone, "validate": New, "Cache<int>::get": Same, "sort": Same, "less": Same, "gc": Same, "render": Same, "main": Changed,
	} {
		if r := row(t, table, name); r.Status != want {
			t.Errorf("%s is %s, want %s", name, r.Status, want)
		}
	}
	if r := row(t, table, "Cache<int>::get"); r.Rule != match.RuleSimilar || r.NameB != "Cache<unsigned long>::get" {
		t.Errorf("the renamed function is %+v", r)
	}
	if conf := row(t, table, "main").Self; conf.Level() > .5 {
		t.Errorf("main itself is the same, but %g sure", conf.Level())
	}
	// Threads are matched by name, and differ only by the planted changes.
	for _, r := range mustTable(t, c, ByThread).Rows {
		var a, b int64
		for i, h := range before {
			if fmt.Sprint("pool-", i%3) == r.Name {
				a += int64(h.mean) * 1_000_000
				b += int64(after()[i].mean) * 1_000_000
			}
		}
		if r.ASelf != a || r.BSelf != b || r.Rule != match.RuleModule {
			t.Errorf("thread %s has %d and %d (%s), want %d and %d", r.Name, r.ASelf, r.BSelf, r.Rule, a, b)
		}
	}
}

// steady returns eighty functions that do not change.
func steady() (rest []hot) {
	for i := range 80 {
		rest = append(rest, hot{[]string{"main@app", fmt.Sprintf("step%d@app", i)}, 1000})
	}
	return rest
}

// TestTheStoryNoisy compares recordings with sampling noise, with eighty unchanged
// functions that show how much runs vary. The change must be the first row of every pair,
// and at most 5 % of the rows with 95 % confidence may be noise.
func TestTheStoryNoisy(t *testing.T) {
	rounds.Unraced(t)
	found, alarms := 0, 0
	const pairs = 60
	rest := steady()
	for seed := range uint64(pairs) {
		c := mustCompare(t, sampled(10+seed, append(rest, before...), threadsA, false), sampled(1000+seed, append(rest, after()...), threadsB, false), Options{})
		table := mustTable(t, c, ByFunction)
		top := table.Rows[0]
		if ratio := float64(top.BSelf) / float64(top.ASelf); top.Name != "parse" || math.Abs(ratio-1.2) > .1 || top.Self.Level() < .99 {
			t.Errorf("pair %d: the first row is %s, %g times as slow, %g sure", seed, top.Name, ratio, top.Self.Level())
		}
		for i := range table.Rows {
			r := &table.Rows[i]
			real := r.Name == "parse" || r.Status != Changed && r.Status != Same
			switch sure := r.Self.Level() >= .95; {
			case sure && real:
				found++
			case sure:
				alarms++
			}
		}
	}
	if found < 3*pairs-2 {
		t.Errorf("%d of %d changes are found", found, 3*pairs)
	}
	if alarms*20 > found+alarms {
		t.Errorf("%d of %d sure rows are noise", alarms, found+alarms)
	}
	t.Logf("%d changes found, %d false alarms", found, alarms)
}

// TestTree checks the shape of a differential flamegraph.
func TestTree(t *testing.T) {
	c := mustCompare(t, sampled(1, before, threadsA, true), sampled(2, after(), threadsB, true), Options{})
	tree := c.Tree
	status := map[string]Status{}
	for i := range tree.Nodes {
		status[tree.Name(i)] = tree.Nodes[i].Status()
		for _, k := range tree.Children(i) {
			if int(tree.Nodes[k].Parent) != i || k <= int32(i) {
				t.Errorf("node %d is no child of %d", k, i)
			}
		}
	}
	for name, want := range map[string]Status{"legacy_check": Gone, "validate": New, "Cache<int>::get": Same, "parse": Changed, "all": Changed} {
		if status[name] != want {
			t.Errorf("%s is %s, want %s", name, status[name], want)
		}
	}
	for _, w := range []Width{WidthA, WidthB, WidthLarger} {
		shape := tree.Shape(w)
		widths := shape.Widths
		absent := map[string]bool{}
		for i := range tree.Nodes {
			var kids int64
			last := int64(math.MaxInt64)
			for _, k := range shape.Children(i) {
				if kids += widths[k]; widths[k] > last {
					t.Errorf("with %s, the children of node %d are not in order", w, i)
				}
				last = widths[k]
			}
			if len(shape.Children(i)) != len(tree.Children(i)) {
				t.Errorf("with %s, node %d loses children", w, i)
			}
			n := &tree.Nodes[i]
			if kids > widths[i] {
				t.Errorf("with %s, node %d is narrower than its children", w, i)
			}
			if w == WidthA && widths[i] != n.A.Total || w == WidthB && widths[i] != n.B.Total || w == WidthLarger && (widths[i] < n.A.Total || widths[i] < n.B.Total) {
				t.Errorf("with %s, node %d is %d wide of %d and %d", w, i, widths[i], n.A.Total, n.B.Total)
			}
			for _, k := range shape.Absent(i) {
				absent[tree.Name(int(k))] = true
			}
		}
		if absent["validate"] != (w == WidthA) || absent["legacy_check"] != (w == WidthB) || len(absent) > 1 {
			t.Errorf("with %s, %v are absent", w, absent)
		}
	}
}

// TestTransforms compares stacks after transforms, and bottom-up trees.
func TestTransforms(t *testing.T) {
	a, b := sampled(1, before, threadsA, true), sampled(2, after(), threadsB, true)
	x, y := sides(a, b)
	for name, ts := range map[string][]analyze.Transform{
		"focus": {analyze.Focus(analyze.Named("render"))}, "hide": {analyze.Transform{Op: analyze.OpHide, Ref: analyze.Named("parse")}},
		"module": {analyze.Transform{Op: analyze.OpMergeByModule}}, "invert": {analyze.Transform{Op: analyze.OpInvert}},
	} {
		c, err := Compare(bg, x, y, Options{Transforms: ts})
		if err != nil {
			t.Fatal(err)
		}
		for r, rec := range []*recording.Recording{a, b} {
			tree := analyze.NewTree(rec, c.Runs[r].Weights, ts...)
			got, n := c.Tree.Nodes[0].A.Total, 0
			if r == 1 {
				got = c.Tree.Nodes[0].B.Total
			}
			for i := range c.Tree.Nodes {
				if nd := &c.Tree.Nodes[i]; r == 0 && nd.A.Here || r == 1 && nd.B.Here {
					n++
				}
			}
			if got != tree.Nodes[0].Total || n != len(tree.Nodes) {
				t.Errorf("%s: side %d has %d in %d nodes, alone %d in %d", name, r, got, n, tree.Nodes[0].Total, len(tree.Nodes))
			}
		}
		if name != "invert" {
			continue
		}
		plain := mustTable(t, mustCompare(t, a, b, Options{}), ByFunction)
		for _, r := range mustTable(t, c, ByFunction).Rows {
			if p := row(t, plain, r.Name); p.ASelf != r.ASelf || p.BTotal != r.BTotal || p.BSelf != r.BSelf {
				t.Errorf("bottom-up, %s has %d %d %d, want %d %d %d", r.Name, r.ASelf, r.BSelf, r.BTotal, p.ASelf, p.BSelf, p.BTotal)
			}
		}
	}
}
