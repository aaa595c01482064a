package ingest

import (
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"ashlar/testdata/gen/synth"
	"ashlar/testdata/rounds"
)

// TestHold checks that reading pauses after the first snapshot until Options.Hold is
// closed, and continues after a while even if it never is.
func TestHold(t *testing.T) {
	path := filepath.Join(t.TempDir(), "held.spall")
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	sum, err := synth.Write(f, synth.Options{Kind: "spall1", Records: rounds.Size(int64(2_000_000), 400_000)})
	if err = errors.Join(err, f.Close()); err != nil {
		t.Fatal(err)
	}
	hold := make(chan struct{})
	held := time.Now()
	l := Open(t.Context(), path, Options{Hold: hold})
	defer l.Close()
	<-l.Begun()
	first := l.Snapshot()
	// On a busy machine, the maximum pause of a quarter of a second may be over already.
	late := func() bool { return time.Since(held) > 200*time.Millisecond }
	if first.Counts.Spans == 0 || first.Done && !late() {
		t.Fatalf("the first snapshot has %d spans, done %v", first.Counts.Spans, first.Done)
	}
	time.Sleep(50 * time.Millisecond)
	if now := l.Snapshot(); now != first && !late() {
		t.Errorf("while it is held, %d spans become %d", first.Counts.Spans, now.Counts.Spans)
	}
	close(hold)
	if err := l.Wait(); err != nil {
		t.Fatal(err)
	}
	if n := l.Snapshot().Counts.Spans; n != sum.Spans {
		t.Errorf("%d spans in the end, not %d", n, sum.Spans)
	}

	forgotten := Open(t.Context(), path, Options{Hold: make(chan struct{})})
	defer forgotten.Close()
	if err := forgotten.Wait(); err != nil {
		t.Fatal(err)
	}
	if n := forgotten.Snapshot().Counts.Spans; n != sum.Spans {
		t.Errorf("%d spans where the hold is never let go, not %d", n, sum.Spans)
	}
}
