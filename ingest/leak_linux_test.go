package ingest

import (
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"

	"ashlar/ingest/format/decode"
	"ashlar/testdata/rounds"
)

// resources counts the process's resources that a recording could leak.
type resources struct {
	goroutines, mappings, files int
	heap                        int64
}

func held(t *testing.T, dir string) resources {
	t.Helper()
	for range 2 {
		runtime.GC()
	}
	var r resources
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	r.heap = int64(m.HeapAlloc)
	r.goroutines = runtime.NumGoroutine()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	r.mappings = strings.Count(string(maps), dir)
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		if to, err := os.Readlink(l); err == nil && strings.HasPrefix(to, dir) {
			r.files++
		}
	}
	return r
}

// files writes recordings of every kind to disk, uncompressed (and so mapped) and
// compressed, and returns their paths.
func files(t *testing.T, dir string, records int64) []string {
	t.Helper()
	z, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	defer z.Close()
	var all []string
	for name, content := range made(t, records) {
		for path, b := range map[string][]byte{name: content, name + ".gz": gz(t, content), name + ".zst": z.EncodeAll(content, nil)} {
			path = filepath.Join(dir, path)
			if err := os.WriteFile(path, b, 0o600); err != nil {
				t.Fatal(err)
			}
			all = append(all, path)
		}
	}
	return all
}

// TestNothingIsLeft opens many recordings one after another and closes or cancels most of
// them at random moments. Afterwards, goroutines, mappings, open files and memory must be
// as before.
func TestNothingIsLeft(t *testing.T) {
	dir := t.TempDir()
	all := files(t, dir, rounds.Of(int64(5_000)))
	open := func(path string, after time.Duration, how int) {
		l := Open(context.Background(), path, Options{Options: decode.Options{Workers: 8}, ChunkSize: 50_000})
		switch how {
		case 0:
			if err := l.Wait(); err != nil {
				t.Error(err)
			}
		case 1:
			time.Sleep(after)
			l.Cancel()
			if err := l.Wait(); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
			}
		case 2:
			time.Sleep(after)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
	took := map[string]time.Duration{}
	for _, path := range all { // warm up: one-time allocations do not count
		began := time.Now()
		open(path, 0, 0)
		took[path] = time.Since(began)
	}
	before := held(t, dir)
	rng := rand.New(rand.NewPCG(1, 2))
	rounds := 150
	if testing.Short() {
		rounds = 45
	}
	for i := range rounds {
		path := all[i%len(all)]
		open(path, time.Duration(rng.Int64N(int64(took[path])+1)), i%3)
	}
	var after resources
	const mostLeft = 4 << 20
	for range 200 { // wait for goroutines that are still ending, and for what they held
		if after = held(t, dir); after.goroutines <= before.goroutines && after.heap-before.heap <= mostLeft {
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	if after.goroutines > before.goroutines || after.mappings > 0 || after.files > 0 {
		buf := make([]byte, 1<<16)
		t.Errorf("before %+v, after %+v\n%s", before, after, buf[:runtime.Stack(buf, true)])
	}
	if more := after.heap - before.heap; more > mostLeft {
		t.Errorf("%d bytes of memory are left of 150 recordings", more)
	}
}
