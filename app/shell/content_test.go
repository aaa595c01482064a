package shell

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"ashlar/app/store"
	"ashlar/app/view"
	"ashlar/render/theme"
)

// remembering is a Keep that has files that were opened before.
type remembering struct {
	inStore
	recent []Recent
}

func (k *remembering) Recents() []Recent { return k.recent }

// TestAddressesFindWhatWasMoved: an address that the window copies says what the file
// holds; where it lies elsewhere it is found among recent files, and where another file
// is in its place the status line says so.
func TestAddressesFindWhatWasMoved(t *testing.T) {
	path := traceFile(t)
	k := &remembering{inStore: inStore{st: store.In("", t.TempDir())}}
	opened := func(address string) *Shell {
		t.Helper()
		s := New(theme.Dark)
		t.Cleanup(s.Close)
		s.Keep = k
		s.Open(address)
		if err := s.Settle(); err != nil {
			t.Fatal(err)
		}
		for range 1000 {
			if s.keep(); s.Pane.Noted.Key != "" {
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
	if want, _, _ := store.FileContent(path); err != nil || len(v.Contents) != 1 || v.Contents[0] != want || want.Key == "" {
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
	if got := s.Address(); got.Files[0] != moved || got.Tab != "functions" || !strings.Contains(s.Note.Text, "is the recording that the address means") {
		t.Errorf("it shows %s and says %q", got, s.Note.Text)
	}
	b, err := os.ReadFile(moved)
	if err == nil {
		err = os.WriteFile(path, b[:len(b)/2], 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
	if s = opened(address); s.Address().Files[0] != path || !strings.Contains(s.Note.Text, "another recording than the address means") {
		t.Errorf("of another file it shows %s and says %q", s.Address(), s.Note.Text)
	}
}
