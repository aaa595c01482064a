//go:build linux && desktop

package main

import (
	"image"
	"path/filepath"
	"strings"
	"testing"

	"ashlar/testdata/e2e"
)

// These tests drag files with the mouse from GTK and Qt programs, the toolkits of most file
// managers. They need a window manager, a Wayland compositor and the toolkits: make
// test-desktop installs them.

func TestDesktopX11(t *testing.T) {
	for _, toolkit := range []string{"gtk3", "gtk4", "qt5"} {
		t.Run(toolkit, func(t *testing.T) {
			dropAll(t, e2e.StartOpenbox(t), toolkit, image.Rect(300, 40, 1260, 780))
		})
	}
}

func TestDesktopWayland(t *testing.T) {
	dropAll(t, e2e.StartWeston(t), "gtk3", image.Rect(0, 0, e2e.ScreenWidth, e2e.ScreenHeight))
}

// dropAll drags text and files to the program's window, which covers place.
func dropAll(t *testing.T, d *e2e.Desktop, toolkit string, place image.Rectangle) {
	bin := e2e.Build(t, "./app/ashlar")
	log := filepath.Join(t.TempDir(), "frames.json")
	s := &session{d.Start("^dev.ashlar.Ashlar$", place, bin, "--frame-log", log, "--theme", "dark"), t, e2e.OpenLog[frame](log)}
	s.soon("the first page", func(f frame) bool { return f.Theme == "dark" })
	src := d.StartSource(toolkit)
	left := place.Min.Add(image.Pt(place.Dx()/4, place.Dy()*7/10)) // above the zone that adds runs
	right := left.Add(image.Pt(place.Dx()/2, 0))

	paths := recordings(t, 5000)
	spoken := strings.ReplaceAll(strangeName, "\n", " ")
	says := func(what ...string) func(frame) bool {
		return func(f frame) bool {
			return len(f.Drop) > 0 && strings.Contains(strings.Join(f.Drop, "|"), strings.Join(what, "|"))
		}
	}
	shown := func(path string) func(frame) bool {
		return func(f frame) bool {
			return f.File == filepath.Base(path) && f.Done && f.Events == 1 && f.Drop == nil && f.Compare == nil
		}
	}
	taken := func(result string) {
		t.Helper()
		if result != "taken copy" {
			t.Errorf("the source says of its files: %q", result)
		}
	}

	// Text, on a window without a recording.
	src.Take("text", "hello")
	src.Hold(left)
	s.soon("what is said of text", says("Only files can be dropped here", ""))
	if result := src.LetGo(); toolkit != "qt5" && result != "refused" { // Qt always says taken
		t.Errorf("the source says of its text: %q", result)
	}
	f := s.until("the reason why nothing happens", func(f frame) bool { return f.Drop == nil && f.Note == "Only files can be dropped here" })
	if f.File != "" {
		t.Errorf("text opens %s", f.File)
	}

	// One file.
	src.Take("files", paths[0])
	src.Hold(left)
	s.soon("the name of the file", says("Open", spoken))
	taken(src.LetGo())
	s.until("the file", shown(paths[0]))

	// A drag that leaves the window drops nothing.
	if outside := image.Pt(20, 20); !outside.In(place) {
		src.Take("files", paths[1])
		src.Hold(right)
		s.soon("what is held", says(filepath.Base(paths[1])))
		src.Hold(outside)
		s.soon("nothing held", func(f frame) bool { return f.Drop == nil })
		if result := src.LetGo(); result != "refused" && toolkit != "qt5" {
			t.Errorf("the source says of files that nobody took: %q", result)
		}
		if f := s.last(); f.File != filepath.Base(paths[0]) {
			t.Errorf("files that were not dropped are opened: %s", f.File)
		}
	}

	// Another file, on the half for comparing.
	src.Take("files", paths[1])
	src.Hold(right)
	s.soon("what it is compared with", says("Compare with "+spoken, "Open", "Add to A ("+spoken+")", "run 2.spaa"))
	src.Hold(left)
	s.soon("the other half", says("Open", "Add to A ("+spoken+")", "Compare with "+spoken, "run 2.spaa"))
	src.Hold(right)
	s.soon("the half that compares", says("Compare with "+spoken, "Open", "Add to A ("+spoken+")"))
	taken(src.LetGo())
	s.until("the comparison", compares(paths[0], paths[1]))

	// Two files.
	src.Take("files", paths[2], paths[3])
	src.Hold(left)
	s.soon("both names", says("Add to A", "Add to B", "run 3.spaa and run 4.spaa"))
	taken(src.LetGo())
	s.until("two more runs of A", func(f frame) bool { return f.Compare != nil && f.Compare.Sides[0].Runs == 3 })

	// Thousands.
	src.Take(append([]string{"files"}, paths...)...)
	src.Hold(left)
	s.soon("how many there are", says("Add to A", "Add to B", spoken+", run 2.spaa (5000 files)"))
	taken(src.LetGo())
	// The note may disappear before a slow machine has read all files, so wait for the note first.
	s.soon("that not all are added", func(f frame) bool { return strings.Contains(f.Note, "at most 100 runs per side") })
	s.until("the first of thousands", func(f frame) bool { return f.Compare != nil && f.Compare.Sides[0].Runs == 100 })

	// The window still responds.
	if toolkit == "gtk3" {
		src.Take("text", "bye")
		src.Hold(left)
		s.soon("what is said of text again", says("Only files can be dropped here"))
		src.LetGo()
	}
}
