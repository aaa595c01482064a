//go:build linux

package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/testdata/e2e"
)

const smallRun = `main;work;read 30
main;work;write 20
main;idle 50
`

// TestSettingsAreKept checks that the next window uses the settings of the last one, and that
// a broken settings file is renamed and reported.
func TestSettingsAreKept(t *testing.T) {
	t.Parallel()
	d := e2e.StartDisplay(t)
	path := filepath.Join(t.TempDir(), "run.folded")
	if err := os.WriteFile(path, []byte(smallRun), 0o644); err != nil {
		t.Fatal(err)
	}
	s := startOn(t, d, path)
	first := s.until("the recording to be read", read)
	s.Key("l")
	s.until("the other theme", func(f frame) bool { return f.Theme != first.Theme })
	s.Resize(900, 600)
	s.until("the smaller window", func(f frame) bool { return f.Width == 900 })
	s.Key("ctrl+q")
	if code := s.WaitExit(); code != 0 {
		t.Fatalf("it ended with %d", code)
	}
	settings := d.Path("XDG_CONFIG_HOME", "ashlar", "settings.json")
	var kept struct {
		Theme   string
		Window  struct{ Width, Height int }
		Folder  string
		Recents []struct{ Path string }
	}
	b, err := os.ReadFile(settings)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(b, &kept); err != nil {
		t.Fatal(err)
	}
	if kept.Theme == first.Theme || kept.Theme == "" || kept.Window.Width != 900 || kept.Folder != filepath.Dir(path) || len(kept.Recents) != 1 || kept.Recents[0].Path != path {
		t.Errorf("kept is %s", b)
	}

	// The next window has the settings, and its opener lists the last file first.
	s = startOn(t, d)
	again := s.until("the first page", func(f frame) bool { return f.Width > 0 })
	if again.Theme != kept.Theme || again.Width != 900 {
		t.Errorf("the next window is %d wide and %s", again.Width, again.Theme)
	}
	s.Key("ctrl+o")
	s.until("the opener", func(f frame) bool { return strings.HasSuffix(f.Typed, filepath.Dir(path)+"/") })
	s.Key("Return") // opens the most recent file
	s.until("the file", func(f frame) bool { return f.File == "run.folded" && f.Done })
	s.Key("ctrl+q")
	s.WaitExit()

	if err := os.WriteFile(settings, []byte(`{"theme": "light", "window`), 0o600); err != nil {
		t.Fatal(err)
	}
	s = startOn(t, d, path)
	s.until("the recording in spite of broken settings", func(f frame) bool {
		return f.Done && f.Width == 1280 && strings.Contains(f.Note, "default settings are used")
	})
	aside, _ := filepath.Glob(settings + ".broken-*")
	if len(aside) != 1 {
		t.Errorf("set aside: %s", aside)
	}
	s.Key("ctrl+q")
	s.WaitExit()
}
