package shell

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"testing"
	"time"

	"ashlar/app/core/view"
	"ashlar/app/window/panel"
	"ashlar/app/window/panel/functions"
	lanes "ashlar/app/window/timeline"
	"ashlar/app/window/workspace"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/calls"
	"ashlar/render/theme"
	"ashlar/render/timeline"
	"ashlar/testdata/gen/synth"
	"ashlar/testdata/rounds"
)

// traceFile writes a synthetic trace of 4 threads and returns its path.
func traceFile(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "a trace.spall")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if _, err := synth.Write(f, synth.Options{Kind: "spall3", Records: 20000, Threads: 4, Seed: 7}); err != nil {
		t.Fatal(err)
	}
	return path
}

// look changes the view of a pane at random, as a user could.
func look(r *rand.Rand, s *Shell) {
	p := s.Pane
	rec := p.Rec
	maybe := func() bool { return r.IntN(2) == 0 }
	anyTime := func() int64 { return rec.Start + r.Int64N(max(1, rec.Duration())) }
	s.View = []workspace.View{workspace.Both, workspace.Upper, workspace.Flame, workspace.Lower}[r.IntN(4)]
	s.Mode = theme.Modes[r.IntN(len(theme.Modes))]
	if maybe() && len(rec.Events) > 1 {
		p.SetEvent(r.IntN(len(rec.Events)))
	}
	for range r.IntN(3) {
		p.NextMetric()
	}
	if rec.HasTime {
		if maybe() {
			p.Fit(anyTime(), rec.End)
			p.ZoomAt(.3, 100)
		}
		if maybe() {
			p.SelectRange(anyTime(), anyTime())
		}
	}
	if maybe() {
		for range r.IntN(4) {
			p.ToggleTrack(r.IntN(len(rec.Tracks)+1) - 1)
		}
	}
	if maybe() && rec.Counts.Spans > 0 {
		q := []calls.Query{{Slowest: 3}, {Duration: recording.Range{From: 10e6, HasFrom: true}}, {Slowest: 1, Others: true}}[r.IntN(3)]
		p.Scope.Calls = &recording.CallSet{Text: q.String()}
	}
	if maybe() {
		p.Scope.Async, p.Scope.Idle = recording.Apart(recording.Aparts[1+r.IntN(2)]), recording.Apart(recording.Aparts[1+r.IntN(2)])
	}
	p.Scope.Async, p.Scope.Idle = []recording.Apart{"", recording.In}[r.IntN(2)], []recording.Apart{"", recording.In}[r.IntN(2)]
	p.Tab = workspace.Panels[r.IntN(len(workspace.Panels))].Name
	lookAtThreads(r, p)
	lookBelow(r, p)
	p.Dots, p.List = maybe(), view.List{}
	p.Assembly, p.Both, p.Syntax = maybe(), maybe(), []string{"", "go", "intel"}[r.IntN(3)]
	if maybe() {
		p.List = view.List{By: []string{"start", "-self", "thread"}[r.IntN(3)], Only: []string{"", "1us..", "a=b, self 1ms.."}[r.IntN(3)], Columns: [][]string{nil, {"start"}, {"start", "thread"}}[r.IntN(3)]}
	}
	p.SQL, p.Chart = []string{"", "SELECT name FROM threads", "SELEC"}[r.IntN(3)], maybe()
	p.Against = nil
	if r.IntN(4) == 0 && rec.HasTime {
		p.CompareRange(anyTime(), anyTime())
		if maybe() {
			p.ShowComparison()
		}
	}
	if maybe() && rec.HasTime {
		p.Goal, p.AtGoal = anyTime(), true
	}
	for range r.IntN(3) {
		m := view.Place{From: r.Int64N(1e9)}
		if m.To = m.From; maybe() {
			m.To += r.Int64N(1e9)
		}
		p.MarkList.Add(view.NewMark(m, []string{"", "why?", "a, b: c"}[r.IntN(3)]))
	}
	if maybe() {
		text := []string{"cart", "/^[a-m]/", "a b, c&d=e", "(", "ü"}[r.IntN(5)]
		p.SearchFor(text)
	}
	ts := []analyze.Transform{analyze.Transform{Op: analyze.OpInvert}, analyze.ByTime(), analyze.Transform{Op: analyze.OpCollapseRecursion}, analyze.Transform{Op: analyze.OpMergeByModule}, analyze.Transform{Op: analyze.OpMergeByFile}, analyze.Transform{Op: analyze.OpFoldInlined}, analyze.Transform{Op: analyze.OpHideKernel}}
	for range r.IntN(3) {
		p.Transform(ts[r.IntN(len(ts))])
	}
	if n := rec.Functions.Len(); maybe() && n > 1 {
		ref := analyze.RefTo(rec.Functions.At(r.IntN(n)))
		p.Transform([]analyze.Transform{analyze.Focus(ref), analyze.Transform{Op: analyze.OpHide, Ref: ref}, analyze.Transform{Op: analyze.OpDrop, Ref: ref}, analyze.CallersOf(ref), analyze.CalleesOf(ref), analyze.Transform{Op: analyze.OpCollapseRecursion, Ref: ref}}[r.IntN(6)])
	}
}

// lookAtThreads folds, hides, pins and orders threads at random.
func lookAtThreads(r *rand.Rand, p *workspace.Pane) {
	n := len(p.Rec.Tracks)
	if n == 0 {
		return
	}
	for range r.IntN(4) {
		i := r.IntN(n)
		switch r.IntN(7) {
		case 0:
			p.Folds[i] = []timeline.Fold{timeline.Full, timeline.Closed}[r.IntN(2)]
		case 1:
			p.Hide(i, true)
		case 2:
			p.TogglePin(i)
		case 3:
			p.Order = r.Perm(n)
		case 6:
			p.Groups[[]string{"main.work", "main.f,1"}[r.IntN(2)]] = r.IntN(2) == 0
		case 4:
			p.Closed[r.IntN(len(p.Rec.Processes)+1)-1] = true
		case 5:
			p.Sort, p.Filter = timeline.Sorts[r.IntN(len(timeline.Sorts))], []string{"", "work", "ü & co"}[r.IntN(3)]
		}
	}
}

// lookBelow changes the view of the lower half at random.
func lookBelow(r *rand.Rand, p *workspace.Pane) {
	maybe := func() bool { return r.IntN(3) == 0 }
	p.Up, p.Lists, p.Linear = maybe(), maybe(), maybe()
	if maybe() {
		p.Split = .1 + .8*r.Float32()
	}
	if maybe() {
		p.Table.By, p.Table.Ascending = functions.Column(r.IntN(int(functions.ColumnCount))), maybe()
	}
	if maybe() {
		p.Table.Hidden = functions.ColumnSet(r.IntN(1<<functions.ColumnCount)) &^ (1 << functions.ColName)
	}
	if maybe() {
		p.Table.Widths[r.IntN(int(functions.ColumnCount))] = 40 + 100*r.Float32()
	}
	p.Table.Group = []analyze.By{analyze.ByFunction, analyze.ByName, analyze.ByThread, "context:pid"}[r.IntN(4)]
}

// pickAnything selects a random function and zooms the flamegraph; it needs an answer.
func pickAnything(r *rand.Rand, s *Shell) {
	p := s.Pane
	tree := p.Doc.Answer().Tree
	if len(tree.Nodes) < 2 {
		return
	}
	defer p.FollowPick()
	if r.IntN(2) == 0 {
		n := 1 + r.IntN(len(tree.Nodes)-1)
		p.Pick = panel.Picked{Kind: panel.PickNode, Node: int32(n), Tree: tree, Fn: tree.Nodes[n].Func}
	}
	if r.IntN(2) == 0 {
		p.ZoomTo(panel.PathOf(p.Rec, tree, 1+r.IntN(len(tree.Nodes)-1)))
	}
	if r.IntN(3) == 0 && pickAnyBar(p, r) {
		return
	}
	if p.Tab == panel.Callers && r.IntN(2) == 0 {
		p.FollowPick()
		p.PutAround(p.Rec.Functions.At(r.IntN(p.Rec.Functions.Len())))
	}
}

// zoomSides zooms the callers and callees of a function if they are shown. It returns the
// number of zoomed sides.
func zoomSides(r *rand.Rand, p *workspace.Pane) (n int) {
	a := p.Doc.Answer()
	if p.Tab != panel.Callers || a.Above == nil {
		return 0
	}
	for i, t := range []*analyze.Tree{a.Above, a.Below} {
		if len(t.Nodes) > 2 {
			p.Sides[i] = panel.PathOf(p.Rec, t, 2+r.IntN(len(t.Nodes)-2))
			n++
		}
	}
	return n
}

// pickAnyBar selects a random span or bar of samples and reports whether it found one.
func pickAnyBar(p *workspace.Pane, r *rand.Rand) bool {
	if len(p.Rec.Tracks) == 0 {
		return false
	}
	i := r.IntN(len(p.Rec.Tracks))
	t := p.Rec.Tracks[i]
	if n := len(t.Lanes); n > 0 {
		lane := r.IntN(n)
		if h, ok := lanes.BarAt(t, i, lane, p.Rec.Start+r.Int64N(p.Rec.Duration())); ok {
			p.PickHit(h)
			return true
		}
		return false
	}
	for _, s := range t.Samples {
		if s.Event != p.Event || s.Len() == 0 {
			continue
		}
		if h, ok := p.SampleBarAt(i, r.IntN(3), r.IntN(s.Len()), s); ok {
			p.PickHit(h)
			return true
		}
	}
	return false
}

// same returns everything that an address must preserve of a pane, including all that
// undo restores.
func same(s *Shell) map[string]any {
	p := s.Pane
	l := p.Look
	f, is := p.PickedFunction()
	if len(l.Pinned) == 0 {
		l.Pinned = nil
	}
	if !l.Moved {
		l.View.From, l.View.To = 0, 0
	}
	l.Marks = slices.Clone(l.Marks)
	for i := range l.Marks {
		l.Marks[i].ID, l.Marks[i].Created = "", time.Time{}
	}
	if p.Tab != panel.Callers { // the next selected function takes their place
		l.Around, l.Sides = nil, [2][]recording.FuncName{}
	}
	tree := p.Doc.Answer().Tree
	where := any(nil)
	switch p.Pick.Kind {
	case panel.PickNode:
		where = tree.Path(int(p.Pick.Node))
	case panel.PickBar:
		where = []any{p.Pick.Hit.Track, p.Pick.Hit.Lane, p.Pick.Hit.Start, p.Pick.Hit.End, p.Pick.Hit.Call}
	}
	all := map[string]any{"parts": s.View, "colour": s.Mode, "fn": f, "picked": is, "where": where, "table": p.Table.TableShape,
		"total": tree.Nodes[0].Total, "nodes": len(tree.Nodes)}
	if p.Against != nil && p.Tab == panel.Difference { // table and zoom belong to the comparison
		delete(all, "table")
		l.Zoom = nil
	}
	for _, f := range reflect.VisibleFields(reflect.TypeOf(l)) {
		x := reflect.ValueOf(l).FieldByIndex(f.Index)
		if f.Anonymous {
			continue
		}
		if x.Kind() == reflect.Slice && x.Len() == 0 {
			x = reflect.Zero(x.Type())
		}
		all["look "+f.Name] = x.Interface()
	}
	return all
}

// TestEveryViewHasAnAddress checks that opening the address of a random view gives the
// same view.
func TestEveryViewHasAnAddress(t *testing.T) {
	rounds.Unraced(t)
	folded := filepath.Join(t.TempDir(), "f.folded")
	if err := os.WriteFile(folded, []byte("main;a;b 3\nmain;a;a;a;c 4\nmain 5\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	trace := traceFile(t)
	differ := map[string]bool{}
	zoomedSides := 0
	seeds := 240
	if testing.Short() {
		seeds = 24
	}
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 3))
		path := []string{view.Scheme + "1?file=demo:", trace, folded}[seed%3]
		s := New(theme.Dark)
		s.Open(path)
		if err := s.Finish(); err != nil {
			t.Fatal(err)
		}
		look(r, s)
		if seed%5 == 0 {
			s.Pane.Tab = panel.Callers // this tab has sides to zoom
		}
		if err := s.Finish(); err != nil {
			t.Fatal(err)
		}
		pickAnything(r, s)
		if err := s.Finish(); err != nil {
			t.Fatal(err)
		}
		zoomedSides += zoomSides(r, s.Pane)
		at := s.Address().String()
		want := same(s)

		back := New(theme.Dark)
		back.Open(at)
		if err := back.Finish(); err != nil {
			t.Fatalf("%s: %v", at, err)
		}
		got := same(back)
		for k := range want {
			if !reflect.DeepEqual(got[k], want[k]) {
				t.Errorf("seed %d: %s is %+v, was %+v, by way of %s", seed, k, got[k], want[k], at)
			}
		}
		if again := back.Address().String(); again != at {
			t.Errorf("seed %d: %s became %s", seed, at, again)
		}
		differ[at] = true
		s.Close()
		back.Close()
	}
	if zoomedSides < seeds/48 {
		t.Errorf("only %d sides of a function were zoomed", zoomedSides)
	}
	if len(differ) < seeds*2/5 {
		t.Errorf("there were only %d addresses", len(differ))
	}
}

func TestWhatAnAddressAsksForInVain(t *testing.T) {
	for _, ask := range []string{"thread=1:99", "event=nothing", "function=nothing", "zoom=nothing", "tab=nothing", "select=90000s..90001s", "future=1", "transform=melt"} {
		s := New(theme.Dark)
		s.Open(view.Scheme + "1?file=demo:&" + ask)
		if err := s.Finish(); err == nil {
			t.Errorf("%s: nobody is told", ask)
		}
		s.Close()
	}
}
