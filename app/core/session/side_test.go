package session

import (
	"bytes"
	"cmp"
	"os"
	"path/filepath"
	"runtime/debug"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/calls"
	"ashlar/ingest/query/search"
	"ashlar/testdata/gen/synth"
	"ashlar/testdata/rounds"
)

// opened opens a generated trace and waits until it is read. It passes previews to soon.
func opened(t *testing.T, soon func(*Answer)) (d *Side, told <-chan struct{}) {
	t.Helper()
	var b bytes.Buffer
	if _, err := synth.Write(&b, synth.Options{Kind: "spall3", Records: 100_000}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "x.spall")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	c := make(chan struct{}, 1)
	var ready sync.WaitGroup
	ready.Add(1)
	d = Open(path, func() {
		ready.Wait()
		if a := d.Preview(); a != nil {
			soon(a)
		}
		select {
		case c <- struct{}{}:
		default:
		}
	})
	ready.Done()
	t.Cleanup(d.Close)
	if err := d.Wait(); err != nil {
		t.Fatal(err)
	}
	return d, c
}

// until waits for notifications until holds is true.
func until(t *testing.T, told <-chan struct{}, holds func() bool) {
	t.Helper()
	for end := time.After(time.Minute); !holds(); {
		select {
		case <-told:
		case <-end:
			t.Fatal("it never came")
		}
	}
}

// totals returns the totals of nodes by path, down to a depth.
func totals(a *Answer, depth int) map[string]int64 {
	all := map[string]int64{}
	for i := range a.Tree.Nodes {
		path := a.Tree.Path(i)
		if len(path) > depth {
			continue
		}
		var names []string
		for _, n := range path {
			names = append(names, a.Tree.Function(a.Rec, int(n)).Name)
		}
		all[strings.Join(names, ";")] += a.Tree.Nodes[i].Total
	}
	return all
}

// TestSoon checks that a preview has the same totals as the full answer, down to its depth.
func TestSoon(t *testing.T) {
	oldSpans, oldCalls := previewSpans, previewCalls
	previewSpans, previewCalls = 2000, 10
	t.Cleanup(func() { previewSpans, previewCalls = oldSpans, oldCalls })
	var mu sync.Mutex
	var first *Answer
	d, told := opened(t, func(a *Answer) {
		mu.Lock()
		defer mu.Unlock()
		first = a
	})
	r := d.Recording()
	deep := &r.Tracks[0].Lanes[3]
	called := &recording.CallSet{Text: (&calls.Query{Functions: []string{r.Functions.At(int(r.Func(deep.Call(deep.Len() / 2)))).Name}}).String()}
	for _, in := range []recording.Scope{
		recording.Between(r.Start+r.Duration()/3, r.Start+r.Duration()*2/3),
		recording.Scope{}.Of(called),
		recording.Between(r.Start+r.Duration()/3, r.Start+r.Duration()*2/3).Of(called),
	} {
		q := Question{Query: analyze.Query{Scope: in}}
		mu.Lock()
		first = nil
		mu.Unlock()
		d.Ask(q)
		until(t, told, func() bool { a := d.Answer(); return a != nil && a.equal(&q) && d.Preview() == nil })
		mu.Lock()
		soon := first
		mu.Unlock()
		if soon == nil {
			t.Fatalf("there was no first answer for %+v", in)
		}
		got, want := totals(soon, soon.Depth), totals(d.Answer(), soon.Depth)
		if len(got) < 2 || len(got) != len(want) || len(totals(d.Answer(), 100)) == len(want) {
			t.Errorf("%d nodes down to depth %d, want %d of %d", len(got), soon.Depth, len(want), len(totals(d.Answer(), 100)))
		}
		for path, v := range want {
			if got[path] != v {
				t.Errorf("%s has %d, want %d", path, got[path], v)
			}
		}
	}
}

// TestSnapshotsDoNotWaitLong checks that a new snapshot is announced even if the answer for it
// takes long.
func TestSnapshotsDoNotWaitLong(t *testing.T) {
	d, told := opened(t, func(*Answer) {})
	select {
	case <-told: // the notification of complete loading
	default:
	}
	d.work.Lock() // simulates a slow answer
	q := Question{}
	d.Ask(q)
	for range 2 {
		d.loaded()
		select {
		case <-told:
		case <-time.After(time.Minute):
			t.Error("nothing was told before there was an answer")
		}
		if d.Answer() != nil {
			t.Error("there is an answer")
		}
	}
	d.work.Unlock()
	until(t, told, func() bool { a := d.Answer(); return a != nil && a.equal(&q) })
}

// TestSetsOfCalls checks a scope with a set of calls: the answer is limited to them, the list
// also has the other calls of the function, and the question itself is not changed.
func TestSetsOfCalls(t *testing.T) {
	d, told := opened(t, func(*Answer) {})
	r := d.Recording()
	var lane *lanes.Lane // a lane with a call to select and others
	track, at := -1, 0
	for ti, x := range r.Tracks {
		for i := range x.Lanes {
			if l := &x.Lanes[i]; l.Len() > 3 && l.End(2) > l.Start(2) && track < 0 {
				lane, track, at = l, ti, 2
			}
		}
	}
	name := r.FuncName(lane.Call(at))
	th := r.Tracks[track]
	set := calls.Query{Functions: []string{name}, At: []calls.Place{{PID: th.PID, TID: th.TID, Name: th.Name, Time: lane.Start(at) - r.Start}}}
	q := Question{Listed: name}
	q.Scope = q.Scope.Of(&recording.CallSet{Text: set.String()})
	for range 2 { // the second is answered from the first
		d.Ask(q)
		until(t, told, func() bool { a := d.Answer(); return a != nil && a.equal(&q) })
		a := d.Answer()
		var long, n int64
		for ti, x := range r.Tracks {
			for i := range x.Lanes {
				l := &x.Lanes[i]
				for k := range l.Len() {
					if r.FuncName(l.Call(k)) != name {
						continue
					}
					n++
					if ti == track && l.Start(k) == lane.Start(at) {
						long = max(long, l.End(k)-l.Start(k))
					}
				}
			}
		}
		if a.Tree.Weights.Sum != long || long == 0 || a.Scope.Calls.Calls == 0 || a.Question.Scope.Calls.Runs != nil {
			t.Errorf("%s takes %d, want %d", set.String(), a.Tree.Weights.Sum, long)
		}
		if int64(len(a.List.Rows)) != n || a.List.Durations.Count != n {
			t.Errorf("%d calls of %s are listed, and %d counted, want %d", len(a.List.Rows), name, a.List.Durations.Count, n)
		}
		q.Stats = true
	}
}

// TestAnswerFromTheOneBefore checks that an answer that reuses results of the previous one
// equals one computed anew.
func TestAnswerFromTheOneBefore(t *testing.T) {
	d, told := opened(t, func(*Answer) {})
	pattern, _ := search.Parse("e")
	r := d.Recording()
	part := analyze.Query{Scope: recording.Between(r.Start, r.Start+r.Duration()/2)}
	for _, q := range []Question{{Query: part}, {Query: part, Search: pattern}, {Query: part, Stats: true}, {Query: part, Stats: true, Heat: true}, {Stats: true}} {
		d.Ask(q)
		until(t, told, func() bool { a := d.Answer(); return a != nil && a.equal(&q) })
		got := d.Answer()
		want, err := answer(t.Context(), r, q, nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if len(got.Rows) != len(want.Rows) || got.Tree.Nodes[0].Total != want.Tree.Nodes[0].Total || len(got.Tree.Nodes) != len(want.Tree.Nodes) {
			t.Errorf("%+v: another tree", q)
		}
		if (q.Search != nil) != (got.Matched != nil) || got.Matched != nil && got.Matched.Total != want.Matched.Total {
			t.Errorf("%+v: matched %+v, want %+v", q, got.Matched, want.Matched)
		}
		if q.Stats && (len(got.Spans) == 0 || len(got.Spans) != len(want.Spans)) || q.Heat && (got.Grid == nil || got.Grid.Sum != want.Grid.Sum) {
			t.Errorf("%+v: other statistics", q)
		}
	}
	until(t, told, func() bool { return d.Hits() == nil }) // the last question has no search
}

// TestNoMemoryIsSaid checks that Problem reports a lack of memory until a question is
// answered.
func TestNoMemoryIsSaid(t *testing.T) {
	rounds.Unraced(t)
	b := recording.NewBuilder()
	b.AddEvent(recording.SpanEvent())
	f := b.FunctionFrame(b.Function(recording.Function{Name: "f"}))
	tr := b.Track(recording.TrackKey{})
	for i := range 1 << 17 {
		tr.Span(int64(i)*10, 5, b.FunctionFrame(b.Function(recording.Function{Name: strconv.Itoa(i)})), 0, false)
	}
	tr.Span(0, 5, f, 0, false)
	rec := b.Finish()
	d := new(Side)
	old := debug.SetMemoryLimit(1 << 20)
	defer debug.SetMemoryLimit(old)
	if a := d.tried(answer(t.Context(), rec, Question{}, nil, nil)); a != nil || !strings.Contains(d.Problem(), "memory") {
		t.Errorf("%v, %q", a, d.Problem())
	}
	debug.SetMemoryLimit(old)
	if a := d.tried(answer(t.Context(), rec, Question{}, nil, nil)); a == nil || d.Problem() != "" {
		t.Errorf("%v, %q", a, d.Problem())
	}
}

// TestStillKnowsContexts checks that a snapshot computes contexts at once, so that pictures
// always have them.
func TestStillKnowsContexts(t *testing.T) {
	d := Demo(nil)
	defer d.Close()
	if err := d.Finish(Question{}); err != nil {
		t.Fatal(err)
	}
	a := d.Answer()
	if got := d.Snapshot().NodeContexts(a, 1); len(got) == 0 {
		t.Error("nothing is known of where the stacks were taken")
	}
}

// TestLongestOfManyCalls checks that a list of too many calls has only the longest if sorted
// by duration, and all calls in other orders. The statistics always cover all calls.
func TestLongestOfManyCalls(t *testing.T) {
	defer func(n int) { mostListed = n }(mostListed)
	mostListed = 7
	d, told := opened(t, func(*Answer) {})
	var took []int64
	for _, x := range d.Recording().Tracks {
		for i := range x.Lanes {
			for l, k := &x.Lanes[i], 0; k < l.Len(); k++ {
				took = append(took, l.End(k)-l.Start(k))
			}
		}
	}
	slices.SortFunc(took, func(a, b int64) int { return cmp.Compare(b, a) })
	for by, want := range map[string]int{"": 7, calls.ByDuration: 7, calls.ByStart: len(took), "-duration": len(took)} {
		q := Question{Listed: "*", ListedBy: by}
		d.Ask(q)
		until(t, told, func() bool { a := d.Answer(); return a != nil && a.equal(&q) })
		l := d.Answer().List
		var got []int64
		for i := range l.Rows {
			got = append(got, l.Rows[i].Duration)
		}
		slices.SortFunc(got, func(a, b int64) int { return cmp.Compare(b, a) })
		if len(got) != want || !slices.Equal(got, took[:want]) || l.Longest != (want == 7) || l.Durations.Count != int64(len(took)) {
			t.Errorf("by %q %d of %d calls are listed, the longest alone: %v", by, len(got), l.Durations.Count, l.Longest)
		}
	}
}
