package session

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"ashlar/testdata/rounds"
)

// samples returns the number of samples in the latest answer, -1 unless that belongs to the
// latest snapshot.
func samples(d *Side) int64 {
	rec, generation := d.Latest()
	d.Ask(Question{Generation: generation})
	a := d.Answer()
	if a == nil || a.Rec != rec {
		return -1
	}
	return a.Tree.Nodes[0].Total
}

func waitFor(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for range 6000 {
		if holds() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("waited for %s in vain", what)
}

// followed opens a file of folded stacks and follows it.
func followed(t *testing.T, path string) *Side {
	t.Helper()
	d := Open(path, nil)
	ctx, cancel := context.WithCancel(context.Background())
	ended := make(chan struct{})
	go func() { d.Follow(ctx); close(ended) }()
	t.Cleanup(func() {
		cancel()
		<-ended
		d.Close()
		if maps, err := os.ReadFile("/proc/self/maps"); err == nil && strings.Contains(string(maps), path) {
			t.Errorf("%s is still mapped", path)
		}
	})
	return d
}

func note(d *Side) string {
	text, _ := d.FollowNote()
	return text
}

// TestFollow checks a followed file that grows ten times a second, is truncated, replaced,
// deleted and written again.
func TestFollow(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() { // runs last
		waitFor(t, "goroutines to end", func() bool { return runtime.NumGoroutine() <= before })
	})
	path := filepath.Join(t.TempDir(), "run.folded")
	write := func(text string) {
		t.Helper()
		if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	write("main;start 1\n")
	d := followed(t, path)
	waitFor(t, "the first stack", func() bool { return samples(d) == 1 })

	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	sum, seen, last := int64(1), 0, int64(1)
	for i := 0; i < 30 || seen < 2 && i < 600; i++ {
		fmt.Fprintf(f, "main;work%d;f 2\n", i)
		sum += 2
		time.Sleep(100 * time.Millisecond)
		if n := samples(d); n > last {
			seen, last = seen+1, n
		}
	}
	f.Close()
	waitFor(t, "all that was added", func() bool { return samples(d) == sum })
	if seen < 2 {
		t.Errorf("while it grew %d new pictures were seen", seen)
	}
	if n := note(d); n != "" {
		t.Errorf("the note is %q", n)
	}

	// After truncation the old content stays until the file is written again.
	if err := os.Truncate(path, int64(len("main;start 1\nmain;work0;f 2\n"))); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the note that it was cut", func() bool { return strings.Contains(note(d), " bytes to 28; showing its previous contents") })
	if n := samples(d); n != sum {
		t.Errorf("of the file that was cut %d are shown, there were %d", n, sum)
	}
	if f, err = os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(f, "main;more 40\n")
	f.Close()
	waitFor(t, "the content of the file that was cut", func() bool {
		return samples(d) == 43 && strings.Contains(note(d), "file rewritten; showing the new contents")
	})

	other := path + ".new"
	if err := os.WriteFile(other, []byte("quite;other 77\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Rename(other, path); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the file that took its place", func() bool {
		return samples(d) == 77 && strings.Contains(note(d), "file rewritten; showing the new contents")
	})
	if f, err = os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0); err != nil {
		t.Fatal(err)
	}
	fmt.Fprintf(f, "quite;more 1\n")
	f.Close()
	waitFor(t, "what was added to it", func() bool { return samples(d) == 78 && note(d) == "" })

	if err := os.Remove(path); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the note that it is gone", func() bool { return strings.Contains(note(d), "file deleted") })
	if n := samples(d); n != 78 {
		t.Errorf("of the deleted file %d is shown", n)
	}
	write("again 5\n")
	waitFor(t, "the file that came back", func() bool {
		return samples(d) == 5 && strings.Contains(note(d), "file rewritten; showing the new contents")
	})

	write("")
	waitFor(t, "the note that it is empty", func() bool { return strings.Contains(note(d), "empty") })
	write("\x00\x01 this is no recording\n")
	waitFor(t, "the note that it cannot be read", func() bool { return strings.Contains(note(d), "not reloaded:") })
	if n := samples(d); n != 5 {
		t.Errorf("of the spoilt file %d is shown", n)
	}
}

// TestFollowedFileShrinksUnderTheReader truncates a memory-mapped file while it is decoded.
func TestFollowedFileShrinksUnderTheReader(t *testing.T) {
	path := filepath.Join(t.TempDir(), "run.folded")
	var b strings.Builder
	n := rounds.Size(200_000, 40_000)
	for i := range n {
		fmt.Fprintf(&b, "main;a%d;b%d 1\n", i%500, i)
	}
	long := b.String()
	if err := os.WriteFile(path, []byte(long), 0o644); err != nil {
		t.Fatal(err)
	}
	d := followed(t, path)
	for i := range 12 {
		time.Sleep(time.Duration(20+i*7) * time.Millisecond)
		if err := os.Truncate(path, int64(i)*1000); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Duration(i*5) * time.Millisecond)
		if err := os.WriteFile(path, []byte(long), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	waitFor(t, "the whole file in the end", func() bool { return samples(d) == int64(n) })
}

func TestOnlyFilesCanBeFollowed(t *testing.T) {
	for _, path := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
		d := Open(path, nil)
		if d.CanFollow() {
			t.Errorf("%s can be followed", path)
		}
		d.Close()
	}
}
