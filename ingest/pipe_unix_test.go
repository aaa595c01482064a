//go:build unix

package ingest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/sys/unix"
)

func TestNamedPipe(t *testing.T) {
	dir := t.TempDir()
	path, silent := filepath.Join(dir, "pipe"), filepath.Join(dir, "silent")
	for _, p := range []string{path, silent} {
		if err := unix.Mkfifo(p, 0o600); err != nil {
			t.Skip(err)
		}
	}
	// Nothing writes to this pipe: Close must not wait for a writer.
	l := Open(context.Background(), silent, Options{})
	l.Close()
	if err := l.Err(); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}

	b := spallFile(20_000)
	ring, heard := bell()
	l = Open(context.Background(), path, Options{Notify: ring})
	defer l.Close()
	w, err := os.OpenFile(path, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	// The first half is shown completely before the second is written.
	if _, err := w.Write(b[:len(b)/2]); err != nil {
		t.Fatal(err)
	}
	for l.Snapshot().Counts.Spans < 9_999 {
		<-heard
	}
	if l.Snapshot().Done {
		t.Error("done before the end")
	}
	if p := l.Progress(); p.Total != -1 || p.Left >= 0 || p.Done {
		t.Errorf("progress %+v", p)
	}
	if _, err := w.Write(b[len(b)/2:]); err != nil {
		t.Fatal(err)
	}
	w.Close()
	if err := l.Wait(); err != nil {
		t.Fatal(err)
	}
	if n := l.Snapshot().Counts.Spans; n != 20_000 {
		t.Errorf("%d spans", n)
	}
}
