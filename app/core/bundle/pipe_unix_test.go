//go:build unix

package bundle_test

import (
	"path/filepath"
	"syscall"
	"testing"

	"ashlar/app/core/bundle"
	"ashlar/ingest/format/store"
)

// TestPipe checks that a named pipe counts as no bundle, without waiting for a writer.
func TestPipe(t *testing.T) {
	pipe := filepath.Join(t.TempDir(), "x.ashlar")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if bundle.Views(pipe, pipe) != nil || bundle.Lines(pipe, "x") != nil {
		t.Error("a named pipe has views or lines")
	}
	if _, err := store.OpenSecond(pipe); err == nil {
		t.Error("a named pipe has a second recording")
	}
}
