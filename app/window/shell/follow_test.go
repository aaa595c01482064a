package shell

import (
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"ashlar/app/core/view"
	"ashlar/app/window/panel"
	lanes "ashlar/app/window/timeline"
	"ashlar/app/window/workspace"
	"ashlar/ingest/model/recording"
	"ashlar/render/theme"
	"ashlar/render/timeline"
)

// chromeTrace writes spans of threads in the given order, which determines the numbers of
// threads and functions.
func chromeTrace(t *testing.T, path string, tids []int, spans int) {
	t.Helper()
	var b strings.Builder
	b.WriteString("[")
	for i := range spans {
		for _, tid := range tids {
			fmt.Fprintf(&b, `{"ph":"X","pid":7,"tid":%d,"name":"outer%d","ts":%d,"dur":90},{"ph":"X","pid":7,"tid":%d,"name":"inner%d","ts":%d,"dur":40},`+"\n", tid, tid, i*100, tid, i%3, i*100+20)
		}
	}
	b.WriteString(`{"ph":"M","name":"process_name","pid":7,"args":{"name":"app"}}]`)
	tmp := path + ".tmp"
	if err := os.WriteFile(tmp, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(tmp, path); err != nil {
		t.Fatal(err)
	}
}

// frames updates the pane as the window's frames do, until holds returns true.
func frames(t *testing.T, s *Shell, what string, holds func() bool) {
	t.Helper()
	for range 5000 {
		s.Tasks.Run()
		s.Pane.Update(&s.Workspace)
		if _, err := s.Pane.ResumeVisit(&s.Workspace); err != nil {
			t.Fatal(err)
		}
		if !s.Pane.Behind {
			s.Pane.Doc.Ask(s.Pane.Question())
		}
		if holds() {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Fatalf("waited for %s in vain", what)
}

// followed returns a shell that follows a trace of three threads, and the trace's path.
func followed(t *testing.T) (s *Shell, path string) {
	t.Helper()
	path = filepath.Join(t.TempDir(), "x.json")
	chromeTrace(t, path, []int{1, 2, 3}, 20)
	s = New(theme.Dark)
	t.Cleanup(s.Close)
	s.FollowFiles = true
	s.Open(path)
	if err := s.Finish(); err != nil {
		t.Fatal(err)
	}
	return s, path
}

// TestFollowingKeepsTheView checks that the view stays the same when a followed file is
// replaced by one in which threads and functions have other numbers.
func TestFollowingKeepsTheView(t *testing.T) {
	s, path := followed(t)
	p := s.Pane
	track := func(tid int64) int {
		for i, t := range p.Rec.Tracks {
			if t.TID == tid {
				return i
			}
		}
		return -1
	}
	p.ToggleTrack(track(2))
	p.SelectRange(p.Rec.Start+200e6, p.Rec.Start+700e6)
	p.Fit(p.Rec.Start+100e6, p.Rec.Start+900e6)
	p.Folds = lanes.With(p.Folds, track(2), timeline.Closed)
	p.Pinned = []int{track(3)}
	p.Hide(track(1), true)
	frames(t, s, "the answer", func() bool { a := p.Doc.Answer(); q := p.Question(); return a != nil && a.Answers(&q) })
	tree := p.Doc.Answer().Tree
	inner := workspace.NodeNamed(p.Doc.Answer(), recording.Function{Name: "inner1"}.FuncName())
	p.Pick = panel.Picked{Kind: panel.PickNode, Node: inner, Tree: tree, Fn: tree.Nodes[inner].Func}
	p.ZoomTo(panel.PathOf(p.Rec, tree, int(tree.Nodes[inner].Parent)))
	p.History.Push(p.Spot(&s.Workspace), s.ViewState())
	look := func() map[string]any {
		pl := p.Look
		f, _ := p.PickedFunction()
		m := map[string]any{"view": [2]int64{pl.View.From - p.Rec.Start, pl.View.To - p.Rec.Start}, "sel": [2]int64{pl.Scope.From - p.Rec.Start, pl.Scope.To - p.Rec.Start}, "fn": f.Name,
			"metric": p.MetricOf().Name}
		tids := func(of []int) (ids []int64) {
			for _, i := range of {
				ids = append(ids, p.Rec.Tracks[i].TID)
			}
			return ids
		}
		m["tracks"], m["pinned"] = tids(pl.Scope.Tracks), tids(pl.Pinned)
		for i := range pl.Folds {
			m["folded"] = p.Rec.Tracks[i].TID
		}
		for i := range pl.Hidden {
			m["hidden"] = p.Rec.Tracks[i].TID
		}
		m["zoom"] = pl.Zoom
		return m
	}
	want := look()
	chromeTrace(t, path, []int{9, 3, 2, 1}, 30) // new threads come first, so that numbers change
	old := p.Rec
	frames(t, s, "the new file", func() bool { return p.Rec != old })
	if len(p.Rec.Tracks) != 4 || track(2) == 1 {
		t.Fatalf("the threads have the same numbers: nothing is tested")
	}
	if got := look(); !reflect.DeepEqual(got, want) {
		t.Errorf("it is looked at as %v, was %v", got, want)
	}
	if a := p.Doc.Answer(); a.Rec != p.Rec || p.Pick.Tree != a.Tree {
		t.Error("what is picked is not of what is shown")
	}
	// Undo restores the view, translated to the new numbers.
	p.FitAll()
	s.Step(-1)
	if got := look(); !reflect.DeepEqual(got, want) {
		t.Errorf("undo leads to %v, was %v", got, want)
	}

	// A file without the selected threads is shown as a whole.
	chromeTrace(t, path, []int{50}, 5)
	old = p.Rec
	frames(t, s, "the third file", func() bool { return p.Rec != old })
	if p.Scope.Tracks != nil || p.Pick.Kind != panel.PickNone && p.Rec.Tracks[0].TID != 50 {
		t.Errorf("threads that are gone are selected: %v", p.Scope.Tracks)
	}
	s.ToggleFollow()
	if p.Doc.Following() {
		frames(t, s, "following to end", func() bool { return !p.Doc.Following() })
	}
}

// TestFollowingKeepsWhatIsComparedInPlace replaces a followed file while two parts of it
// are compared. The parts are found again by name, marks stay, and Esc restores the view
// from before the comparison.
func TestFollowingKeepsWhatIsComparedInPlace(t *testing.T) {
	s, path := followed(t)
	b := &bench{t: t, Shell: s, now: time.Unix(1e9, 0)}
	b.frame()
	p := s.Pane
	tids := func(in *recording.Scope) (ids []int64) {
		if in == nil {
			return nil
		}
		for _, i := range in.Tracks {
			ids = append(ids, p.Rec.Tracks[i].TID)
		}
		return ids
	}
	track := func(tid int64) int {
		return slices.IndexFunc(p.Rec.Tracks, func(t *recording.Track) bool { return t.TID == tid })
	}
	p.Pinned = []int{track(3)}
	p.Scope = p.Scope.On([]int{track(1)})
	b.settled()
	p.MarkList.Add(view.NewMark(view.Place{From: 100e6, To: 200e6}, "here"))
	p.CompareTracks([]int{track(2)})
	b.settled()
	if p.ScopeComparison == nil || p.Verdict() == "" {
		t.Fatal("nothing is compared")
	}
	a := p.ScopeComparison.Answer()
	p.ScopeComparison.Choose(a, 0)
	chosen, verdict := *p.ScopeComparison.Chosen, p.Verdict()
	marks := len(p.Marks)
	old := p.Rec
	chromeTrace(t, path, []int{9, 3, 2, 1}, 30)
	frames(t, s, "the new file", func() bool { return p.Rec != old })
	b.settled()
	if got := [2][]int64{tids(&p.Scope), tids(p.Against)}; !reflect.DeepEqual(got, [2][]int64{{1}, {2}}) {
		t.Errorf("the threads %v are compared", got)
	}
	if p.ScopeComparison == nil || p.ScopeComparison.Chosen == nil || *p.ScopeComparison.Chosen != chosen || len(p.Marks) != marks || marks == 0 {
		t.Errorf("what was marked is gone: %+v, %v", p.ScopeComparison, p.Marks)
	}
	if p.Verdict() == "" || p.Verdict() == verdict && a.Compared == p.ScopeComparison.Answer().Compared {
		t.Errorf("of the new file it says %q", p.Verdict())
	}
	p.EndScopeComparison()
	b.settled()
	if got := tids(&p.Scope); !reflect.DeepEqual(got, []int64{1}) || p.Against != nil || len(p.Pinned) != 1 || p.Rec.Tracks[p.Pinned[0]].TID != 3 || len(p.Marks) != marks {
		t.Errorf("back, threads %v are selected and %v pinned, with %d marks", got, p.Pinned, len(p.Marks))
	}
	s.ToggleFollow()
	if p.Doc.Following() {
		frames(t, s, "following to end", func() bool { return !p.Doc.Following() })
	}
}
