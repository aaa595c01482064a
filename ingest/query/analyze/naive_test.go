package analyze

import (
	"context"
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/model/sets"
	"ashlar/ingest/query/scan"
	"ashlar/testdata/rounds"
)

// naive is a copy of a random recording as plain lists, with names instead of ids, from
// which queries are answered slowly but simply.
type naive struct {
	spans   []naiveSpan
	samples []naiveRecord // of event sampledEvent, with a time
	stacks  []naiveRecord // of the same event
	windows []naiveWindow
	loose   []naiveRecord // of event looseEvent: samples only
	// picks tells, by the text of a set of calls, which spans are its calls; known caches
	// which spans belong to it.
	picks map[string]func(*naiveSpan) bool
	known map[string][]bool
}

type naiveSpan struct {
	track      int
	start, end int64
	path       []string
	frames     []recording.FrameID
}

type naiveRecord struct {
	at     int64
	track  int
	path   []string
	values []int64
}

type naiveWindow struct {
	start, end int64
	rows       []naiveRecord
}

// answer is the expected answer to a query, by path (names joined by ";").
type answer struct {
	self, count map[string]int64
	sum         int64
	// byTrack are sums and counts by track, NoTrack included.
	byTrack, countByTrack map[int]int64
}

func newAnswer() *answer {
	return &answer{self: map[string]int64{}, count: map[string]int64{}, byTrack: map[int]int64{}, countByTrack: map[int]int64{}}
}

func (a *answer) add(track int, path []string, v, count int64) {
	p := strings.Join(path, ";")
	a.count[p] += count
	a.countByTrack[track] += count
	if v != recording.Missing {
		a.self[p] += v
		a.sum += v
		a.byTrack[track] += v
	}
}

// Events of a random recording.
const (
	spanEvent = iota
	sampledEvent
	looseEvent
)

// Metrics of sampledEvent: its samples carry the first two.
const (
	metricOne = iota
	metricColumn
	metricStacksOnly
)

type functionName struct{ name, module, file string }

// Name and module tell functions apart: "f" is in two modules.
var functionPool = []functionName{
	{"main", "app", "main.go"}, {"f", "app", "f.go"}, {"f", "lib", "f.c"}, {"g", "lib", "g.c"},
	{"walk", "app", "tree.go"}, {"alloc", "", ""}, {"read", "[kernel]", ""}, {"h", "app", "f.go"},
}

func (f functionName) String() string { return f.name + "@" + f.module }

// world builds a random recording and its naive copy.
type world struct {
	r      *rand.Rand
	b      *recording.Builder
	naive  naive
	tracks []*recording.TrackBuilder
}

func (w *world) path(most int) ([]string, []recording.FrameID) {
	var names []string
	var frames []recording.FrameID
	for range w.r.IntN(most + 1) {
		n, f := w.frame()
		names, frames = append(names, n), append(frames, f)
	}
	return names, frames
}

// frame returns one of three places in a random function.
func (w *world) frame() (string, recording.FrameID) {
	fn := functionPool[w.r.IntN(len(functionPool))]
	id := w.b.Function(recording.Function{Name: fn.name, Module: fn.module, File: fn.file})
	return fn.String(), w.b.Frame(recording.Frame{Func: id, Addr: uint64(w.r.IntN(3))})
}

func newWorld(seed uint64) (*recording.Recording, *naive) {
	w := &world{r: rand.New(rand.NewPCG(seed, 1)), b: recording.NewBuilder()}
	w.b.AddEvent(recording.SpanEvent())
	w.b.AddEvent(recording.Event{Name: "cycles", Metrics: []recording.Metric{
		metricOne:        {Name: "samples", PerSample: recording.SampleOne},
		metricColumn:     {Name: "period", PerSample: recording.SampleColumn},
		metricStacksOnly: {Name: "bytes", Unit: "bytes"},
	}})
	w.b.AddEvent(recording.Event{Name: "timed", Basis: recording.FromSamples, Metrics: []recording.Metric{
		{Name: "weight", PerSample: recording.SampleColumn},
	}})
	for i := range 4 {
		w.tracks = append(w.tracks, w.b.Track(recording.TrackKey{PID: 1, TID: int64(i + 1)}))
	}
	for i, t := range w.tracks {
		w.nested(t, i, i == 3)
	}
	w.records()
	w.windowed()
	return w.b.Finish(), &w.naive
}

// nested adds properly nested spans to a track, many of zero length; with whole, as
// complete spans in random order.
func (w *world) nested(t *recording.TrackBuilder, track int, whole bool) {
	type open struct {
		start int64
		frame recording.FrameID
		index int
	}
	var stack []open
	var path []string
	var frames []recording.FrameID
	type span struct {
		start, end int64
		frame      recording.FrameID
	}
	var all []span
	at := int64(w.r.IntN(20))
	for range w.r.IntN(120) {
		// Complete spans with the same start and end could nest either way, so their times
		// must differ.
		if whole {
			at++
		}
		if len(stack) > 0 && w.r.IntN(2) == 0 {
			o := stack[len(stack)-1]
			stack, path, frames = stack[:len(stack)-1], path[:len(path)-1], frames[:len(frames)-1]
			w.naive.spans[o.index].end = at
			if whole {
				all = append(all, span{o.start, at, o.frame})
			} else if matched, forward := t.End(at); !matched || !forward {
				panic("the test's own spans do not nest")
			}
		} else {
			name, frame := w.frame()
			path, frames = append(path, name), append(frames, frame)
			stack = append(stack, open{at, frame, len(w.naive.spans)})
			w.naive.spans = append(w.naive.spans, naiveSpan{track, at, -1, slices.Clone(path), slices.Clone(frames)})
			if !whole {
				t.Begin(at, frame, 0)
			}
		}
		if w.r.IntN(3) > 0 {
			at += int64(w.r.IntN(12))
		}
	}
	for len(stack) > 0 { // leave open spans unfinished, or end complete ones
		o := stack[len(stack)-1]
		stack = stack[:len(stack)-1]
		if whole {
			at++
			w.naive.spans[o.index].end = at
			all = append(all, span{o.start, at, o.frame})
		}
	}
	w.r.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	for _, s := range all {
		t.Span(s.start, s.end, s.frame, 0, false)
	}
}

func (w *world) value() int64 {
	if w.r.IntN(8) == 0 {
		return recording.Missing
	}
	return int64(w.r.IntN(1000))
}

// records adds stack records and samples. Samples come out of order.
func (w *world) records() {
	for range w.r.IntN(80) {
		names, frames := w.path(6)
		track := w.r.IntN(len(w.tracks)+1) - 1 // NoTrack is -1
		v := []int64{w.value(), w.value(), w.value()}
		w.b.AddStack(sampledEvent, w.b.Stack(frames), track, 0, v)
		w.naive.stacks = append(w.naive.stacks, naiveRecord{0, track, names, v})
	}
	for range w.r.IntN(200) {
		names, frames := w.path(6)
		track := w.r.IntN(len(w.tracks))
		at := int64(w.r.IntN(400))
		v := []int64{1, w.value()}
		w.tracks[track].Sample(sampledEvent, at, w.b.Stack(frames), -1, v)
		w.naive.samples = append(w.naive.samples, naiveRecord{at, track, names, v})
	}
	for range w.r.IntN(100) {
		names, frames := w.path(4)
		track := w.r.IntN(len(w.tracks))
		at := int64(w.r.IntN(400))
		v := []int64{w.value()}
		w.tracks[track].Sample(looseEvent, at, w.b.Stack(frames), 2, v)
		w.naive.loose = append(w.naive.loose, naiveRecord{at, track, names, v})
	}
}

// windowed adds eight adjacent windows and a coarse one that covers all of them.
func (w *world) windowed() {
	add := func(start, end int64) {
		nw := naiveWindow{start: start, end: end}
		w.b.AddWindow(sampledEvent, "", start, end)
		for range w.r.IntN(12) {
			names, frames := w.path(5)
			track := w.r.IntN(len(w.tracks)+1) - 1
			v := []int64{w.value(), w.value(), w.value()}
			w.b.AddWindowStack(sampledEvent, w.b.Stack(frames), track, 0, v)
			nw.rows = append(nw.rows, naiveRecord{start, track, names, v})
		}
		w.naive.windows = append(w.naive.windows, nw)
	}
	add(0, 400)
	for i := range int64(8) {
		add(i*50, (i+1)*50)
	}
}

// finish ends unfinished spans at the recording's end.
func (n *naive) finish(rec *recording.Recording) {
	for i := range n.spans {
		if n.spans[i].end < 0 {
			n.spans[i].end = rec.End
		}
	}
}

func chosen(q Query, track int) bool {
	return q.Scope.Tracks == nil || slices.Contains(q.Scope.Tracks, track)
}

// ofSpans answers a query of spans. It counts time moment by moment: each moment belongs to
// the deepest span that covers it.
func (n *naive) ofSpans(rec *recording.Recording, q Query) *answer {
	from, to := rec.Start, rec.End
	if q.Scope.Ranged {
		from, to = q.Scope.From, q.Scope.To
	}
	a := newAnswer()
	for _, s := range n.spans {
		touches := s.start < to && s.end > from || s.start == s.end && s.start >= from && s.start <= to
		if !chosen(q, s.track) || !touches || !n.within(q, &s) {
			continue
		}
		if q.Metric == recording.SpanCount {
			a.add(s.track, s.path, 1, 1)
		} else {
			a.add(s.track, s.path, 0, 1)
		}
	}
	if q.Metric == recording.SpanCount {
		return a
	}
	for track := range rec.Tracks {
		if !chosen(q, track) {
			continue
		}
		for at := from; at < to; at++ { // times in this test are small
			var deepest *naiveSpan
			for i := range n.spans {
				s := &n.spans[i]
				if s.track == track && s.start <= at && s.end > at && (deepest == nil || len(s.path) > len(deepest.path)) {
					deepest = s
				}
			}
			if deepest != nil && n.within(q, deepest) {
				a.add(track, deepest.path, 1, 0)
			}
		}
	}
	return a
}

// within reports whether a span belongs to a query's calls: it is one of them, or
// a span that may be its parent belongs to them.
func (n *naive) within(q Query, s *naiveSpan) bool {
	if q.Scope.Calls == nil {
		return true
	}
	text := q.Scope.Calls.Text
	if n.known[text] == nil {
		is := make([]bool, len(n.spans))
		for i := range n.spans { // parents come before their children
			s := &n.spans[i]
			up := len(s.frames) - 1
			is[i] = n.picks[text](s)
			for k := range n.spans[:i] {
				p := &n.spans[k]
				is[i] = is[i] || is[k] && p.track == s.track && slices.Equal(p.frames, s.frames[:up]) && p.start <= s.start && s.end <= p.end
			}
		}
		n.known[text] = is
	}
	i := slices.IndexFunc(n.spans, func(o naiveSpan) bool {
		return o.track == s.track && o.start == s.start && o.end == s.end && slices.Equal(o.frames, s.frames)
	})
	return n.known[text][i]
}

// sets makes random sets of calls, both for the recording and for its naive copy.
func (n *naive) sets(t *testing.T, rec *recording.Recording, r *rand.Rand) (all []*recording.CallSet) {
	n.picks, n.known = map[string]func(*naiveSpan) bool{}, map[string][]bool{}
	for i := range 4 {
		name, least, most, odd := functionPool[r.IntN(len(functionPool))].String(), r.Int64N(10), 1+r.Int64N(60), r.Int64N(4)
		is := func(s *naiveSpan) bool {
			d := s.end - s.start
			return (i == 3 || s.path[len(s.path)-1] == name) && d >= least && d < most && (odd > 0 || s.start%2 == 1)
		}
		picked := make([][][]sets.Run, len(rec.Tracks))
		for ti, track := range rec.Tracks {
			picked[ti] = make([][]sets.Run, len(track.Lanes))
			for li := range track.Lanes {
				l := &track.Lanes[li]
				for k := range l.Len() {
					s := naiveSpan{track: ti, start: l.Start(k), end: l.End(k)}
					for _, c := range rec.Calls.Path(nil, l.Call(k)) {
						f := rec.Functions.At(int(rec.Func(c)))
						s.path = append(s.path, functionName{f.Name, f.Module, ""}.String())
					}
					if is(&s) {
						picked[ti][li] = append(picked[ti][li], sets.Run{First: k, Last: k + 1})
					}
				}
			}
		}
		text := fmt.Sprint("set ", i)
		n.picks[text] = is
		set, err := scan.Below(context.Background(), rec, text, picked)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, set)
	}
	return all
}

// queriesOfSets returns queries whose scopes have sets of calls.
func (n *naive) queriesOfSets(t *testing.T, rec *recording.Recording, r *rand.Rand) (all []Query) {
	for _, set := range n.sets(t, rec, r) {
		for _, q := range queries(rec, r) {
			q.Scope = q.Scope.Of(set)
			all = append(all, q)
		}
	}
	return all
}

func (n *naive) ofRecords(rec *recording.Recording, records []naiveRecord, q Query, timed bool) *answer {
	a := newAnswer()
	for _, r := range records {
		if !chosen(q, r.track) {
			continue
		}
		if timed && q.Scope.Ranged && (r.at < q.Scope.From || r.at >= q.Scope.To && q.Scope.To < rec.End) {
			continue
		}
		if timed && q.Scope.Calls != nil && !slices.ContainsFunc(n.spans, func(s naiveSpan) bool {
			return s.track == r.track && n.picks[q.Scope.Calls.Text](&s) && r.at >= s.start && (r.at < s.end || s.end == rec.End && r.at == s.end)
		}) {
			continue
		}
		v := int64(recording.Missing)
		if q.Metric < len(r.values) {
			v = r.values[q.Metric]
		}
		a.add(r.track, r.path, v, 1)
	}
	return a
}

// expect returns the expected answer to a query and the kind of records that it comes from.
func (n *naive) expect(rec *recording.Recording, q Query) (*answer, Basis) {
	switch {
	case q.Event == spanEvent:
		return n.ofSpans(rec, q), Spans
	case q.Event == looseEvent:
		return n.ofRecords(rec, n.loose, q, true), Samples
	case !q.Scope.Ranged && q.Scope.Calls == nil:
		return n.ofRecords(rec, n.stacks, q, false), Stacks
	case q.Metric != metricStacksOnly && len(n.samples) > 0:
		return n.ofRecords(rec, n.samples, q, true), Samples
	case !q.Scope.Ranged: // stack records have no time, so a set of calls does not apply
		return n.ofRecords(rec, n.stacks, q, false), Stacks
	}
	var rows []naiveRecord
	for _, w := range n.windows[1:] { // the fine ones
		if w.start < q.Scope.To && w.end > q.Scope.From {
			rows = append(rows, w.rows...)
		}
	}
	return n.ofRecords(rec, rows, q, false), Windows
}

func queries(rec *recording.Recording, r *rand.Rand) []Query {
	var all []Query
	for e := range rec.Events {
		for m := range rec.Events[e].Metrics {
			q := Query{Event: e, Metric: m}
			all = append(all, q)
			q.Scope.Ranged = true
			q.Scope.From = rec.Start + r.Int64N(rec.Duration()+1)
			q.Scope.To = q.Scope.From + r.Int64N(rec.End-q.Scope.From+1)
			if q.Scope.From == q.Scope.To {
				q.Scope.To++
			}
			all = append(all, q)
			q.Scope.Tracks = []int{1, 3}
			all = append(all, q)
			all = append(all, Query{Event: e, Metric: m, Scope: recording.Scope{Tracks: []int{0, 3}}})
			all = append(all, Query{Event: e, Metric: m, Scope: recording.Between(rec.Start, rec.End)})
		}
	}
	return all
}

// TestAgainstNaive compares weights, trees, tables and threads with the naive answers, for
// many recordings and queries.
func TestAgainstNaive(t *testing.T) {
	for seed := range rounds.Of(uint64(60)) {
		rec, n := newWorld(seed)
		n.finish(rec)
		r := rand.New(rand.NewPCG(seed, 2))
		all := queries(rec, r)
		if seed%3 == 0 {
			all = append(all, n.queriesOfSets(t, rec, r)...)
		}
		for _, q := range all {
			t.Run(fmt.Sprintf("%d/%+v", seed, q), func(t *testing.T) {
				want, basis := n.expect(rec, q)
				w, err := Weigh(context.Background(), rec, q)
				if err != nil {
					t.Fatal(err)
				}
				if w.Basis != basis {
					t.Fatalf("answered from %s, want %s", w.Basis, basis)
				}
				if w.Ranged != q.Scope.Ranged || w.Called != (q.Scope.Calls != nil && (basis == Spans || basis == Samples)) {
					t.Errorf("Ranged is %v, Called %v", w.Ranged, w.Called)
				}
				tree := NewTree(rec, w)
				checkTree(t, rec, tree, want)
				checkTables(t, rec, tree, want)
				checkThreads(t, rec, q, w, want)
			})
		}
	}
}

// TestUnmerged checks that unmerged gives the same tree as callPaths if each function has
// one frame.
func TestUnmerged(t *testing.T) {
	for seed := range uint64(8) {
		r := rand.New(rand.NewPCG(seed, 7))
		b := recording.NewBuilder()
		b.AddEvent(recording.SpanEvent())
		track := b.Track(recording.TrackKey{TID: 1})
		at := int64(0)
		for range 3000 {
			if at += r.Int64N(50); r.IntN(2) == 0 && track.Depth() < 30 {
				name := fmt.Sprint("f", r.IntN(1+4*int(seed)))
				track.Begin(at, b.FunctionFrame(b.Function(recording.Function{Name: name})), 0)
			} else {
				track.End(at)
			}
		}
		rec := b.Finish()
		if !oneFrameEach(rec) {
			t.Fatal("a function has several frames")
		}
		whole := Query{First: seed%2 == 0}
		part := whole
		part.Scope = recording.Between(at/3, at/2)
		for _, q := range []Query{whole, part} {
			w, err := Weigh(context.Background(), rec, q)
			if err != nil {
				t.Fatal(err)
			}
			got, want := unmerged(rec, w), pathsOf(rec, w).tree(w)
			if !reflect.DeepEqual(got, want) {
				t.Errorf("seed %d: %d nodes, want %d, or others", seed, len(got.Nodes), len(want.Nodes))
			}
		}
	}
}

// paths returns the path of each node of a tree, as names.
func paths(rec *recording.Recording, tree *Tree) []string {
	names := make([]string, len(tree.Nodes))
	for i := 1; i < len(tree.Nodes); i++ {
		fn := rec.Functions.At(int(tree.Nodes[i].Func))
		name := functionName{fn.Name, fn.Module, fn.File}.String()
		if p := tree.Nodes[i].Parent; p != 0 {
			name = names[p] + ";" + name
		}
		names[i] = name
	}
	return names
}

func checkTree(t *testing.T, rec *recording.Recording, tree *Tree, want *answer) {
	t.Helper()
	if tree.Weights.Sum != want.sum || tree.Nodes[0].Total != want.sum {
		t.Errorf("the sum is %d, the root's total %d, want %d", tree.Weights.Sum, tree.Nodes[0].Total, want.sum)
	}
	var self, count int64
	seen := map[string]bool{}
	for i, p := range paths(rec, tree) {
		nd := &tree.Nodes[i]
		if seen[p] {
			t.Errorf("%q has two nodes", p)
		}
		seen[p] = true
		var total int64
		for q, v := range want.self {
			if q == p || strings.HasPrefix(q, p+";") || p == "" {
				total += v
			}
		}
		if nd.Self != want.self[p] || nd.Count != want.count[p] || nd.Total != total {
			t.Errorf("%q has self %d, count %d, total %d, want %d, %d, %d", p, nd.Self, nd.Count, nd.Total, want.self[p], want.count[p], total)
		}
		self += nd.Self
		count += nd.Count
		kids := tree.Children(i)
		if !slices.IsSortedFunc(kids, func(a, b int32) int { return int(tree.Nodes[b].Total - tree.Nodes[a].Total) }) {
			t.Errorf("the children of %q are not in order of weight", p)
		}
		for _, k := range kids {
			if int(tree.Nodes[k].Parent) != i || tree.Nodes[k].Depth != nd.Depth+1 {
				t.Errorf("node %d is a child of %d, but says parent %d, depth %d", k, i, tree.Nodes[k].Parent, tree.Nodes[k].Depth)
			}
		}
	}
	for p, c := range want.count {
		if !seen[p] && (c != 0 || want.self[p] != 0) {
			t.Errorf("%q is not in the tree", p)
		}
	}
	if self != want.sum || count != tree.Weights.Records {
		t.Errorf("self adds up to %d and counts to %d, want %d and %d", self, count, want.sum, tree.Weights.Records)
	}
}

// checkTables compares tables by function, module and file. Self counts for the last name
// of a path, total once for each name in it.
func checkTables(t *testing.T, rec *recording.Recording, tree *Tree, want *answer) {
	t.Helper()
	files, modules := map[string]string{}, map[string]string{}
	for _, f := range functionPool {
		files[f.String()], modules[f.String()] = orNone(f.file, "[no file]"), orNone(f.module, "[no module]")
	}
	for by, name := range map[By]func(string) string{
		ByFunction: func(s string) string { return s },
		ByModule:   func(s string) string { return modules[s] },
		ByFile:     func(s string) string { return files[s] },
	} {
		type sums struct{ self, total, count int64 }
		rows := map[string]sums{}
		for p, c := range want.count {
			names := []string{"[no stack]"}
			if p != "" {
				names = strings.Split(p, ";")
				for i := range names {
					names[i] = name(names[i])
				}
			}
			once := map[string]bool{}
			for i, n := range names {
				s := rows[n]
				if i == len(names)-1 {
					s.self += want.self[p]
					s.count += c
				}
				if !once[n] {
					s.total += want.self[p]
				}
				once[n] = true
				rows[n] = s
			}
		}
		got := map[string]sums{}
		table := Table(rec, tree, by)
		for _, r := range table {
			n := r.Name
			if by == ByFunction && n != "[no stack]" {
				n = functionName{r.Name, r.Module, ""}.String()
			}
			if _, twice := got[n]; twice {
				t.Errorf("by %s: %q has two rows", by, n)
			}
			got[n] = sums{r.Self, r.Total, r.Count}
		}
		maps.DeleteFunc(rows, func(_ string, s sums) bool { return s == sums{} })
		maps.DeleteFunc(got, func(_ string, s sums) bool { return s == sums{} })
		if !maps.Equal(rows, got) {
			t.Errorf("by %s:\n got %v\nwant %v", by, got, rows)
		}
		if !sort.SliceIsSorted(table, func(i, j int) bool { return table[i].Self > table[j].Self }) {
			t.Errorf("by %s: the rows are not in order of self", by)
		}
	}
}

func checkThreads(t *testing.T, rec *recording.Recording, q Query, w *Weights, want *answer) {
	t.Helper()
	rows, err := ByTrack(context.Background(), rec, q)
	if err != nil {
		t.Fatal(err)
	}
	var sum, count int64
	seen := map[int]bool{}
	for _, r := range rows {
		if r.Self != want.byTrack[r.Track] || r.Total != r.Self || r.Count != want.countByTrack[r.Track] {
			t.Errorf("thread %d has self %d, total %d, count %d, want %d and %d", r.Track, r.Self, r.Total, r.Count, want.byTrack[r.Track], want.countByTrack[r.Track])
		}
		seen[r.Track] = true
		sum += r.Self
		count += r.Count
	}
	for track, c := range want.countByTrack {
		if c != 0 && !seen[track] {
			t.Errorf("thread %d has no row", track)
		}
	}
	if sum != w.Sum || count != w.Records {
		t.Errorf("threads add up to %d in %d records, want %d in %d", sum, count, w.Sum, w.Records)
	}
}
