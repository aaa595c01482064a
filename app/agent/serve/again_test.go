package serve

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"ashlar/app/core/subcommand"
	"ashlar/ingest"
	"ashlar/ingest/model/recording"
)

// TestAskedAgain checks that only slow, successful answers are stored, and reused only for the
// same command line and unchanged files.
func TestAskedAgain(t *testing.T) { synctest.Test(t, askedAgain) }

// askedAgain runs in a synctest bubble, where only sleeping takes time.
func askedAgain(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "x")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("1")
	ran, code, takes := 0, 0, 2*worthKeeping
	s := &Server{turns: make(chan struct{}, 1)}
	s.once.Do(func() {})
	s.Run = func(a subcommand.Invocation) int {
		ran++
		if len(a.Args) > 1 {
			_, _, _ = a.Read(a.Ctx, a.Args[1], ingest.Options{})
		}
		b, _ := os.ReadFile(path)
		fmt.Fprintf(a.Stdout, "%s says %s\n", a.Args, b)
		fmt.Fprint(a.Stderr, "a remark\n")
		time.Sleep(takes)
		return code
	}
	s.In = func(string) subcommand.Reader {
		return func(context.Context, string, ingest.Options) (*recording.Recording, ingest.Stats, error) {
			return nil, ingest.Stats{}, nil
		}
	}
	ask := func(dir string, args ...string) string {
		t.Helper()
		var b bytes.Buffer
		if err := s.answer(t.Context(), &b, &question{Dir: dir, Args: args}); err != nil {
			t.Fatal(err)
		}
		return b.String()
	}
	check := func(what string, runs int, dir string, args ...string) string {
		t.Helper()
		before := ran
		got := ask(dir, args...)
		if ran-before != runs {
			t.Errorf("%s: it ran %d times", what, ran-before)
		}
		return got
	}
	first := check("asked first", 1, dir, "top", "x")
	if again := check("asked again", 0, dir, "top", "x"); again != first {
		t.Errorf("%q is not %q", again, first)
	}
	check("by another path", 1, dir, "top", path)
	check("in another folder", 1, t.TempDir(), "top", "x")
	write("22")
	if got := check("of a file that has changed", 1, dir, "top", "x"); got == first {
		t.Error("the answer is that of before")
	}
	check("and again", 0, dir, "top", "x")
	check("of sources", 1, dir, "source", "x")
	check("of sources again", 1, dir, "source", "x")
	check("of a file that is not there", 1, dir, "top", "none")
	check("of that again", 1, dir, "top", "none")
	if code = 1; check("what fails", 1, dir, "info", "x") != "" {
		check("what failed", 1, dir, "info", "x")
	}
	code, takes = 0, 0
	check("what is fast", 1, dir, "stats", "x")
	check("what was fast", 1, dir, "stats", "x")
}

// TestKeptIsBounded checks that the number and size of the stored answers are bounded, and
// that the least recently used go first.
func TestKeptIsBounded(t *testing.T) {
	var a answers
	args := func(i int) []string { return []string{"top", fmt.Sprint(i)} }
	for i := range 2 * mostKept {
		a.keep(&answered{args: args(i), out: &tape{}})
		if a.find("", args(0)) == nil {
			t.Fatalf("what is asked for all the time is gone after %d", i)
		}
	}
	if n := len(a.all); n != mostKept || a.find("", args(1)) != nil || a.find("", args(2*mostKept-1)) == nil {
		t.Errorf("%d are kept", n)
	}
	for i := range 9 {
		a.keep(&answered{args: args(i), out: &tape{b: make([]byte, mostKeptSize/5)}})
	}
	size := 0
	for _, x := range a.all {
		size += len(x.out.b)
	}
	if size > mostKeptSize || a.find("", args(8)) == nil {
		t.Errorf("%d bytes are kept", size)
	}
}
