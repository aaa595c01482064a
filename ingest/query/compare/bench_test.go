package compare

import (
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"testing"

	"ashlar/ingest"
	"ashlar/ingest/format/store"
	"ashlar/ingest/model/recording"
)

// benchPair opens the recordings named by ASHLAR_BENCH_FILE and ASHLAR_BENCH_FILE_B, or
// makes two.
func benchPair(b *testing.B) (x, y *recording.Recording) {
	if f, g := os.Getenv("ASHLAR_BENCH_FILE"), os.Getenv("ASHLAR_BENCH_FILE_B"); f != "" && g != "" {
		read := func(path string) *recording.Recording {
			rec, _, err := ingest.ReadAll(bg, path, ingest.Options{})
			if err != nil {
				b.Fatal(err)
			}
			return rec
		}
		return read(f), read(g)
	}
	return traced(1, 100_000, 1, 3), traced(2, 100_000, 1.02, 3)
}

// BenchmarkCompare measures the time to the first differential flamegraph, and to the
// confidences of the table and of the tree. MB is the memory allocated.
func BenchmarkCompare(b *testing.B) {
	x, y := benchPair(b)
	measure := func(b *testing.B, do func() error) {
		var m runtime.MemStats
		runtime.ReadMemStats(&m)
		had := m.TotalAlloc
		n := 0
		for b.Loop() {
			if err := do(); err != nil {
				b.Fatal(err)
			}
			n++
		}
		runtime.ReadMemStats(&m)
		b.ReportMetric(float64(m.TotalAlloc-had)/1e6/float64(n), "MB")
	}
	var c *Comparison
	b.Run("first", func(b *testing.B) {
		measure(b, func() (err error) {
			if c, err = Compare(bg, []Input{{Rec: x}}, []Input{{Rec: y}}, Options{}); err == nil {
				_, err = c.Table(bg, ByFunction, false)
				c.Tree.Shape(WidthLarger)
			}
			return err
		})
	})
	// Both open stored recordings; "visited" ones lack the stored durations, so all spans
	// are visited.
	for _, name := range []string{"stored", "visited"} {
		b.Run(name, func(b *testing.B) {
			path := [2]string{filepath.Join(b.TempDir(), "a"), filepath.Join(b.TempDir(), "b")}
			for i, rec := range []*recording.Recording{x, y} {
				whole := *rec
				if whole.Durations = nil; name == "stored" {
					var err error
					if whole.Durations, err = SumDurations(bg, rec); err != nil {
						b.Fatal(err)
					}
				}
				f, err := os.Create(path[i])
				if err == nil {
					err = errors.Join(store.Write(f, &whole, nil, true), f.Close())
				}
				if err != nil {
					b.Fatal(err)
				}
			}
			open := func(path string) (Input, error) {
				f, err := os.Open(path)
				if err != nil {
					return Input{}, err
				}
				defer f.Close()
				s, err := store.Open(b.Context(), f)
				if err != nil {
					return Input{}, err
				}
				return Input{Rec: s.Recording}, nil
			}
			measure(b, func() error {
				one, err := open(path[0])
				other, err2 := open(path[1])
				if err = errors.Join(err, err2); err != nil {
					return err
				}
				c, err := Compare(bg, []Input{one}, []Input{other}, Options{})
				if err == nil {
					_, err = c.Table(bg, ByFunction, true)
				}
				return err
			})
		})
	}
	b.Run("sum", func(b *testing.B) {
		measure(b, func() error {
			_, err := SumDurations(bg, x)
			return err
		})
	})
	b.Run("sure", func(b *testing.B) {
		measure(b, func() error {
			_, _, err := c.NodeConfidences(bg, ByFunction)
			return err
		})
	})
}
