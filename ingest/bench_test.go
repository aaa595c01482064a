package ingest

import (
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkLoad completely loads every recording in the folder ASHLAR_BENCH_DIR, including
// its detail levels.
func BenchmarkLoad(b *testing.B) {
	dir := os.Getenv("ASHLAR_BENCH_DIR")
	if dir == "" {
		b.Skip("ASHLAR_BENCH_DIR is not set")
	}
	files, err := filepath.Glob(filepath.Join(dir, "*.*"))
	if err != nil {
		b.Fatal(err)
	}
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil || filepath.Ext(file) == ".json" && info.Size() < 1<<20 {
			continue // the generator's summary of a recording
		}
		b.Run(filepath.Base(file), func(b *testing.B) {
			b.ReportAllocs()
			b.SetBytes(info.Size())
			var spans int64
			var peak int64
			for b.Loop() {
				l := Open(b.Context(), file, Options{})
				if err := l.Wait(); err != nil {
					b.Fatal(err)
				}
				spans += l.Snapshot().Counts.Spans
				peak = l.Stats().PeakRSS
				l.Close()
			}
			b.ReportMetric(float64(spans)/b.Elapsed().Seconds()/1e6, "Mspans/s")
			b.ReportMetric(float64(peak)/(1<<20), "peak-MB")
		})
	}
}
