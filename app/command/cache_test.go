package command

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"ashlar/app/core/cache"
	"ashlar/app/core/settings"
	"ashlar/ingest"
	"ashlar/testdata/gen/synth"
	"ashlar/testdata/rounds"
)

// TestKeptAnswersTheSame compares the answers about a file with those about its cached copy.
func TestKeptAnswersTheSame(t *testing.T) {
	dir := t.TempDir()
	kept := filepath.Join(dir, "cache")
	ask := func(args ...string) string {
		t.Helper()
		c := cache.In(kept, settings.CacheSettings{Least: 1, Free: -1})
		var out, errs bytes.Buffer
		code := Main(args, strings.NewReader(""), &out, &errs, Runner{Cache: func() *cache.Cache { return c }})
		if code != Done {
			t.Fatalf("ashlar %q: %s", args, errs.String())
		}
		return regexp.MustCompile(`(?s)"load": \{.*?\}|\n  read  [^\n]*`).ReplaceAllString(out.String(), "") + errs.String()
	}
	for _, kind := range []string{"chrome", "spall1", "spaa"}[:rounds.Size(3, 1)] {
		t.Run(kind, func(t *testing.T) {
			var b bytes.Buffer
			if _, err := synth.Write(&b, synth.Options{Kind: kind, Bytes: 1_300_000, Seed: 3}); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "run."+kind)
			if err := os.WriteFile(path, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
			time.Sleep(time.Second / 4) // a file written just now is not cached
			questions := [][]string{{"info", path}, {"info", path, "--json"}, {"top", path, "--json", "-n", "0"}, {"top", path, "--by", "thread"}, {"diff", path, path}, {"overview", path}, {"findings", path, "--json"}}
			if kind != "spaa" {
				questions = append(questions, []string{"stats", path, "--function", "/a/", "--json"}, []string{"top", path, "--range", "1ms..100ms"}, []string{"diff", path, path, "--json"})
			}
			var want []string
			for _, q := range questions {
				want = append(want, ask(append(q, "--no-cache")...))
			}
			if list := ask("cache"); strings.Contains(list, path) {
				t.Errorf("with --no-cache is kept:\n%s", list)
			}
			ask("overview", path)
			if list := ask("cache"); !strings.Contains(list, path) {
				t.Fatalf("it is not kept:\n%s", list)
			}
			if rec, stats, err := ingest.ReadAll(context.Background(), path, ingest.Options{Cache: cache.In(kept, settings.CacheSettings{Least: 1, Free: -1})}); err != nil || stats.Bytes != 0 || !rec.Done {
				t.Fatalf("it is read anew: %v", err)
			}
			for i, q := range questions {
				if got := ask(q...); got != want[i] {
					t.Errorf("%q of what was kept is\n%.2000s\nnot\n%.2000s", q, got, want[i])
				}
			}
		})
	}
	if out := ask("cache", "--clean", "--json"); !strings.Contains(out, `"recordings": []`) {
		t.Errorf("after cleaning there is %s", out)
	}
}
