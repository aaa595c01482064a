package resident

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"ashlar/ingest"
	"ashlar/ingest/model/recording"
)

// reads returns a reader that counts how often files are read.
func reads(n *atomic.Int64) func(context.Context, string, ingest.Options) (*recording.Recording, ingest.Stats, error) {
	return func(ctx context.Context, path string, o ingest.Options) (*recording.Recording, ingest.Stats, error) {
		n.Add(1)
		return ingest.ReadAll(ctx, path, o)
	}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

// TestHeld checks that concurrent questions under different paths read a file once, and again
// only after it changed.
func TestHeld(t *testing.T) {
	var n atomic.Int64
	h := New(reads(&n), 0)
	defer h.Close()
	dir := t.TempDir()
	path := filepath.Join(dir, "run.folded")
	for i, text := range []string{"main;work 5\n", "main;work 77\n"} {
		write(t, path, text)
		var all sync.WaitGroup
		for k := range 16 {
			all.Go(func() {
				name, in := path, ""
				if k%2 == 0 {
					name, in = "run.folded", dir
				}
				rec, _, err := h.In(in)(t.Context(), name, ingest.Options{})
				if err != nil || rec.Source.Path != name || rec.Source.At(rec.Source.Path) != path {
					t.Errorf("%s of %q: %v", name, in, err)
				}
			})
		}
		all.Wait()
		if got := n.Load(); got != int64(i+1) {
			t.Errorf("it was read %d times after %d versions", got, i+1)
		}
	}
	if count(h) != 1 {
		t.Errorf("%d are held", count(h))
	}
	if _, _, err := h.In(dir)(t.Context(), "none", ingest.Options{}); err == nil || count(h) != 1 {
		t.Errorf("a file that is not there: %v, %d held", err, count(h))
	}
}

// TestLetGo checks that unused recordings are unloaded, and that reading stops when nobody
// waits for it.
func TestLetGo(t *testing.T) {
	var n atomic.Int64
	h := New(reads(&n), time.Millisecond)
	defer h.Close()
	path := filepath.Join(t.TempDir(), "run.folded")
	write(t, path, "main;work 5\n")
	if _, _, err := h.In("")(t.Context(), path, ingest.Options{}); err != nil {
		t.Fatal(err)
	}
	time.Sleep(5 * time.Millisecond)
	h.look()
	if count(h) != 0 {
		t.Error("it is held though nobody asks")
	}

	ended := make(chan error, 1)
	slow := New(func(ctx context.Context, _ string, _ ingest.Options) (*recording.Recording, ingest.Stats, error) {
		<-ctx.Done()
		ended <- ctx.Err()
		return nil, ingest.Stats{}, ctx.Err()
	}, 0)
	defer slow.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, _, err := slow.In("")(ctx, path, ingest.Options{}); !errors.Is(err, context.Canceled) {
		t.Errorf("who has given up gets %v", err)
	}
	if err := <-ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the reading ends with %v", err)
	}
}

// count returns the number of loaded recordings.
func count(h *Recordings) int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.all)
}
