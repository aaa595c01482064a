//go:build linux

package main

import (
	"encoding/json"
	"image"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/testdata/e2e"
)

// TestMarksInTheWindow adds marks by keyboard, goes to one, exports both with the command
// line, and imports them for a second window that has a mark of its own in its address.
func TestMarksInTheWindow(t *testing.T) {
	t.Parallel()
	d := e2e.StartDisplay(t)
	s := startOn(t, d, "--demo")
	s.until("the recording to be read", read)
	s.Move(right)
	s.Key("b")
	s.until("the line for a note", func(f frame) bool { return f.Typed != "" })
	s.Type("one moment")
	s.Key("Return")
	s.until("the mark", func(f frame) bool { return len(f.Marks) == 1 && f.Typed == "" })
	s.Drag(e2e.Left, image.Pt(500, 300), image.Pt(600, 300), "shift")
	sel := s.until("a selection", func(f frame) bool { return f.Selected != [2]int64{} })
	s.Key("b")
	s.until("the line for a note", func(f frame) bool { return f.Typed != "" })
	s.Type("range")
	s.Key("Return")
	s.until("two marks", func(f frame) bool { return len(f.Marks) == 2 && f.Typed == "" })
	s.Key("ctrl+z")
	s.until("undo", func(f frame) bool { return len(f.Marks) == 1 })
	s.Key("ctrl+y")
	s.until("redo", func(f frame) bool { return len(f.Marks) == 2 })
	s.Key("Escape", "Escape", "Escape")
	s.until("nothing selected", func(f frame) bool { return f.Selected == [2]int64{} })
	s.Key("shift+b")
	s.until("the list", func(f frame) bool { return strings.HasPrefix(f.Typed, "Go to mark") })
	s.Type("range")
	s.Key("Return")
	s.until("the range again", func(f frame) bool { return f.Selected == sel.Selected })
	s.Key("ctrl+q")
	s.WaitExit()

	bin := e2e.Build(t, "./app/ashlar")
	notes := filepath.Join(t.TempDir(), "notes.json")
	if out, err := d.Command(t, bin, "marks", "--demo", "--export", notes).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	var exported struct {
		Format string
		Marks  []struct {
			Text string
			From int64 `json:"from_ps"`
			To   int64 `json:"to_ps"`
		}
	}
	b, err := os.ReadFile(notes)
	if err == nil {
		err = json.Unmarshal(b, &exported)
	}
	if err != nil || len(exported.Marks) != 2 || exported.Marks[1].Text != "range" || [2]int64{exported.Marks[1].From, exported.Marks[1].To} != sel.Selected {
		t.Errorf("exported is %s, %v", b, err)
	}

	// A second display has its own settings, like another machine: it shows the marks once they
	// are imported.
	other := e2e.StartDisplay(t)
	if out, err := other.Command(t, bin, "marks", "--demo", "--import", notes).CombinedOutput(); err != nil || !strings.Contains(string(out), "2 marks added") {
		t.Fatalf("%v: %s", err, out)
	}
	s = startOn(t, other, "ashlar:1?file=demo:&tab=functions&mark=1ms:from%20the%20address&select=100ms..200ms&show=0s..300ms")
	f := s.until("the address's view and the imported marks", func(f frame) bool { return read(f) && len(f.Marks) == 3 })
	if f.Tab != "functions" || f.Selected != [2]int64{100e9, 200e9} || f.From != 0 || f.To != 300e9 {
		t.Errorf("the address shows %+v", f)
	}
	// The copied address names the same view.
	s.Key("ctrl+shift+a")
	s.until("the address to be copied", func(f frame) bool { return strings.HasPrefix(f.Note, "Copied ashlar:1?") })
}
