package cache

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	appstore "ashlar/app/core/settings"
	"ashlar/ingest"
	"ashlar/ingest/format/decode"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/gen/synth"
)

// aFile writes a trace of about 1.2 MB. Each seed gives a different trace.
func aFile(t *testing.T, dir string, seed uint64) string {
	t.Helper()
	var b bytes.Buffer
	if _, err := synth.Write(&b, synth.Options{Kind: "chrome", Bytes: 1_200_000, Seed: seed}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, fmt.Sprintf("trace%d.json", seed))
	if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
		t.Fatal(err)
	}
	return path
}

// in returns a cache for files from 1 MB on, on an empty disk.
func in(dir string) *Cache {
	c := In(dir, appstore.CacheSettings{Least: 1})
	c.free = func(string) (int64, int64, bool) { return 1 << 40, 1 << 40, true }
	return c
}

// read reads a file and waits until it is cached. was reports whether it was cached before.
func read(t *testing.T, c *Cache, path string) (rec *recording.Recording, was bool) {
	t.Helper()
	time.Sleep(2 * settled) // a file written just now is not cached
	rec, stats, err := ingest.ReadAll(context.Background(), path, ingest.Options{Cache: c})
	if err != nil {
		t.Fatal(err)
	}
	c.Wait()
	return rec, stats.Bytes == 0
}

func kept(t *testing.T, c *Cache) (paths []string) {
	t.Helper()
	all, err := c.List()
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range all {
		paths = append(paths, filepath.Base(e.Path))
	}
	return paths
}

// modes reports whether files have modes for users here.
const modes = runtime.GOOS != "windows"

func TestIsReadOnce(t *testing.T) {
	dir := t.TempDir()
	path, c := aFile(t, dir, 1), in(filepath.Join(dir, "cache"))
	first, was := read(t, c, path)
	if was {
		t.Fatal("it was kept before it was read")
	}
	again, was := read(t, c, path)
	if !was || again.Counts != first.Counts || again.Source.Path != path || again.Functions.Len() != first.Functions.Len() {
		t.Errorf("read again: kept %v, %+v and not %+v", was, again.Counts, first.Counts)
	}
	all, _ := c.List()
	for _, e := range all {
		if info, err := os.Stat(e.name); err != nil || modes && info.Mode().Perm() != 0o600 {
			t.Errorf("it has mode %v: %v", info.Mode(), err)
		}
	}
	if info, err := os.Stat(c.dir); err != nil || modes && info.Mode().Perm() != 0o700 {
		t.Errorf("the folder has mode %v: %v", info.Mode(), err)
	}
	if _, was = read(t, nil, path); was {
		t.Error("without a cache it comes from one")
	}
	if n, err := c.Clean(); err != nil || n == 0 || len(kept(t, c)) != 0 {
		t.Errorf("%d bytes were removed: %v", n, err)
	}
	spans := 0
	for _, track := range again.Tracks {
		spans += track.Spans()
	}
	if int64(spans) != first.Counts.Spans || again.FuncName(1) == "" {
		t.Error("a recording that is open is gone with what was kept")
	}
}

// TestChangedFilesAreReadAnew changes a file without changing its modification time, and in
// one case not its size either. The cache must notice.
func TestChangedFilesAreReadAnew(t *testing.T) {
	dir := t.TempDir()
	path, c := aFile(t, dir, 1), in(filepath.Join(dir, "cache"))
	read(t, c, path)
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	for name, change := range map[string]func(content []byte) []byte{
		"a byte of a name": func(b []byte) []byte {
			at := bytes.Index(b[len(b)/2:], []byte(`"name":"`)) + len(b)/2 + len(`"name":"`)
			b[at]++
			return b
		},
		"cut":      func(b []byte) []byte { return b[:bytes.LastIndexByte(b, '\n')] },
		"appended": func(b []byte) []byte { return append(b, ' ') },
	} {
		t.Run(name, func(t *testing.T) {
			content, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, change(content), 0o644); err != nil {
				t.Fatal(err)
			}
			if err := os.Chtimes(path, info.ModTime(), info.ModTime()); err != nil {
				t.Fatal(err)
			}
			if _, was := read(t, c, path); was {
				t.Error("it is shown as it was before")
			}
			if _, was := read(t, c, path); !was {
				t.Error("as it is now it is not kept")
			}
			if n := len(kept(t, c)); n != 1 {
				t.Errorf("%d recordings are kept of one file", n)
			}
		})
	}
}

// TestChangesWhileReading checks that a file that changed after it was looked up is not
// cached.
func TestChangesWhileReading(t *testing.T) {
	dir := t.TempDir()
	path, c := aFile(t, dir, 1), in(filepath.Join(dir, "cache"))
	time.Sleep(2 * settled)
	rec, _, err := ingest.ReadAll(context.Background(), path, ingest.Options{})
	if err != nil {
		t.Fatal(err)
	}
	_, keep, _ := c.Look(path, decode.Options{})
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_APPEND, 0)
	if err != nil {
		t.Fatal(err)
	}
	f.WriteString(" ")
	f.Close()
	keep(context.Background(), rec)()
	if got := kept(t, c); len(got) != 0 {
		t.Errorf("kept are %q", got)
	}
}

// TestWhatIsNotKept checks that small and private files, recordings whose reading was stopped,
// and files on a nearly full disk are not cached.
func TestWhatIsNotKept(t *testing.T) {
	dir := t.TempDir()
	path := aFile(t, dir, 1)
	for name, change := range map[string]func(c *Cache){
		"small":        func(c *Cache) { c.Least = 2 },
		"in a folder":  func(c *Cache) { c.Private = []string{dir} },
		"itself":       func(c *Cache) { c.Private = []string{path} },
		"a full disk":  func(c *Cache) { c.free = func(string) (int64, int64, bool) { return 10 << 30, 101 << 30, true } },
		"no such room": func(c *Cache) { c.most = 1 },
	} {
		c := in(filepath.Join(dir, "cache", name))
		change(c)
		read(t, c, path)
		if _, was := read(t, c, path); was {
			t.Errorf("%s: it is kept", name)
		}
		left, _ := filepath.Glob(filepath.Join(globbed(c.dir), "*"))
		if len(left) > 1 { // the lock file may stay
			t.Errorf("%s: %q is left", name, left)
		}
	}
	c := in(filepath.Join(dir, "cache", "stopped"))
	time.Sleep(2 * settled)
	l := ingest.Open(context.Background(), path, ingest.Options{Cache: c, ChunkSize: 1 << 10})
	l.Stop()
	l.Wait()
	l.Close()
	if got := kept(t, c); len(got) != 0 {
		t.Errorf("kept of a file that was not read to its end: %q", got)
	}
}

// TestLeastRecentlyUsedGoes checks that a full cache removes the least recently used entry.
func TestLeastRecentlyUsedGoes(t *testing.T) {
	dir := t.TempDir()
	c := in(filepath.Join(dir, "cache"))
	paths := []string{aFile(t, dir, 1), aFile(t, dir, 2), aFile(t, dir, 3)}
	read(t, c, paths[0])
	read(t, c, paths[1])
	read(t, c, paths[0]) // once more
	all, _ := c.List()
	c.most = 0
	for _, e := range all {
		c.most += e.Bytes * 5 / 4
	}
	read(t, c, paths[2])
	if got := fmt.Sprint(kept(t, c)); got != "[trace3.json trace1.json]" {
		t.Errorf("kept are %s", got)
	}
}

// TestDamagedIsThrownAway checks that a damaged entry is replaced by reading the file again,
// with a remark.
func TestDamagedIsThrownAway(t *testing.T) {
	dir := t.TempDir()
	path, c := aFile(t, dir, 1), in(filepath.Join(dir, "cache"))
	first, _ := read(t, c, path)
	all, _ := c.List()
	content, err := os.ReadFile(all[0].name)
	if err != nil {
		t.Fatal(err)
	}
	content[len(content)-100] ^= 1
	if err := os.WriteFile(all[0].name, content, 0o600); err != nil {
		t.Fatal(err)
	}
	again, was := read(t, c, path)
	if was || again.Counts != first.Counts {
		t.Errorf("kept %v, %+v", was, again.Counts)
	}
	said := ""
	for _, w := range again.Warnings {
		if w.Code == "kept" && w.Minor {
			said = w.Text
		}
	}
	if !strings.Contains(said, "is damaged") || !strings.Contains(said, "read again") {
		t.Errorf("it says %q", said)
	}
	if third, was := read(t, c, path); !was || len(third.Warnings) != len(first.Warnings) {
		t.Errorf("kept %v again, with the warnings %v", was, third.Warnings)
	}
}

// TestTwoPrograms checks that caches in several programs can store the same file at once, and
// that the partial entry of a killed program is removed.
func TestTwoPrograms(t *testing.T) {
	dir := t.TempDir()
	path, place := aFile(t, dir, 1), filepath.Join(dir, "cache")
	if err := os.MkdirAll(place, 0o700); err != nil {
		t.Fatal(err)
	}
	killed := filepath.Join(place, ".ashlar-01234567-x.ashlar.tmp")
	if err := os.WriteFile(killed, []byte("\x89ashlar\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	time.Sleep(2 * settled)
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			c := in(place)
			if _, _, err := ingest.ReadAll(context.Background(), path, ingest.Options{Cache: c}); err != nil {
				t.Error(err)
			}
			c.Wait()
		})
	}
	all.Wait()
	if _, was := read(t, in(place), path); !was {
		t.Error("it is not kept")
	}
	if _, err := os.Stat(killed); !errors.Is(err, fs.ErrNotExist) {
		t.Error("what a program left that was killed is still there")
	}
}
