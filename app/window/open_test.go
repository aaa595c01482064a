package window

import (
	"os"
	"path/filepath"
	"testing"
	"time"

	"ashlar/app/window/shell"
	"ashlar/render/theme"
)

// TestOpenFolder checks that a folder on the command line asks what to do with its runs, as
// a dropped one does.
func TestOpenFolder(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"run-1.folded", "run-2.folded", "run-3.folded"} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte("main;hash 7\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	s := shell.New(theme.Dark)
	defer s.Close()
	open(s, Options{Files: []string{dir}})
	for end := time.Now().Add(10 * time.Second); s.Chooser == nil; time.Sleep(time.Millisecond) {
		if s.Tasks.Run(); time.Now().After(end) {
			t.Fatal("the window does not ask")
		}
	}
	if s.Pane != nil {
		t.Errorf("%s is open", s.Pane.Path)
	}
}
