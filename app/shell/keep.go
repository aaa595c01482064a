package shell

import (
	"slices"
	"time"

	"ashlar/app/store"
	"ashlar/render/theme"
)

// Keep remembers things from one run to the next. Its methods are called with
// every frame: they return at once, and write in the background.
type Keep interface {
	// Recents are the files that were opened, newest first.
	Recents() []Recent
	// Opened adds one.
	Opened(path string)
	// Folder is where a file was opened last, "" when nothing was.
	Folder() string
	// Prefer remembers what a person has changed: fields that are the same in
	// was and now stay as they are.
	Prefer(was, now Prefs)
	// Marks are those of a recording, by its key. It waits for the disk, and is
	// called from another goroutine than the window's.
	Marks(key string) ([]store.Mark, error)
	// ChangeMarks changes a recording's marks. name is what it is called.
	ChangeMarks(key, name string, f func([]store.Mark) []store.Mark)
}

// Recent is a file that was opened before.
type Recent struct {
	Path   string
	Opened time.Time
}

// Prefs are how a person likes to look at any recording.
type Prefs struct {
	Theme string // by its name; "" follows the system
	Mode  theme.Mode
	// Sort is the column that functions are sorted by, Split the timeline's
	// share of the height; 0 leaves it to what is shown.
	Sort  string
	Split float32
}

// Prefer sets how recordings are looked at. What the zero value of a field says
// stays as it is.
func (s *Shell) Prefer(p Prefs) {
	if th, ok := theme.ByName(p.Theme); ok && p.Theme != "" {
		s.Theme = th
	}
	if slices.Contains(theme.Modes, p.Mode) {
		s.Mode = p.Mode
	}
	p.Theme, p.Mode = s.Theme.Name, s.Mode
	s.prefs = p
	if s.pane != nil {
		s.pane.prefer(p)
	}
}

func (p *pane) prefer(prefs Prefs) {
	if i := slices.Index(columnNames[:], prefs.Sort); i >= 0 {
		p.table.by = column(i)
	}
	if prefs.Split > 0 {
		p.split = max(.1, min(.9, prefs.Split))
	}
}

// preferred is how recordings are looked at now.
func (s *Shell) preferred() Prefs {
	now := s.prefs
	now.Theme, now.Mode = s.Theme.Name, s.Mode
	if p := s.pane; p != nil {
		now.Sort, now.Split = columnNames[p.table.by], p.split
		if now.Sort == columnNames[0] {
			now.Sort = ""
		}
	}
	return now
}

// keep remembers what has changed since the last frame. A border that is being
// dragged has not arrived yet.
func (s *Shell) keep() {
	if s.prefs.Mode == "" { // the first frame of a shell that was told nothing
		s.prefs.Theme, s.prefs.Mode = s.Theme.Name, s.Mode
	}
	p := s.pane
	if p != nil && p.splitter.pressed {
		return
	}
	if now := s.preferred(); now != s.prefs {
		if s.Keep != nil {
			s.Keep.Prefer(s.prefs, now)
		}
		s.prefs = now
	}
	if p != nil {
		p.marks.keep(s, p)
	}
	if s.Keep == nil || p == nil || p.kept || p.path == "" || p.path == "-" || p.rec.Source.Format == "" {
		return
	}
	// Only what turned out to be a recording is worth opening again.
	p.kept = true
	s.Keep.Opened(p.path)
}

// recents are the files that were opened before, newest first.
func (s *Shell) recents() []Recent {
	if s.Keep == nil {
		return nil
	}
	return s.Keep.Recents()
}
