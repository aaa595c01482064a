package shell

import (
	"image"
	"os"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"gioui.org/io/input"
	"gioui.org/layout"
	"gioui.org/op"
	"gioui.org/unit"

	"ashlar/ingest/model/recording"
	"ashlar/render/theme"
	"ashlar/testdata/gen/synth"
)

// TestRecordingIsGivenUp checks that opening another recording frees the previous one,
// because memory may not hold both.
func TestRecordingIsGivenUp(t *testing.T) {
	path := filepath.Join(t.TempDir(), "x.spall")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := synth.Write(f, synth.Options{Kind: "spall1", Records: 200_000}); err != nil {
		t.Fatal(err)
	}
	f.Close()
	s := New(theme.Dark)
	defer s.Close()
	var router input.Router
	var ops op.Ops
	frame := func() {
		ops.Reset()
		s.Layout(layout.Context{Ops: &ops, Now: time.Now(), Source: router.Source(),
			Metric: unit.Metric{PxPerDp: 1, PxPerSp: 1}, Constraints: layout.Exact(image.Pt(1280, 720))})
		router.Frame(&ops)
	}
	// show opens the file and returns a channel that is closed once its recording is
	// freed.
	show := func(open func()) <-chan struct{} {
		open()
		if err := s.Pane.Doc.Wait(); err != nil {
			t.Fatal(err)
		}
		for range 3 {
			frame()
		}
		for s.Pane.Doc.Answer() == nil {
			time.Sleep(time.Millisecond)
		}
		frame()
		gone := make(chan struct{})
		runtime.AddCleanup(s.Pane.Rec, func(c chan struct{}) { close(c) }, gone)
		return gone
	}
	gone := show(func() { s.Open(path) })
	show(func() { // as the command does, with a list over the window meanwhile
		s.askPart()
		frame()
		s.Chooser = nil
		s.OpenPart(path, recording.Part{Threads: []string{"1"}})
	})
	for range 1000 {
		runtime.GC()
		select {
		case <-gone:
			return
		case <-time.After(5 * time.Millisecond):
			frame()
		}
	}
	t.Error("the recording that was shown before is still held")
}
