//go:build unix

package command

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"testing"
	"time"

	"ashlar/app/core/cache"
	"ashlar/app/core/resident"
	"ashlar/app/core/settings"
	"ashlar/ingest"
	"ashlar/ingest/model/recording"
	"ashlar/testdata/gen/synth"
)

// remarkKept matches the warning of an overview about an unusable cached copy.
var remarkKept = regexp.MustCompile(`"quality":\[\{"code":"kept"[^]]*\]`)

// TestKeptIsCut truncates a cached recording while it is memory-mapped, as a failing disk
// might. Each command must report it or answer correctly, and the next command must read the
// original file again.
func TestKeptIsCut(t *testing.T) {
	dir := t.TempDir()
	var b bytes.Buffer
	if _, err := synth.Write(&b, synth.Options{Kind: "chrome", Bytes: 1_200_000, Seed: 1}); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(dir, "trace.json")
	if err := os.WriteFile(path, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	old := time.Now().Add(-time.Hour)
	if err := os.Chtimes(path, old, old); err != nil {
		t.Fatal(err)
	}
	time.Sleep(300 * time.Millisecond) // a file changed just now is not cached
	kept := cache.In(filepath.Join(dir, "kept"), settings.CacheSettings{Least: 1, Free: 1})
	defer kept.Close()
	served := func(ctx context.Context, path string, o ingest.Options) (*recording.Recording, ingest.Stats, error) {
		o.Cache = kept
		return ingest.ReadAll(ctx, path, o)
	}
	ask := func(held *resident.Recordings, args ...string) ran {
		return runAs(Runner{Read: held.In("")}, nil, append(args, path)...)
	}
	first := resident.New(served, 0)
	defer first.Close()
	right := map[string]ran{}
	questions := [][]string{{"top", "--json"}, {"top", "--by", "thread", "--json"}, {"findings", "--json"}, {"stats", "--json"}, {"overview", "--json"}, {"path", "--json"}}
	for _, q := range questions {
		right[q[0]+q[1]] = ask(first, q...)
	}
	kept.Wait()
	stores, err := filepath.Glob(filepath.Join(dir, "kept", "*.ashlar"))
	if err != nil || len(stores) != 1 {
		t.Fatalf("kept are %v: %v", stores, err)
	}
	said := 0
	for _, q := range questions {
		good, err := os.ReadFile(stores[0])
		if err != nil {
			t.Fatal(err)
		}
		held := resident.New(served, 0)
		defer held.Close()
		if r := ask(held, "info"); r.code != Done { // maps the cached recording
			t.Fatal(r.stderr)
		}
		if err := os.Truncate(stores[0], 4096); err != nil {
			t.Fatal(err)
		}
		r := ask(held, q...)
		if want := right[q[0]+q[1]]; r.code != want.code || r.stdout != want.stdout {
			r.sentence(t, Problem, "truncated")
			said++
		}
		r, want := ask(held, q...), right[q[0]+q[1]].stdout
		if got := remarkKept.ReplaceAllString(r.stdout, `"quality":[]`); got != want {
			i := 0
			for i < min(len(got), len(want)) && got[i] == want[i] {
				i++
			}
			t.Errorf("asked again, %v says …%.300s %s\nwant …%.300s", q, got[i:], r.stderr, want[i:])
		}
		kept.Wait()
		if err := os.Remove(stores[0]); err != nil && !os.IsNotExist(err) {
			t.Fatal(err)
		}
		if err := os.WriteFile(stores[0], good, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if said == 0 {
		t.Error("no question read what was cut")
	}
}
