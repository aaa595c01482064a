package store

import (
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"ashlar/ingest/model/recording"
)

// TestMappingsGo opens a stored recording many times, also concurrently, and makes arenas.
// It checks that their files are unmapped and closed once they are unreachable.
func TestMappingsGo(t *testing.T) {
	defer func(was time.Duration) { grace = was }(grace)
	grace = time.Millisecond
	dir := t.TempDir()
	path := filepath.Join(dir, "x.ashlar")
	if err := os.WriteFile(path, stored(t), 0o600); err != nil {
		t.Fatal(err)
	}
	open := func() *recording.Recording {
		f, err := os.Open(path)
		if err != nil {
			t.Error(err)
			return nil
		}
		defer f.Close()
		opened, err := Open(t.Context(), f)
		if err != nil {
			t.Error(err)
			return nil
		}
		return opened.Recording
	}
	kept := open()
	var all sync.WaitGroup
	for range 4 {
		all.Go(func() {
			for range 10 {
				if r := open(); r == nil || r.FuncName(1) != kept.FuncName(1) || r.Tracks[0].Lanes[0].Call(0) != kept.Tracks[0].Lanes[0].Call(0) {
					t.Error("it is another recording")
				}
			}
			if a, err := NewArena(dir); err != nil || a.Take(8) == nil {
				t.Error("no arena:", err)
			}
		})
	}
	all.Wait()
	if mapped, _ := heldOf(t, dir); mapped == 0 {
		t.Fatal("none is mapped, not even the one that is kept")
	}
	var mapped, files int
	for range 500 {
		runtime.GC()
		if mapped, files = heldOf(t, dir); mapped == 1 && files == 0 {
			break
		}
		time.Sleep(2 * time.Millisecond)
	}
	if mapped != 1 || files != 0 {
		t.Errorf("%d mappings and %d open files are left, not the one mapping that is in use", mapped, files)
	}
	runtime.KeepAlive(kept)
}

// heldOf counts the mappings and open files of a folder.
func heldOf(t *testing.T, dir string) (mapped, files int) {
	t.Helper()
	maps, err := os.ReadFile("/proc/self/maps")
	if err != nil {
		t.Fatal(err)
	}
	links, err := filepath.Glob("/proc/self/fd/*")
	if err != nil {
		t.Fatal(err)
	}
	for _, l := range links {
		if to, err := os.Readlink(l); err == nil && strings.HasPrefix(to, dir) {
			files++
		}
	}
	return strings.Count(string(maps), dir), files
}
