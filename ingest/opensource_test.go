package ingest_test

import (
	"path/filepath"
	"testing"

	"ashlar/ingest"
)

func TestNameOf(t *testing.T) {
	for path, want := range map[string]string{
		filepath.Join("a", "b.json"): "b.json",
		filepath.Join("data", "recordings", "recording=go.trace", "rows.parquet"):         "go.trace",
		filepath.Join("data", "spans", "recording=go.trace", "rows.parquet"):              "rows.parquet",
		filepath.Join("data", "recordings", "recording=go.trace", "other.parquet"):        "other.parquet",
		filepath.Join("data", "recordings", "day=1", "recording=x.pb.gz", "rows.parquet"): "rows.parquet",
	} {
		if got := ingest.NameOf(path); got != want {
			t.Errorf("%s is %q, want %q", path, got, want)
		}
	}
}
