package command

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"ashlar/app/core/view"
	"ashlar/ingest"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/testdata/rounds"
	"ashlar/testdata/samples"
)

// viewTop holds the fields of top's JSON that these tests read. They compare values as
// integers in the metric's smallest unit.
type viewTop struct {
	Total, Whole json.Number
	Records      int64
	Function     *viewRow
	Matched      *struct {
		Total   json.Number
		Records int64
	}
	Rows []viewRow
	More int
}

type viewRow struct {
	Name, Module, Place string
	Self, Total         json.Number
	Count               int64
	Depth               int
	Match               bool
}

func viewOf(t *testing.T, args ...string) viewTop {
	t.Helper()
	r := ask(append(slices.Clone(everything), args...)...)
	if r.code != Done {
		t.Fatalf("%v: exit code %d: %s", args, r.code, r.stderr)
	}
	var v viewTop
	if err := json.Unmarshal([]byte(r.stdout), &v); err != nil {
		t.Fatal(err)
	}
	return v
}

// listed is a stack of functions, outermost first, with its weight.
type listed struct {
	frames      []listedFrame
	self, count int64
}

type listedFrame struct {
	name, module, file, place string
	inlined, kernel           bool
}

func (f listedFrame) key() string { return f.name + " @ " + f.module }

// stacksOf lists the stacks of a recording's first event with the values of its primary
// metric. A span adds its duration to its own stack and subtracts it from its parent's.
func stacksOf(rec *recording.Recording) []listed {
	e := rec.DefaultEvent()
	m := rec.Events[e].Primary
	frames := func(c recording.CallID) []listedFrame {
		var out []listedFrame
		for _, c := range rec.Calls.Path(nil, c) {
			fr := rec.Frames.At(int(rec.Calls.Frame(c)))
			fn := rec.Functions.At(int(fr.Func))
			f := listedFrame{fn.Name, fn.Module, fn.File, fn.File, fr.Inlined, fr.Kind == recording.KindKernel || fr.Kind == recording.KindUnknown && fn.Kind == recording.KindKernel}
			if fr.File != "" {
				f.place = fr.File
			}
			if fr.Line > 0 {
				f.place += fmt.Sprint(":", fr.Line)
			}
			out = append(out, f)
		}
		return out
	}
	var all []listed
	if rec.Events[e].Basis == recording.FromSpans {
		for _, t := range rec.Tracks {
			for i := range t.Lanes {
				l := &t.Lanes[i]
				for k := range l.Len() {
					all = append(all, listed{frames(l.Call(k)), l.End(k) - l.Start(k), 1})
					if up := rec.Calls.Parent(l.Call(k)); up != recording.NoCall {
						all = append(all, listed{frames(up), l.Start(k) - l.End(k), 0})
					}
				}
			}
		}
		return all
	}
	add := func(c recording.CallID, v int64) {
		if v == recording.Missing {
			v = 0
		}
		all = append(all, listed{frames(c), v, 1})
	}
	if s := rec.Stacks[e]; s != nil {
		for i := range s.Len() {
			add(s.Call(i), s.Value(i, m))
		}
	}
	if rec.Events[e].Basis == recording.FromSamples {
		for _, t := range rec.Tracks {
			if s := t.SamplesOf(e); s != nil {
				for i := range s.Len() {
					add(s.Call(i), s.Value(i, &rec.Events[e].Metrics[m], m))
				}
			}
		}
	}
	return all
}

type listedSum struct{ self, total, count int64 }

func sumBy(all []listed, name func(listedFrame) string) map[string]listedSum {
	sums := map[string]listedSum{}
	for _, s := range all {
		var seen []string
		for i, f := range s.frames {
			n := name(f)
			x := sums[n]
			if !slices.Contains(seen, n) {
				x.total += s.self
				seen = append(seen, n)
			}
			if i == len(s.frames)-1 {
				x.self += s.self
				x.count += s.count
			}
			sums[n] = x
		}
		if len(s.frames) == 0 {
			x := sums["[no stack]"]
			sums["[no stack]"] = listedSum{x.self + s.self, x.total + s.self, x.count + s.count}
		}
	}
	maps.DeleteFunc(sums, func(_ string, s listedSum) bool { return s == listedSum{} })
	return sums
}

// sumPaths adds up self, total and count by path.
func sumPaths(all []listed) map[string]listedSum {
	sums := map[string]listedSum{}
	for _, s := range all {
		path := ""
		for i, f := range s.frames {
			path += " > " + f.key()
			x := sums[path]
			x.total += s.self
			if i == len(s.frames)-1 {
				x.self += s.self
				x.count += s.count
			}
			sums[path] = x
		}
	}
	maps.DeleteFunc(sums, func(_ string, s listedSum) bool { return s == listedSum{} })
	return sums
}

// rowSums adds up the rows of an answer by name, in the metric's smallest unit.
func rowSums(t *testing.T, rows []viewRow, m *recording.Metric, name func(*viewRow) string) map[string]listedSum {
	t.Helper()
	sums := map[string]listedSum{}
	for i := range rows {
		r := &rows[i]
		n := name(r)
		x := sums[n]
		sums[n] = listedSum{x.self + whole(t, r.Self, m), x.total + whole(t, r.Total, m), x.count + r.Count}
	}
	maps.DeleteFunc(sums, func(_ string, s listedSum) bool { return s == listedSum{} })
	return sums
}

// whole converts an exact decimal to an integer in the metric's smallest unit.
func whole(t *testing.T, n json.Number, m *recording.Metric) int64 {
	t.Helper()
	r := rat(t, n)
	for range m.Decimals {
		r.Mul(r, rat(t, json.Number("10")))
	}
	if !r.IsInt() {
		t.Fatalf("%s is finer than the metric", n)
	}
	return r.Num().Int64()
}

func byKey(r *viewRow) string {
	if r.Name == "[no stack]" {
		return r.Name
	}
	return listedFrame{name: r.Name, module: r.Module}.key()
}

// pathsIn returns a function that names the rows of a tree by their paths, if called for all
// rows in order.
func pathsIn(rows []viewRow) func(*viewRow) string {
	var path []string
	return func(r *viewRow) string {
		path = append(path[:r.Depth-1], byKey(r))
		return " > " + strings.Join(path, " > ")
	}
}

func sameListed(t *testing.T, what string, got, want map[string]listedSum) {
	t.Helper()
	if maps.Equal(got, want) {
		return
	}
	n := 0
	for k := range want {
		if got[k] != want[k] {
			if n++; n < 4 {
				t.Errorf("%s: %s has %+v, want %+v", what, k, got[k], want[k])
			}
		}
	}
	for k := range got {
		if _, ok := want[k]; !ok {
			if n++; n < 8 {
				t.Errorf("%s: %s has %+v, want none", what, k, got[k])
			}
		}
	}
}

// viewFiles returns small recordings of all kinds.
func viewFiles(t *testing.T) []string {
	writeSmallSpall(t)
	files := []string{"testdata/small.spaa", "testdata/small.spall"}
	for _, f := range samples.Small(150_000, samples.Files(t, "spaa/*", "spall/*", "pprof/*", "generated/*.pprof", "folded/*", "chrome-trace/*")) {
		if ask("top", f).code == Done {
			files = append(files, f)
		}
	}
	return files
}

// TestViewsAgainstLists compares every flag that changes stacks with the same change to lists
// of functions.
func TestViewsAgainstLists(t *testing.T) {
	rounds.Unraced(t)
	for _, path := range viewFiles(t) {
		l := ingest.Open(context.Background(), path, ingest.Options{})
		if err := l.Wait(); err != nil {
			continue // partly damaged
		}
		rec := l.Snapshot()
		if len(rec.Events) == 0 || rec.Functions.Len() == 0 {
			l.Close()
			continue
		}
		t.Run(filepath.Base(path), func(t *testing.T) { checkViews(t, path, rec) })
		l.Close()
	}
}

func checkViews(t *testing.T, path string, rec *recording.Recording) {
	all := stacksOf(rec)
	e := &rec.Events[rec.DefaultEvent()]
	m := &e.Metrics[e.Primary]
	var sum int64
	for _, s := range all {
		sum += s.self
	}
	// Test three functions, at the top, at one third and at two thirds of the list by total.
	var names []string
	byName := sumBy(all, func(f listedFrame) string { return f.name })
	for n := range byName {
		names = append(names, n)
	}
	sort.Slice(names, func(i, j int) bool {
		a, b := byName[names[i]], byName[names[j]]
		return a.total > b.total || a.total == b.total && names[i] < names[j]
	})
	for _, name := range []string{names[0], names[len(names)/3], names[len(names)*2/3]} {
		if name == "" || name == "[no stack]" {
			continue
		}
		is := func(f listedFrame) bool { return f.name == name }
		has := func(s listed) bool { return slices.ContainsFunc(s.frames, is) }
		stacks := func(change func(listed) ([]listedFrame, bool)) []listed {
			var out []listed
			for _, s := range all {
				if frames, keep := change(listed{slices.Clone(s.frames), s.self, s.count}); keep {
					out = append(out, listed{frames, s.self, s.count})
				}
			}
			return out
		}
		for _, c := range []struct {
			flags  []string
			stacks []listed
		}{
			{[]string{"--focus", name}, stacks(func(s listed) ([]listedFrame, bool) { return s.frames, has(s) })},
			{[]string{"--focus", "/^" + regexp.QuoteMeta(name) + "$/"}, stacks(func(s listed) ([]listedFrame, bool) { return s.frames, has(s) })},
			{[]string{"--drop", name}, stacks(func(s listed) ([]listedFrame, bool) { return s.frames, !has(s) })},
			{[]string{"--hide", name}, stacks(func(s listed) ([]listedFrame, bool) { return slices.DeleteFunc(s.frames, is), true })},
			{[]string{"--hide-kernel"}, stacks(func(s listed) ([]listedFrame, bool) {
				return slices.DeleteFunc(s.frames, func(f listedFrame) bool { return f.kernel }), true
			})},
			{[]string{"--fold-inlined"}, stacks(func(s listed) ([]listedFrame, bool) {
				var left []listedFrame
				for _, f := range s.frames {
					if !f.inlined || len(left) == 0 {
						left = append(left, f)
					}
				}
				return left, true
			})},
			{[]string{"--collapse-recursion"}, stacks(func(s listed) ([]listedFrame, bool) {
				return slices.CompactFunc(s.frames, func(a, b listedFrame) bool { return a.key() == b.key() }), true
			})},
			{[]string{"--only", strings.ToLower(name)}, stacks(func(s listed) ([]listedFrame, bool) {
				return s.frames, slices.ContainsFunc(s.frames, func(f listedFrame) bool {
					n := strings.ToLower(name)
					return strings.Contains(strings.ToLower(f.name), n) || strings.Contains(strings.ToLower(f.module), n) || strings.Contains(strings.ToLower(f.file), n)
				})
			})},
			{[]string{"--drop", name, "--hide-kernel", "--fold-inlined"}, stacks(func(s listed) ([]listedFrame, bool) {
				var left []listedFrame
				for _, f := range s.frames {
					if !f.kernel && (!f.inlined || len(left) == 0) {
						left = append(left, f)
					}
				}
				return left, !has(s)
			})},
		} {
			if strings.HasPrefix(c.flags[len(c.flags)-1], "/") && strings.HasSuffix(name, "/") {
				continue // would be read as a regular expression
			}
			what := strings.Join(c.flags, " ")
			v := viewOf(t, append([]string{path}, c.flags...)...)
			sameListed(t, what, rowSums(t, v.Rows, m, byKey), sumBy(c.stacks, listedFrame.key))
			tree := viewOf(t, append([]string{path, "--tree", "-n", "0"}, c.flags...)...)
			rows := slices.DeleteFunc(slices.Clone(tree.Rows), func(r viewRow) bool { return r.Name == "[no stack]" })
			sameListed(t, what+" --tree", rowSums(t, rows, m, pathsIn(rows)), sumPaths(c.stacks))
			inverted := viewOf(t, append([]string{path, "--invert", "-n", "0"}, c.flags...)...)
			var reversed []listed
			var left int64
			for _, s := range c.stacks {
				r := slices.Clone(s.frames)
				slices.Reverse(r)
				reversed = append(reversed, listed{r, s.self, s.count})
				left += s.self
			}
			rows = slices.DeleteFunc(slices.Clone(inverted.Rows), func(r viewRow) bool { return r.Name == "[no stack]" })
			sameListed(t, what+" --invert", rowSums(t, rows, m, pathsIn(rows)), sumPaths(reversed))
			if got := whole(t, v.Total, m); got != left || whole(t, v.Whole, m) != sum {
				t.Errorf("%s: total %d of %s, want %d of %d", what, got, v.Whole, left, sum)
			}
			lines := viewOf(t, append([]string{path, "--by", "line"}, c.flags...)...)
			sameListed(t, what+" --by line", rowSums(t, lines.Rows, m, func(r *viewRow) string {
				if r.Name == "[no stack]" {
					return r.Name
				}
				return byKey(r) + " at " + r.Place
			}), sumBy(c.stacks, func(f listedFrame) string { return f.key() + " at " + f.place }))
		}
		checkSides(t, path, m, all, name)
	}
}

// checkSides compares callers, callees and a search for a function with the lists.
func checkSides(t *testing.T, path string, m *recording.Metric, all []listed, name string) {
	t.Helper()
	callers, callees := map[string]listedSum{}, map[string]listedSum{}
	var total, found int64
	for _, s := range all {
		var up, down []string
		in := false
		for i, f := range s.frames {
			last := i == len(s.frames)-1
			add := func(to map[string]listedSum, seen *[]string, k string) {
				x := to[k]
				if !slices.Contains(*seen, k) {
					*seen = append(*seen, k)
					x.total += s.self
				}
				if last {
					x.self += s.self
					x.count += s.count
				}
				to[k] = x
			}
			if f.name == name {
				above := "[outermost]"
				if i > 0 {
					above = s.frames[i-1].key()
				}
				add(callers, &up, above)
				in = true
			}
			if i > 0 && s.frames[i-1].name == name {
				add(callees, &down, f.key())
			}
		}
		if in {
			total += s.self
		}
		if slices.ContainsFunc(s.frames, func(f listedFrame) bool {
			return strings.Contains(f.name, name) || strings.Contains(f.module, name) || strings.Contains(f.file, name)
		}) {
			found += s.self
		}
	}
	empty := func(_ string, s listedSum) bool { return s == listedSum{} }
	maps.DeleteFunc(callers, empty)
	maps.DeleteFunc(callees, empty)
	key := func(r *viewRow) string {
		if r.Name == "[outermost]" {
			return r.Name
		}
		return byKey(r)
	}
	v := viewOf(t, path, "--callers-of", name)
	sameListed(t, "callers of "+name, rowSums(t, v.Rows, m, key), callers)
	if whole(t, v.Function.Total, m) != total {
		t.Errorf("%s has the total %s, want %d", name, v.Function.Total, total)
	}
	v = viewOf(t, path, "--callees-of", name)
	sameListed(t, "callees of "+name, rowSums(t, v.Rows, m, key), callees)
	if strings.ToLower(name) != name { // lower-case searches ignore case
		if v := viewOf(t, path, "--search", name); whole(t, v.Matched.Total, m) != found {
			t.Errorf("%s is in %s, want %d", name, v.Matched.Total, found)
		}
	}
}

func TestViewUsage(t *testing.T) {
	for _, c := range []struct{ args, words string }{
		{"top testdata/small.spaa --focus nobody", `no function "nobody"`},
		{"top testdata/small.spaa --hide /(/", "neither a name nor a regular expression"},
		{"top testdata/small.spaa --collapse-module nothing", `no module "nothing"`},
		{"top testdata/small.spaa --search /(/", "not a regular expression"},
		{"top testdata/small.spaa --invert=maybe", "takes no value"},
		{"top testdata/small.spaa --tree --by module", "leave out --by module"},
		{"top testdata/small.spaa --by context:nothing", `no context key "nothing"; it has`},
		{"top testdata/small.spaa --by context:", "cannot group by"},
		{"top testdata/small.spaa --callers-of /./ --callees-of /./", "cannot be combined without --tree"},
		{"top testdata/small.spaa --callers-of /./ --by thread", "leave out --by thread"},
	} {
		t.Run(c.args, func(t *testing.T) {
			r := run(strings.Fields(c.args)...)
			r.sentence(t, Usage, c.words)
		})
	}
}

// TestViewFlags checks that flags parsed from a command line are written back unchanged and in
// order, also for render.
func TestViewFlags(t *testing.T) {
	args := []string{"--hide", "f", "--invert", "--only", "lib", "--collapse-recursion", "--hide", "/g|h/", "--collapse-recursion-of", "r",
		"--collapse-module", "libc.so.6", "--merge-by-file", "--merge-by-module", "--fold-inlined", "--hide-kernel", "--drop", "d",
		"--callers-of", "a", "--callees-of", "b", "--focus", "c", "--by-time", "--search", "x y"}
	var v view.Stacks
	fs := pflag.NewFlagSet("", pflag.ContinueOnError)
	v.AddFlags(fs)
	if err := fs.Parse(args); err != nil {
		t.Fatal(err)
	}
	rec := recording.NewBuilder().Finish()
	if got, ok := (&view.State{Stacks: v}).Args(rec, "transform", "find"); !slices.Equal(got, args) || !ok {
		t.Errorf("%q\nwant %q", got, args)
	}
	r := run(append([]string{"render", "a.spaa", "-o", "a.png"}, args...)...)
	if r.code != Done || r.render == nil || !slices.Equal(r.render.State.Transforms, v.Transforms) || r.render.State.Find != v.Find {
		t.Errorf("render: %d, %+v, %s", r.code, r.render, r.stderr)
	}
}

// TestTyped checks that the text typed for a function refers to that function only.
func TestTyped(t *testing.T) {
	b := recording.NewBuilder()
	var all []recording.Function
	for _, f := range []recording.Function{{Name: "f", Module: "/a/lib.so"}, {Name: "f", Module: "/b/lib.so"}, {Name: "f", Module: "app"},
		{Name: "g", Module: "app"}, {Name: "/x/", Module: "app"}, {Name: "h"}, {Name: "k@plt", Module: "app"}} {
		b.Function(f)
		all = append(all, f)
	}
	rec := b.Finish()
	for i, f := range all {
		typed := analyze.RefTo(f).Typed(rec)
		if got := analyze.Named(typed).Functions(rec); len(got) != 1 || int(got[0]) != i {
			t.Errorf("%q stands for %v, want %d", typed, got, i)
		}
	}
}

// TestViewGolden compares the text of views with golden files.
func TestViewGolden(t *testing.T) {
	for name, args := range map[string][]string{
		"top-view-tree.txt":     {"--tree", "-n", "9", "--search", "price"},
		"top-view-invert.txt":   {"--invert", "-n", "8", "--hide-kernel", "--collapse-recursion"},
		"top-view-callers.txt":  {"--callers-of", "alloc", "--drop", "walk"},
		"top-view-callees.json": {"--callees-of", "price", "--only", "serve", "--json"},
		"top-view-search.txt":   {"--search", "/^[pm]/", "--hide", "match"},
		"top-view-time.txt":     {"--by-time", "-n", "0"},
	} {
		t.Run(name, func(t *testing.T) {
			r := run(append([]string{"top", "testdata/views.folded"}, args...)...)
			if r.code != Done {
				t.Fatalf("exit code %d: %s", r.code, r.stderr)
			}
			isKept(t, name, anywhere(r.stdout))
		})
	}
}
