package shell

import (
	"path/filepath"
	"slices"
	"time"

	"ashlar/app/window/marks"
	"ashlar/app/window/panel/functions"
	"ashlar/app/window/workspace"
	stored "ashlar/ingest/format/store"
	"ashlar/ingest/query/compare/match"
	"ashlar/render/theme"
)

// Keep stores state between runs. Its methods are called in every frame: they return at
// once and write in the background.
type Keep interface {
	// Recents returns the recently opened files, newest first.
	Recents() []Recent
	// Opened adds a file to the recent files.
	Opened(path string)
	// SetFolded stores for a recent file whether names that differ only in numbers are
	// shown as one.
	SetFolded(path string, on bool)
	// Folder returns the folder of the last opened file, "" if there was none.
	Folder() string
	// Prefer stores the preferences that the user has changed: those that differ between
	// was and now.
	Prefer(was, now workspace.Prefs)
	// Pairs returns the functions paired by hand; SetPair adds or removes a pair.
	Pairs() []match.Pair
	SetPair(p match.Pair, on bool)
	marks.Keeper
}

// Recent is a file that was opened before.
type Recent struct {
	Path   string
	Opened time.Time
	// Folded: names that differ only in numbers are shown as one.
	Folded bool
}

// Prefer sets the preferences for viewing recordings. Fields with the zero value change
// nothing.
func (s *Shell) Prefer(p workspace.Prefs) {
	if p.Theme != "" {
		s.SetTheme(p.Theme)
	}
	if p.Scale >= scales[0] && p.Scale <= scales[len(scales)-1] {
		s.Scale = p.Scale
	}
	if p.Columns != (workspace.Columns{}) {
		s.Columns = p.Columns.Clamped()
	}
	s.NoFindings = p.NoFindings
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

// preferred returns the current preferences.
func (s *Shell) preferred() workspace.Prefs {
	return workspace.Prefs{Theme: s.themeName(), Scale: s.Scale, Columns: s.Columns, NoFindings: s.NoFindings, Look: s.Look()}
}

// keep stores what has changed since the last frame, but not while a border is being
// dragged.
func (s *Shell) keep() {
	if s.Preferred.Look == nil { // the first frame of a shell without stored preferences
		s.Preferred = s.preferred()
	}
	p := s.Pane
	if p != nil && (p.Splitter.Pressed || s.Resizing()) {
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
		if _, second := stored.Second(p.Path); second || s.Keep == nil || p.Path == "" || p.Path == "-" || p.Rec.Source.Format == "" {
			continue
		}
		if !p.Kept { // remember only files that turned out to be recordings
			p.Kept = true
			s.Keep.Opened(p.Path)
			s.foldAgain(p)
		}
		if on := p.FoldsNumbers(); on != p.Folded && s.Versus == nil {
			p.Folded = on
			s.Keep.SetFolded(p.Path, on)
		}
	}
}

// foldAgain folds the numbers in the names of a file for which the user did so before,
// unless the file is opened with a view of its own.
func (s *Shell) foldAgain(p *workspace.Pane) {
	abs, err := filepath.Abs(p.Path)
	i := slices.IndexFunc(s.Keep.Recents(), func(r Recent) bool { return err == nil && r.Path == abs })
	if i < 0 || !s.Keep.Recents()[i].Folded {
		return
	}
	if p.Folded = true; p.Transforms == nil && s.Versus == nil && !p.Addressed {
		p.FoldNumbers()
	}
}

// recents returns the recently opened files, newest first.
func (s *Shell) recents() []Recent {
	if s.Keep == nil {
		return nil
	}
	return s.Keep.Recents()
}

// TableColumns returns the names of the visible columns of the function table.
func (s *Shell) TableColumns() []string {
	return functions.ColumnNames(functions.ColumnSet(s.HiddenColumns))
}

// setColumns shows only the first column and the named ones; unknown names are ignored,
// and without names it restores the default.
func (s *Shell) setColumns(names []string) { s.HiddenColumns = uint32(functions.HiddenBeside(names)) }
