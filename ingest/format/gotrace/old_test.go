package gotrace

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/ingest/format/decode/decodetest"
)

// TestOld compares the Go team's test traces from before Go 1.22 with Go's own tool.
func TestOld(t *testing.T) {
	files, err := filepath.Glob(filepath.Join(decodetest.GoRoot(t), "src", "internal", "trace", "internal", "tracev1", "testdata", "*_good"))
	if err != nil {
		t.Fatal(err)
	}
	if len(files) == 0 {
		t.Skip("the source of Go is not here")
	}
	for i, file := range files {
		if testing.Short() && i%4 != 0 {
			continue
		}
		content, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r, err := decodeBytes(t, content, 0)
		if err != nil || len(r.Warnings) > 0 {
			t.Fatal(file, err, r.Warnings)
		}
		want, got := naive(t, content), told(t, r)
		want["RangeBegin"] += want["RangeActive"]
		delete(want, "RangeActive")
		for k, n := range want {
			if k == "RegionBegin" && got[k] > n {
				continue // the regions that began before the trace are counted too
			}
			// The reader's conversion of old times differs by some nanoseconds each time.
			if off := got[k] - n; off != 0 && (!strings.HasPrefix(k, "G") || max(off, -off) > 100) {
				t.Errorf("%s: %s: %d, want %d", file, k, got[k], n)
			}
		}
		if len(want) < 10 {
			t.Errorf("%s: the tool says little: %v", file, want)
		}
	}
}
