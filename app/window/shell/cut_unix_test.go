//go:build unix

package shell

import (
	"bytes"
	"image"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gioui.org/io/input"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/unit"

	"ashlar/app/core/cache"
	"ashlar/app/core/session"
	"ashlar/app/core/settings"
	"ashlar/render/theme"
	"ashlar/testdata/gen/synth"
)

// TestKeptRecordingIsCut truncates a cached recording while the window shows it: the
// program must not crash, the window must learn of the fault, and reopening must give the
// same answer.
func TestKeptRecordingIsCut(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	if _, err := synth.Write(&b, synth.Options{Kind: "chrome", Bytes: 1_200_000, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	path, old := filepath.Join(dir, "trace.json"), time.Now().Add(-time.Hour)
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond) // recently changed files are not cached
	kept := cache.In(filepath.Join(dir, "kept"), settings.CacheSettings{Least: 1, Free: 1})
	defer kept.Close()
	var router input.Router
	var ops op.Ops
	frame := func(s *Shell) bool {
		ops.Reset()
		whole := session.Guarded(func() {
			s.Layout(layout.Context{Ops: &ops, Now: time.Now(), Source: router.Source(),
				Metric: unit.Metric{PxPerDp: 1, PxPerSp: 1}, Constraints: layout.Exact(image.Pt(1280, 720))})
		})
		if !whole {
			ops.Reset()
		}
		router.Frame(&ops)
		return whole
	}
	show := func(s *Shell) int64 {
		t.Helper()
		if err := s.Pane.Doc.Wait(); err != nil {
			t.Fatal(err)
		}
		for range 5000 {
			if a := s.Pane.Doc.Answer(); frame(s) && a != nil && a.Rec.Done {
				return a.Tree.Nodes[0].Total
			}
			time.Sleep(time.Millisecond)
		}
		t.Fatal("there is no answer")
		return 0
	}
	for i := range 2 {
		s := New(theme.Dark)
		defer s.Close()
		s.Cache = kept
		s.Open(path)
		want := show(s)
		kept.Wait()
		stores, err := filepath.Glob(filepath.Join(dir, "kept", "*.ashlar"))
		if err != nil || len(stores) != 1 {
			t.Fatalf("kept are %v: %v", stores, err)
		}
		if i == 0 {
			continue // the first round only fills the cache
		}
		if err := os.Truncate(stores[0], 4096); err != nil {
			t.Fatal(err)
		}
		session.TakeFault()
		s.Pane.View.To -= s.Pane.View.Span() / 3
		q := s.Pane.Question()
		q.Scope.From, q.Scope.To, q.Scope.Ranged = s.Pane.Rec.Start+1, s.Pane.Rec.End-1, true
		s.Pane.Doc.Ask(q)
		fault := error(nil)
		for range 1000 {
			frame(s)
			if fault = session.TakeFault(); fault != nil {
				break
			}
			time.Sleep(time.Millisecond)
		}
		if fault == nil {
			t.Fatal("nobody was told")
		}
		got := int64(-1)
		// Background work on the old file may fault again.
		for tries := 0; fault != nil; fault = session.TakeFault() {
			if tries++; tries > 5 || !session.Guarded(func() { s.Reopen(fault) }) {
				t.Fatal("it cannot be opened anew")
			}
			got = show(s)
		}
		if got != want {
			t.Errorf("opened anew it is %d, want %d", got, want)
		}
	}
}
