package shell

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ashlar/app/core/settings"
	"ashlar/app/core/view"
	"ashlar/render/theme"
)

// remembering is a Keep with recent files.
type remembering struct {
	inStore
	recent []Recent
}

func (k *remembering) Recents() []Recent { return k.recent }

// TestAddressesFindWhatWasMoved checks that copied addresses include the file's digest. A
// moved file is found among the recent files; if another file is in its place, the status
// line says so.
func TestAddressesFindWhatWasMoved(t *testing.T) {
	path := traceFile(t)
	k := &remembering{inStore: inStore{st: settings.In("", t.TempDir())}}
	opened := func(address string) *Shell {
		t.Helper()
		s := New(theme.Dark)
		t.Cleanup(s.Close)
		s.Keep = k
		s.Open(address)
		if err := s.Finish(); err != nil {
			t.Fatal(err)
		}
		for range 5000 {
			if s.keep(); s.Pane.MarkList.Key != "" {
				return s
			}
			time.Sleep(5 * time.Millisecond)
		}
		t.Fatal("the marks were not read")
		return nil
	}
	s := opened(path)
	s.Pane.Tab = "functions"
	address := s.Address().String()
	v, err := view.Parse(address)
	if want, _, _ := settings.FileContent(path); err != nil || len(v.Contents) != 1 || v.Contents[0] != want || want.Key == "" {
		t.Fatalf("the address is %s, the content %v", address, want)
	}
	if strings.Contains(s.ViewState().String(), "content=") {
		t.Error("a step of history has the content, which a followed file changes")
	}
	if s = opened(address); s.Note.Text != "" {
		t.Errorf("where it was it says %q", s.Note.Text)
	}
	moved := filepath.Join(t.TempDir(), "elsewhere.spall")
	if err := os.Rename(path, moved); err != nil {
		t.Fatal(err)
	}
	k.recent = []Recent{{Path: moved}}
	s = opened(address)
	if got := s.Address(); got.Files[0] != moved || got.Tab != "functions" || !strings.Contains(s.Note.Text, "with the same contents") {
		t.Errorf("it shows %s and says %q", got, s.Note.Text)
	}
	b, err := os.ReadFile(moved)
	if err == nil {
		err = os.WriteFile(path, b[:len(b)/2], 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if s = opened(address); s.Address().Files[0] != path || !strings.Contains(s.Note.Text, "the recording of the address") {
		t.Errorf("of another file it shows %s and says %q", s.Address(), s.Note.Text)
	}
}

// TestMovedFilesAreLookedForBesideTheFrame checks that the search for a moved file runs
// in the background, and that a file opened meanwhile stays open.
func TestMovedFilesAreLookedForBesideTheFrame(t *testing.T) {
	path := traceFile(t)
	s := New(theme.Dark)
	t.Cleanup(s.Close)
	woken := make(chan struct{}, 100)
	s.Do.Wake = func() {
		select {
		case woken <- struct{}{}:
		default:
		}
	}
	s.Open(path)
	if err := s.Finish(); err != nil {
		t.Fatal(err)
	}
	v, moved := s.Address(), filepath.Join(filepath.Dir(path), "moved.spall")
	c, _, err := settings.FileContent(path)
	if err != nil {
		t.Fatal(err)
	}
	v.Contents = []view.Content{c}
	address := v.String()
	if err := os.Rename(path, moved); err != nil {
		t.Fatal(err)
	}
	arrived := func(want string) bool {
		t.Helper()
		for {
			select {
			case <-woken:
			case <-time.After(time.Minute):
				return false
			}
			if s.Tasks.Run(); s.Pane.Path == want {
				return true
			}
		}
	}
	if s.Open(address); s.Pane.Path != path {
		t.Errorf("at once it shows %s", s.Pane.Path)
	}
	if !arrived(moved) {
		t.Errorf("it shows %s", s.Pane.Path)
	}
	s.Open(address)
	other := traceFile(t)
	s.Open(other)
	s.Later(func() {})
	time.Sleep(50 * time.Millisecond)
	if s.Tasks.Run(); s.Pane.Path != other {
		t.Errorf("what was opened last is %s, and it shows %s", other, s.Pane.Path)
	}
}
