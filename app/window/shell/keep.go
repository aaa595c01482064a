package shell

import (
	"path/filepath"
	"slices"
	"time"

	"ashlar/app/window/marks"
	"ashlar/app/window/panel"
	"ashlar/app/window/panel/functions"
	"ashlar/app/window/workspace"
	stored "ashlar/ingest/format/store"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/compare/match"
	"ashlar/ingest/query/join"
	"ashlar/render/theme"
)

// Keep stores state between runs. Its methods are called in every frame: they return at
// once and write in the background.
type Keep interface {
	// Recents returns the recently opened files, newest first.
	Recents() []Recent
	// Opened adds a file to the recent files.
	Opened(path string)
	// SetNames stores for a recent file whether names that differ only in numbers are
	// shown as one, and the pattern of the user's own code.
	SetNames(path string, folded bool, mine string)
	// Folder returns the folder of the last opened file, "" if there was none.
	Folder() string
	// Prefer stores the preferences that the user has changed: those that differ between
	// was and now.
	Prefer(was, now workspace.Prefs)
	// Pairs returns the functions paired by hand; SetPair adds or removes a pair.
	Pairs() []match.Pair
	SetPair(p match.Pair, on bool)
	panel.QueryKeeper
	marks.Keeper
}

// Recent is a file that was opened before.
type Recent struct {
	Path   string
	Opened time.Time
	// Folded shows names that differ only in numbers as one.
	Folded bool
	// Mine is the pattern of the user's own code, "" if there is none.
	Mine string
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
	if p.Columns != (panel.Columns{}) {
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
		if _, second := stored.Second(p.Path); second || join.IsName(p.Path) || s.Keep == nil || p.Path == "" || p.Path == "-" || p.Rec.Source.Format == "" {
			continue
		}
		if !p.Kept { // remember only files that turned out to be recordings
			p.Kept = true
			before := s.Keep.Recents()
			s.Keep.Opened(p.Path)
			s.namesAgain(p, before)
		}
		if folded, mine := p.FoldsNumbers(), p.OwnCode(); (folded != p.Folded || mine != p.Mine) && s.Versus == nil {
			p.Folded, p.Mine = folded, mine
			s.Keep.SetNames(p.Path, folded, mine)
		}
	}
}

// namesAgain folds numbers and restricts names to the user's own code as the user did
// before, unless the file is opened with a view of its own. A new file takes the pattern of
// own code from the file of its folder that was opened last.
func (s *Shell) namesAgain(p *workspace.Pane, before []Recent) {
	abs, err := filepath.Abs(p.Path)
	if err != nil {
		return
	}
	i := slices.IndexFunc(before, func(r Recent) bool { return r.Path == abs })
	if i >= 0 {
		p.Folded, p.Mine = before[i].Folded, before[i].Mine
	} else if i = slices.IndexFunc(before, func(r Recent) bool { return filepath.Dir(r.Path) == filepath.Dir(abs) }); i >= 0 {
		p.Mine = before[i].Mine
	}
	if p.Transforms != nil || s.Versus != nil || p.Addressed {
		return
	}
	if p.Folded {
		p.FoldNumbers()
	}
	if p.Mine != "" && analyze.Mine(p.Mine).Check() == nil {
		p.SetOwnCode(p.Mine)
		if before[i].Path != abs {
			s.Say("Own code as in " + filepath.Base(before[i].Path) + ": " + p.Mine)
		}
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
