package shell

import (
	"image"
	"path/filepath"
	"testing"
	"time"

	"gioui.org/io/input"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/unit"

	"ashlar/ingest/model/recording"
	"ashlar/render/theme"
)

// TestFollowingBoth rewrites first B, then A, with threads in another order. The
// comparison must use the new files and keep its view.
func TestFollowingBoth(t *testing.T) {
	dir := t.TempDir()
	paths := [2]string{filepath.Join(dir, "a.json"), filepath.Join(dir, "b.json")}
	for _, path := range paths {
		chromeTrace(t, path, []int{1, 2, 3}, 20)
	}
	s := New(theme.Dark)
	defer s.Close()
	s.FollowFiles = true
	s.Open(paths[0])
	s.OpenBeside(paths[1])
	c := s.Versus
	var router input.Router
	var ops op.Ops
	until := func(what string, holds func() bool) {
		t.Helper()
		for range 5000 {
			ops.Reset()
			s.Layout(layout.Context{Ops: &ops, Now: time.Now(), Source: router.Source(),
				Metric: unit.Metric{PxPerDp: 1, PxPerSp: 1}, Constraints: layout.Exact(image.Pt(1200, 700))})
			router.Frame(&ops)
			if a := c.Answer(); a != nil && c.IsCurrent(a) && a.ConfidencesDone && a.Recs == [2]*recording.Recording(c.Recs()) && holds() {
				return
			}
			time.Sleep(5 * time.Millisecond)
		}
		t.Fatalf("waited for %s in vain", what)
	}
	count := func(side int) int64 { return c.Answer().Recs[side].Counts.Spans }
	until("the comparison", func() bool { return c.Panes[0].Rec.Done && c.Panes[1].Rec.Done })
	tid := func(side int) (ids []int64) {
		for _, i := range c.Panes[side].Scope.Tracks {
			ids = append(ids, c.Panes[side].Rec.Tracks[i].TID)
		}
		return ids
	}

	// Select thread 2 from 200 to 700 µs, zoom, and select a function.
	a := c.Panes[0]
	for i, tr := range a.Rec.Tracks {
		if tr.TID == 2 {
			a.ToggleTrack(i)
		}
	}
	a.SelectRange(a.Rec.Start+200e6, a.Rec.Start+700e6)
	a.Fit(a.Rec.Start+100e6, a.Rec.Start+900e6)
	until("the selection", func() bool { return c.Panes[1].Scope.Ranged && len(tid(1)) == 1 })
	c.Choose(c.Answer(), 0)
	until("the mark", func() bool { return true })
	chosen, view, sel := *c.Chosen, c.Panes[1].View, c.Panes[1].Scope

	for i, side := range []int{1, 0} {
		was := c.Panes[side].Rec
		chromeTrace(t, paths[side], []int{9, 3, 2, 1}, 30)
		until("the new file", func() bool { return c.Panes[side].Rec != was && count(side) == 4*30*2 })
		if len(tid(0)) != 1 || tid(0)[0] != 2 || len(tid(1)) != 1 || tid(1)[0] != 2 {
			t.Errorf("step %d: selected are threads %v and %v", i, tid(0), tid(1))
		}
		b := c.Panes[1]
		if b.View.From-b.Rec.Start != view.From-was.Start && side == 1 || b.Scope.To-b.Scope.From != sel.To-sel.From {
			t.Errorf("step %d: B shows %+v with %+v selected, was %+v with %+v", i, b.View, b.Scope, view, sel)
		}
		if c.Chosen == nil || *c.Chosen != chosen {
			t.Errorf("step %d: %v is marked, was %v", i, c.Chosen, chosen)
		}
	}
	s.ToggleFollow()
	until("following to end", func() bool { return !a.Doc.Following() && !c.Panes[1].Doc.Following() })
}
