package ingest

import (
	"context"
	"fmt"
	"io"
	"os"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"ashlar/ingest/input/source"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/gen/synth"
	"ashlar/testdata/rounds"
)

// generated returns a synthetic recording of a kind.
func generated(t *testing.T, kind string, records int64) []byte {
	t.Helper()
	return synthesized(t, synth.Options{Kind: kind, Records: records})
}

// perfText returns the output of perf script for a real program.
func perfText(t *testing.T) []byte {
	t.Helper()
	b, err := os.ReadFile("../testdata/recorded/before.perf.zst")
	if err != nil {
		t.Fatal(err)
	}
	z, err := zstd.NewReader(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	text, err := z.DecodeAll(b, nil)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

// TestSilentPipe checks that all of the data received is shown when a pipe falls silent in
// the middle of a recording.
func TestSilentPipe(t *testing.T) {
	for name, c := range map[string]struct {
		content []byte
		count   func(r *recording.Recording) int64
	}{
		"chrome":     {generated(t, "chrome", 20_000), func(r *recording.Recording) int64 { return r.Counts.Spans }},
		"spall1":     {generated(t, "spall1", 20_000), func(r *recording.Recording) int64 { return r.Counts.Spans }},
		"spaa":       {generated(t, "spaa", 50_000), func(r *recording.Recording) int64 { return r.Counts.Samples + r.Counts.Stacks }},
		"folded":     {generated(t, "folded", 5_000), func(r *recording.Recording) int64 { return r.Counts.Stacks }},
		"perfscript": {perfText(t), func(r *recording.Recording) int64 { return r.Counts.Samples }},
		"perfscript, the flamegraph": {perfText(t), func(r *recording.Recording) int64 {
			if len(r.Events) == 0 {
				return 0
			}
			return r.Events[0].Metrics[0].Total
		}},
	} {
		for _, share := range []int{2, 5}[:rounds.Size(2, 1)] {
			t.Run(fmt.Sprintf("%s, one in %d", name, share), func(t *testing.T) {
				part := c.content[:len(c.content)/share]
				alone := OpenInput(context.Background(), source.FromBytes("part", part), Options{})
				defer alone.Close()
				if err := alone.Wait(); err != nil {
					t.Fatal(err)
				}
				// All except the last record, which is cut, and the few spans that have not
				// ended.
				want := c.count(alone.Snapshot())*98/100 - 1
				if want < 10 {
					t.Fatalf("only %d in the part", want)
				}
				r, w := io.Pipe()
				ring, heard := bell()
				l := OpenInput(context.Background(), source.FromReader("pipe", r), Options{Notify: ring})
				defer l.Close()
				defer w.Close()
				if _, err := w.Write(part); err != nil {
					t.Fatal(err)
				}
				timeout := time.After(20 * time.Second)
				for c.count(l.Snapshot()) < want {
					select {
					case <-heard:
					case <-timeout:
						t.Fatalf("%d of %d are shown while the pipe is silent", c.count(l.Snapshot()), want)
					}
				}
				if l.Snapshot().Done {
					t.Error("done before the end")
				}
			})
		}
	}
}
