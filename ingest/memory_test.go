package ingest

import (
	"context"
	"runtime"
	"strings"
	"testing"

	"ashlar/ingest/model/recording"
	"ashlar/testdata/rounds"
)

func warning(r *recording.Recording, code string) string {
	for _, w := range r.Warnings {
		if w.Code == code {
			return w.Text
		}
	}
	return ""
}

func TestLargerThanMemory(t *testing.T) {
	const n = 1_000_000 // about 22 MB
	path := write(t, "x.spall", spallFile(n))
	for _, limit := range []int64{6 << 20, 12 << 20}[:rounds.Size(2, 1)] {
		runtime.GC() // garbage of earlier tests must not count as free memory
		l := Open(context.Background(), path, Options{MemoryLimit: limit})
		if err := l.Wait(); err != nil {
			t.Fatal(err)
		}
		r := l.Snapshot()
		l.Close()
		// The guard also counts the batches being decoded.
		if most := limit/20 + n/10; !r.Done || r.Counts.Spans < 10_000 || r.Counts.Spans > most {
			t.Errorf("%d spans within %d bytes", r.Counts.Spans, limit)
		}
		if text := warning(r, "failed"); !strings.Contains(text, path+": the file has ") || !strings.Contains(text, "fill all available memory (") || !strings.Contains(text, "), the rest was not read") {
			t.Errorf("warning %q", text)
		}
		if text := warning(r, "failed"); !strings.Contains(text, "--range START..END (read up to 0.") || !l.Stats().Full {
			t.Errorf("no way to another part: %q", text)
		}
		if text := warning(r, warnMemory); !strings.Contains(text, "reading will stop after about ") {
			t.Errorf("foretold %q", text)
		}
		if w := r.SpanTime; len(w) < 2 || w[1] != (r.Counts.Spans-r.Counts.Unfinished)*1e6 {
			t.Errorf("what was read is not whole: %v of %+v", w, r.Counts)
		}
	}
	if rounds.Raced { // the rest reads files in the ordinary way
		return
	}
	// A part that fits into memory, far after the place where reading stopped.
	runtime.GC()
	part := recording.Part{Range: recording.Offsets(1.8e12, 1.81e12)}
	r, stats, err := ReadAll(context.Background(), path, Options{MemoryLimit: 6 << 20, Part: part})
	if err != nil || stats.Full || r.Counts.Spans != 5001 || warning(r, "part") == "" {
		t.Errorf("a part: %v %+v %v", err, r.Counts, r.Warnings)
	}
	r, _, err = ReadAll(context.Background(), path, Options{MemoryLimit: 1 << 30})
	if err != nil || r.Counts.Spans != n || len(r.Warnings) > 0 {
		t.Errorf("with enough: %v %v %v", err, r.Counts.Spans, r.Warnings)
	}
}
