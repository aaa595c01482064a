package window

import (
	"bytes"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ashlar/app/core/settings"
	"ashlar/app/core/view"
	"ashlar/app/desktop/filelock"
)

// hold locks a file as another program would.
func hold(t *testing.T, path string) *os.File {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	f, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	if held, err := filelock.Try(f); !held {
		t.Skip("no locks here:", err)
	}
	return f
}

// TestClosedBesideHeldLocks changes marks and settings while another program holds both
// locks. Changes must not wait; closing must end and report what was not saved; a later
// write must include earlier changes.
func TestClosedBesideHeldLocks(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for locks as long as a person would")
	}
	dir := t.TempDir()
	st := settings.In(filepath.Join(dir, "c"), filepath.Join(dir, "d"))
	key := strings.Repeat("ab", 32)
	marksLock := hold(t, filepath.Join(dir, "d", "marks", key+".json.lock"))
	settingsLock := hold(t, filepath.Join(dir, "c", "settings.json.lock"))
	k := newKeeper(st, func() {})
	began := time.Now()
	for i := range 50 {
		k.ChangeMarks(key, "run.json", func(now []view.Mark) []view.Mark { return append(now, view.Mark{ID: string(rune('A' + i))}) })
		k.Opened(filepath.Join(dir, "run.json"))
	}
	if took := time.Since(began); took > 3*time.Second { // the time to wait for one lock
		t.Errorf("50 marks waited %v for the lock", took)
	}
	const twice = 2 // two files; each write waits once, or twice if closing begins during it
	said := closed(t, k, 2*twice*4*time.Second)
	for _, file := range []string{key + ".json.lock", "settings.json.lock"} {
		if !strings.Contains(said, file+": not saved: another program has held the lock for 3s; end that program") {
			t.Errorf("nothing is said of %s:\n%s", file, said)
		}
	}

	// A change that could not be written is written together with the next one.
	k = newKeeper(st, func() {})
	k.ChangeMarks(key, "run.json", func(now []view.Mark) []view.Mark { return append(now, view.Mark{ID: "first"}) })
	k.Opened(filepath.Join(dir, "first.json"))
	k.flush()
	marksLock.Close()
	settingsLock.Close()
	k.ChangeMarks(key, "run.json", func(now []view.Mark) []view.Mark { return append(now, view.Mark{ID: "second"}) })
	closed(t, k, time.Minute)
	marks, err := st.Marks(key)
	if err != nil || len(marks) != 2 || marks[0].ID != "first" || marks[1].ID != "second" {
		t.Errorf("the marks are %+v (%v)", marks, err)
	}
	v, err := st.Settings()
	if err != nil || len(v.Recents) != 1 || filepath.Base(v.Recents[0].Path) != "first.json" {
		t.Errorf("the settings are %+v (%v)", v.Recents, err)
	}
}

// closed closes a keeper, which must take less than within, and returns its output to
// standard error.
func closed(t *testing.T, k *keeper, within time.Duration) string {
	t.Helper()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	stderr := os.Stderr
	os.Stderr = w
	done := make(chan struct{})
	go func() { defer close(done); k.close() }()
	select {
	case <-done:
	case <-time.After(within):
		t.Fatalf("closing takes more than %v", within)
	}
	os.Stderr = stderr
	w.Close()
	var b bytes.Buffer
	if _, err := io.Copy(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
