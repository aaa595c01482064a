package shell

import (
	"slices"
	"time"

	"ashlar/app/window/marks"
	"ashlar/app/window/panel/functions"
	"ashlar/app/window/workspace"
	stored "ashlar/ingest/format/store"
	"ashlar/ingest/query/compare/match"
	"ashlar/render/theme"
)

// Keep remembers things from one run to the next. Its methods are called with
// every frame: they return at once, and write in the background.
type Keep interface {
	// Recents are the files that were opened, newest first.
	Recents() []Recent
	// Opened adds one.
	Opened(path string)
	// Folder is the folder of the last opened file, "" if there was none.
	Folder() string
	// Prefer remembers what a person has changed: fields that are the same in
	// was and now stay as they are.
	Prefer(was, now workspace.Prefs)
	// Pairs are functions that were paired by hand; SetPair adds one or takes it
	// away.
	Pairs() []match.Pair
	SetPair(p match.Pair, on bool)
	marks.Keeper
}

// Recent is a file that was opened before.
type Recent struct {
	Path   string
	Opened time.Time
}

// Prefer sets how recordings are looked at. What the zero value of a field says
// stays as it is.
func (s *Shell) Prefer(p workspace.Prefs) {
	if p.Theme != "" {
		s.SetTheme(p.Theme)
	}
	if p.Scale >= scales[0] && p.Scale <= scales[len(scales)-1] {
		s.Scale = p.Scale
	}
	st := p.Look.State()
	if mode := theme.Mode(st.Colour); slices.Contains(theme.Modes, mode) {
		s.Mode = mode
	}
	if st.Columns != nil {
		s.setColumns(st.Columns)
	}
	if s.Pane != nil {
		s.Pane.Prefer(st)
		s.Pane.Table.Hidden = functions.ColumnSet(s.HiddenColumns)
	}
	s.Preferred.Look = p.Look
	s.Preferred = s.preferred()
}

// preferred is how recordings are looked at now.
func (s *Shell) preferred() workspace.Prefs {
	return workspace.Prefs{Theme: s.themeName(), Scale: s.Scale, Look: s.Look()}
}

// keep remembers what has changed since the last frame. A border that is being
// dragged has not arrived yet.
func (s *Shell) keep() {
	if s.Preferred.Look == nil { // the first frame of a shell that was told nothing
		s.Preferred = s.preferred()
	}
	p := s.Pane
	if p != nil && p.Splitter.Pressed {
		return
	}
	if p != nil && p.Visited {
		p.Visited = false
		s.Preferred = s.preferred()
	}
	if now := s.preferred(); !now.Equal(&s.Preferred) {
		if s.Keep != nil {
			s.Keep.Prefer(s.Preferred, now)
		}
		s.Preferred = now
	}
	for _, p := range s.Shown() {
		p.MarkList.Keep = s.Keep
		p.MarkList.Sync(&s.Host)
		if _, second := stored.Second(p.Path); second || s.Keep == nil || p.Kept || p.Path == "" || p.Path == "-" || p.Rec.Source.Format == "" {
			continue
		}
		// Only what turned out to be a recording is worth opening again.
		p.Kept = true
		s.Keep.Opened(p.Path)
	}
}

// recents are the files that were opened before, newest first.
func (s *Shell) recents() []Recent {
	if s.Keep == nil {
		return nil
	}
	return s.Keep.Recents()
}

// Columns names the columns of the table of functions that are shown, as
// settings keep them.
func (s *Shell) Columns() []string {
	return functions.ColumnNames(functions.ColumnSet(s.HiddenColumns))
}

// setColumns shows just the named columns, beside the first; names that are
// none are left out, and no names at all mean those that are shown at first.
func (s *Shell) setColumns(names []string) { s.HiddenColumns = uint32(functions.HiddenBeside(names)) }
