package analyze

import (
	"context"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/search"
	"ashlar/testdata/rounds"
)

// TestTransforms compares trees, tables, threads and contexts after random transforms with
// stacks transformed one by one.
func TestTransforms(t *testing.T) {
	for seed := range rounds.Of(uint64(120)) {
		rec, all := plainWorld(seed)
		r := rand.New(rand.NewPCG(seed, 10))
		for range 6 {
			ts := randomTransforms(r)
			t.Run(fmt.Sprintf("%d/%v", seed, ts), func(t *testing.T) {
				left := all
				for _, x := range ts {
					if err := x.Check(); err != nil {
						t.Fatal(err)
					}
					left = plainApply(all, left, x)
				}
				w := weigh(t, rec, Query{First: true})
				tree := NewTree(rec, w, ts...)
				sameSums(t, "tree", treeSums(t, rec, tree), plainTree(left, false))
				inverted := NewTree(rec, w, append([]Transform{Transform{Op: OpInvert}}, ts...)...)
				sameSums(t, "inverted", treeSums(t, rec, inverted), plainTree(left, true))
				if inverted.Cut != 0 {
					t.Errorf("%d nodes are cut", inverted.Cut)
				}
				for _, by := range []By{ByFunction, ByModule, ByFile, ByLine} {
					if a, b := Table(rec, tree, by), Table(rec, inverted, by); !slices.Equal(a, b) {
						t.Errorf("by %s: upright %+v, inverted %+v", by, a, b)
					}
				}
				checkPlainTables(t, rec, tree, left)
				checkPlainSeen(t, rec, NewTree(rec, w, append(ts, ByTime())...), left)
				checkPlainSeen(t, rec, NewTree(rec, w, append(ts, Transform{Op: OpInvert}, ByTime())...), left)
				checkPlainThreads(t, rec, ts, left)
				checkPlainNodes(t, rec, tree)
			})
		}
	}
}

func checkPlainTables(t *testing.T, rec *recording.Recording, tree *Tree, left []plainStack) {
	t.Helper()
	for by, name := range map[By]func(plainFrame) string{
		ByFunction: func(f plainFrame) string { return f.String() },
		ByLine: func(f plainFrame) string {
			if f.line > 0 && !f.group {
				return fmt.Sprintf("%s %s:%d", f, f.file, f.line)
			}
			return fmt.Sprintf("%s %s", f, f.file)
		},
	} {
		want := map[string]plainSums{}
		for _, s := range left {
			names := []string{noStack}
			for i, f := range s.frames {
				if i == 0 {
					names = nil
				}
				names = append(names, name(f))
			}
			for i, n := range names {
				x := want[n]
				if i == len(names)-1 {
					x.self += s.self
					x.count += s.count
				}
				if !slices.Contains(names[:i], n) {
					x.total += s.self
				}
				want[n] = x
			}
		}
		got := map[string]plainSums{}
		for _, r := range Table(rec, tree, by) {
			n := r.Name
			if n != noStack {
				group := slices.ContainsFunc(tree.Groups, func(f recording.Function) bool { return f.Name == r.Name && f.Module == r.Module })
				f := plainFrame{name: r.Name, module: r.Module, group: group}
				if group && strings.Contains(r.Name, ".") && !strings.Contains(r.Name, ".so") || r.Name == noFile {
					f.module = "" // a file
				}
				n = f.String()
				if by == ByLine {
					n += " " + r.Place
				}
			}
			x := got[n]
			got[n] = plainSums{x.self + r.Self, x.total + r.Total, x.count + r.Count}
		}
		sameSums(t, string(by), got, want)
	}
}

// checkPlainSeen checks that children are in the order of their first stack.
func checkPlainSeen(t *testing.T, rec *recording.Recording, tree *Tree, left []plainStack) {
	t.Helper()
	want := map[string]int64{}
	for _, s := range left {
		frames := slices.Clone(s.frames)
		if tree.Inverted {
			slices.Reverse(frames)
		}
		path := ""
		for i := 0; ; i++ {
			if at, ok := want[path]; !ok || s.at < at {
				want[path] = s.at
			}
			if i == len(frames) {
				break
			}
			path += ";" + frames[i].String()
		}
	}
	names := make([]string, len(tree.Nodes))
	for i := range tree.Nodes {
		if i > 0 {
			fn := tree.Function(rec, i)
			f := plainFrame{name: fn.Name, module: fn.Module, group: tree.Nodes[i].Group > 0}
			if f.group && fn.File == fn.Name || fn.Name == noFile {
				f.module = ""
			}
			names[i] = names[tree.Nodes[i].Parent] + ";" + f.String()
		}
		if at := tree.seen[i]; at != math.MaxInt64 && at != want[names[i]] || at == math.MaxInt64 && len(left) > 0 {
			t.Errorf("%q was first seen at %d, want %d", names[i], at, want[names[i]])
		}
		if !slices.IsSortedFunc(tree.Children(i), func(a, b int32) int { return int(tree.seen[a] - tree.seen[b]) }) {
			t.Errorf("the children of %q are not in order of time", names[i])
		}
	}
}

func checkPlainThreads(t *testing.T, rec *recording.Recording, ts []Transform, left []plainStack) {
	t.Helper()
	tracks, labels := map[string]plainSums{}, map[string]plainSums{}
	for _, s := range left {
		name := "[no thread]"
		if s.track >= 0 {
			name = fmt.Sprint("thread ", s.track+1)
		}
		x := tracks[name]
		tracks[name] = plainSums{x.self + s.self, x.total + s.self, x.count + 1}
		name = orNone(s.context, "[no label]")
		x = labels[name]
		labels[name] = plainSums{x.self + s.self, x.total + s.self, x.count + 1}
	}
	rows := func(rows []Row, err error) map[string]plainSums {
		if err != nil {
			t.Error(err)
		}
		got := map[string]plainSums{}
		for _, r := range rows {
			got[r.Name] = plainSums{r.Self, r.Total, r.Count}
		}
		return got
	}
	sameSums(t, "threads", rows(ByTrack(context.Background(), rec, Query{}, ts...)), tracks)
	sameSums(t, "labels", rows(ByContext(context.Background(), rec, Query{}, "label", ts...)), labels)
}

// checkPlainNodes checks that the node of a call is no deeper than the call.
func checkPlainNodes(t *testing.T, rec *recording.Recording, tree *Tree) {
	t.Helper()
	for c := range rec.Calls.Len() {
		n := tree.nodeOf(recording.CallID(c))
		if n >= len(tree.Nodes) || n > 0 && int(tree.Nodes[n].Depth) > rec.Calls.Depth(recording.CallID(c)) {
			t.Errorf("call %d is in node %d", c, n)
		}
		if n > 0 && len(tree.Transforms) == 0 && tree.Nodes[n].Func != rec.Func(recording.CallID(c)) {
			t.Errorf("call %d of %s is in a node of %s", c, rec.FuncName(recording.CallID(c)), tree.Function(rec, n).Name)
		}
	}
}

// TestSandwich compares callers, callees and search matches with the stacks as lists.
func TestSandwich(t *testing.T) {
	for seed := range rounds.Of(uint64(80)) {
		rec, all := plainWorld(seed)
		w := weigh(t, rec, Query{})
		for _, ref := range []Ref{Named("f"), Named("/[gh]/"), Named("/re/"), RefTo(recording.Function{Name: "f", Module: "/bin/app"}), Named("nobody")} {
			is := ref.isFunc(all)
			var self, total, count int64
			callers, callees := map[string]plainSums{}, map[string]plainSums{}
			for _, s := range all {
				up, down := map[string]bool{}, map[string]bool{}
				for i, f := range s.frames {
					above := outermostRow
					if i > 0 {
						above = s.frames[i-1].String()
					}
					last := i == len(s.frames)-1
					if is(f) {
						x := callers[above]
						if !up[above] {
							x.total += s.self
						}
						if last {
							x.self += s.self
							x.count++
							self += s.self
							count++
						}
						callers[above] = x
						up[above] = true
					}
					if i > 0 && is(s.frames[i-1]) {
						x := callees[f.String()]
						if !down[f.String()] {
							x.total += s.self
						}
						if last {
							x.self += s.self
							x.count++
						}
						callees[f.String()] = x
						down[f.String()] = true
					}
				}
				if slices.ContainsFunc(s.frames, is) {
					total += s.self
				}
			}
			rows := func(rows []Row) map[string]plainSums {
				got := map[string]plainSums{}
				for _, r := range rows {
					n := r.Name
					if n != outermostRow {
						n = plainFrame{name: r.Name, module: r.Module}.String()
					}
					got[n] = plainSums{r.Self, r.Total, r.Count}
				}
				return got
			}
			for _, tree := range []*Tree{NewTree(rec, w), NewTree(rec, w, Transform{Op: OpInvert})} {
				n := Around(rec, tree, ref)
				if n.Function.Self != self || n.Function.Total != total || n.Function.Count != count {
					t.Errorf("seed %d: %v has %+v, want %d, %d, %d", seed, ref, n.Function, self, total, count)
				}
				sameSums(t, "callers", rows(n.Callers), callers)
				sameSums(t, "callees", rows(n.Callees), callees)
			}
			// The trees of callers and callees contain the stacks that go through the
			// function.
			up, down := plainApply(all, all, CallersOf(ref)), plainApply(all, all, CalleesOf(ref))
			sameSums(t, "callers' tree", treeSums(t, rec, NewTree(rec, w, CallersOf(ref))), plainTree(up, true))
			sameSums(t, "callees' tree", treeSums(t, rec, NewTree(rec, w, CalleesOf(ref))), plainTree(down, false))
		}
		for _, text := range []string{"f", "libc", "Gro", "/^[a-f]$/", "zzz"} {
			p, err := search.Parse(text)
			if err != nil {
				t.Fatal(err)
			}
			var want Matched
			distinct := map[plainFrame]bool{}
			for _, s := range all {
				for _, f := range s.frames {
					// A function may have frames on several lines.
					if fn := (plainFrame{name: f.name, module: f.module, file: f.file}); plainMatch(text, f) && !distinct[fn] {
						distinct[fn] = true
						want.Functions++
					}
				}
				want.OfTotal += s.self
				want.OfCount++
				if slices.ContainsFunc(s.frames, func(f plainFrame) bool { return plainMatch(text, f) }) {
					want.Total += s.self
					want.Count++
				}
			}
			for _, tree := range []*Tree{NewTree(rec, w), NewTree(rec, w, Transform{Op: OpInvert})} {
				m := Match(rec, tree, p)
				for i, is := range m.Nodes {
					f := tree.Function(rec, i)
					if i > 0 && is != plainMatch(text, plainFrame{name: f.Name, module: f.Module, file: f.File}) {
						t.Errorf("%q: node %s is marked %v", text, f.Name, is)
					}
				}
				if m.Total != want.Total || m.Count != want.Count || m.OfTotal != want.OfTotal || m.OfCount != want.OfCount || m.Functions != want.Functions {
					t.Errorf("%q matches %+v, want %+v", text, m, want)
				}
			}
		}
	}
}

// TestCutInversion checks that an inverted tree that was cut still adds up, and that its
// heaviest nodes are exact.
func TestCutInversion(t *testing.T) {
	defer func(nodes, steps int) { mostInverted, mostSteps = nodes, steps }(mostInverted, mostSteps)
	for seed := range uint64(100) {
		rec, all := plainWorld(seed)
		w := weigh(t, rec, Query{})
		for _, limit := range []int{1, 5, 20, 60} {
			mostInverted, mostSteps = limit, 1<<20
			if seed%2 == 1 {
				mostInverted, mostSteps = 1<<20, limit*3
			}
			tree := NewTree(rec, w, Transform{Op: OpInvert})
			want := plainTree(all, true)
			got := treeSums(t, rec, tree)
			var self int64
			for path, g := range got {
				self += g.self
				if g.total != want[path].total {
					t.Errorf("seed %d, limit %d: %q has the total %d, want %d", seed, limit, path, g.total, want[path].total)
				}
			}
			if self != w.Sum || tree.Nodes[0].Total != w.Sum {
				t.Errorf("self adds up to %d of %d", self, w.Sum)
			}
			if (tree.Cut > 0) != (len(got) < len(want)) {
				t.Errorf("seed %d, limit %d: %d nodes are cut, %d of %d are there", seed, limit, tree.Cut, len(got), len(want))
			}
		}
	}
}

func TestTransformText(t *testing.T) {
	fn := RefTo(recording.Function{Name: "price", Module: "/bin/shop"})
	for _, c := range []struct {
		t    Transform
		want string
	}{
		{Focus(fn), "focus price"},
		{Transform{Op: OpHide, Ref: Named("/x|y/")}, "hide /x|y/"},
		{Transform{Op: OpDrop, Ref: fn}, "drop price"},
		{Only("lib"), "only lib"},
		{Transform{Op: OpCollapseRecursion}, "collapse recursion"},
		{Transform{Op: OpCollapseRecursion, Ref: fn}, "collapse recursion of price"},
		{CollapseModule("/lib/libc.so.6"), "collapse libc.so.6"},
		{Transform{Op: OpMergeByFile}, "merge by file"},
		{Transform{Op: OpMergeByModule}, "merge by module"},
		{Transform{Op: OpFoldInlined}, "fold inlined"},
		{Transform{Op: OpHideKernel}, "hide kernel"},
		{Transform{Op: OpHideLibrary}, "hide library"},
		{CallersOf(fn), "callers of price"},
		{CalleesOf(fn), "callees of price"},
		{Transform{Op: OpShowFrom, Ref: Ref{Text: "/^price/"}}, "from /^price/"},
		{Transform{Op: OpMine, Ref: Ref{Text: "/^price/"}}, "own code: /^price/"},
		{Transform{Op: OpInvert}, "invert"},
		{ByTime(), "sorted by time"},
	} {
		if got := c.t.String(); got != c.want {
			t.Errorf("%q, want %q", got, c.want)
		}
		if err := c.t.Check(); err != nil {
			t.Errorf("%s: %v", c.want, err)
		}
		b, err := json.Marshal(c.t)
		var back Transform
		if err != nil || json.Unmarshal(b, &back) != nil || back != c.t {
			t.Errorf("%s came back as %+v", b, back)
		}
	}
	for _, bad := range []Transform{{}, {Op: "fly"}, {Op: OpFocus}, Only(""), Only("/(/"), Transform{Op: OpHide, Ref: Named("/(/")}, CollapseModule("")} {
		if bad.Check() == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

// TestNumbered checks how many functions OpFoldDigits would merge, and the largest share of
// a flamegraph's width that five or more of them fill.
func TestNumbered(t *testing.T) {
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	track, at := b.Track(recording.TrackKey{}), int64(0)
	for _, x := range []struct {
		f    recording.Function
		took int64
	}{{recording.Function{Name: "frame 1"}, 5}, {recording.Function{Name: "frame 22"}, 5}, {recording.Function{Name: "frame 3", Module: "m"}, 1}, {recording.Function{Name: "utf8"}, 1},
		{recording.Function{Name: "utf16"}, 1}, {recording.Function{Name: "a 1 b 2"}, 1}, {recording.Function{Name: "a 10 b 20"}, 1}, {recording.Function{Name: "once 7"}, 1}, {recording.Function{Name: "plain"}, 64},
		{recording.Function{Name: "Step#1"}, 4}, {recording.Function{Name: "Step#2"}, 4}, {recording.Function{Name: "Step#3"}, 4}, {recording.Function{Name: "Step#4"}, 4}, {recording.Function{Name: "Step#5"}, 4}} {
		track.Begin(at, b.FunctionFrame(b.Function(x.f)), 0)
		track.Begin(at, b.FunctionFrame(b.Function(recording.Function{Name: "plain"})), 0)
		at += x.took
		track.End(at)
		track.End(at)
	}
	rec := b.Finish()
	w, err := Weigh(t.Context(), rec, Query{})
	if err != nil {
		t.Fatal(err)
	}
	n, share, err := Numbered(t.Context(), rec, w)
	if n != 9 || share != .2 || err != nil {
		t.Errorf("got %d and %v (%v), want 9 and 0.2", n, share, err)
	}
	if n, err := WorthFolding(t.Context(), rec, Query{}); n != 9 || err != nil {
		t.Errorf("a fifth of the width is not worth folding: %d names (%v)", n, err)
	}
	if _, share, err := Numbered(t.Context(), rec, &Weights{}); share != 0 || err != nil {
		t.Errorf("without weights the share is %v (%v)", share, err)
	}
}
