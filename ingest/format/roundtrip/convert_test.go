// Package roundtrip tests that recordings survive conversion from each format to each other one.
package roundtrip

import (
	"context"
	"errors"
	"testing"

	"ashlar/ingest"
	"ashlar/ingest/format/encode"
)

func TestFormatFor(t *testing.T) {
	for name, want := range map[string]string{
		"a.spaa": "spaa", "A.SPAA.ZST": "spaa", "x.spaa.gz": "spaa", "x.pb.gz": "pprof", "x.pprof": "pprof", "x.otlp": "otlp",
		"x.folded": "folded", "x.json": "chrome", "x.json.gz": "chrome", "x.spall": "spall",
	} {
		if got, err := ingest.FormatFor(name); err != nil || got.Name != want {
			t.Errorf("%s is %v, %v", name, got, err)
		}
	}
	for _, name := range []string{"", "spaa", "x.png", "x.gz", "x.spaa.png"} {
		if got, err := ingest.FormatFor(name); err == nil {
			t.Errorf("%q is %s", name, got.Name)
		}
	}
}

// failing is a writer that fails after left bytes.
type failing struct{ left int }

var errFull = errors.New("the disk is full")

func (f *failing) Write(b []byte) (int, error) {
	if f.left -= len(b); f.left < 0 {
		return 0, errFull
	}
	return len(b), nil
}

// TestWriteFails checks that write errors and the context's error are returned, for every
// format.
func TestWriteFails(t *testing.T) {
	rec := madeTrace(t)
	for _, name := range targetFiles {
		target, err := ingest.FormatFor(name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := target.Write(context.Background(), &failing{left: 10}, name, rec, encode.Options{}); !errors.Is(err, errFull) {
			t.Errorf("%s: error %v", name, err)
		}
		ctx, cancel := context.WithCancel(context.Background())
		cancel()
		if _, err := target.Write(ctx, &failing{left: 1 << 30}, name, rec, encode.Options{}); !errors.Is(err, context.Canceled) {
			t.Errorf("%s: cancelled, error %v", name, err)
		}
	}
}
