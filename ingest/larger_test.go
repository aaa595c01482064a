package ingest

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"ashlar/ingest/format/store"
	"ashlar/ingest/input/source"
	"ashlar/testdata/gen/synth"
)

// TestColumnsInAFile reads a recording whose columns take several times the available
// memory, and checks that it is complete and the same as with enough memory.
func TestColumnsInAFile(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: ", store.ErrNoArena)
	}
	if testing.Short() {
		t.Skip("SKIPPED: reads eight million spans three times; runs without the race detector")
	}
	for _, tt := range []struct {
		o     synth.Options
		limit int64
	}{
		{synth.Options{Kind: "spall1", Records: 8_000_000, Seed: 7}, 48 << 20},
	} {
		t.Run(tt.o.Kind, func(t *testing.T) {
			content := synthesized(t, tt.o)
			read := func(o Options) *Load {
				runtime.GC() // otherwise garbage counts as free memory
				l := OpenInput(context.Background(), source.FromBytes("made", content), o)
				if err := l.Wait(); err != nil {
					t.Fatal(err)
				}
				return l
			}
			all := read(Options{})
			defer all.Close()
			cut := read(Options{MemoryLimit: tt.limit})
			defer cut.Close()
			if !cut.Stats().Full {
				t.Fatalf("it fits into %d bytes: %+v", tt.limit, cut.Snapshot().Counts)
			}
			dir := filepath.Join(t.TempDir(), "scratch")
			l := read(Options{MemoryLimit: tt.limit, Scratch: dir})
			defer l.Close()
			if l.Stats().Full || len(l.Snapshot().Warnings) != len(all.Snapshot().Warnings) {
				t.Fatalf("it stops all the same: %+v", l.Snapshot().Warnings)
			}
			want, got := fingerprintOf(all.Snapshot()), fingerprintOf(l.Snapshot())
			for _, part := range callParts {
				delete(want, part)
				delete(got, part)
			}
			if d := want.difference(got); d != "" {
				t.Error("different", d)
			}
			var b bytes.Buffer
			if err := store.Write(&b, l.Snapshot(), nil, false); err != nil {
				t.Error(err)
			}
			if left, _ := os.ReadDir(dir); len(left) != 0 {
				t.Errorf("files are left: %v", left)
			}
		})
	}
}
