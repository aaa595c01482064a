package shell

import (
	"slices"
	"strings"
	"time"

	"ashlar/app/marks"
	"ashlar/app/panel/functions"
	"ashlar/ingest/compare"
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
	// Pairs are functions that were paired by hand; SetPair adds one or takes it
	// away.
	Pairs() []compare.Pair
	SetPair(p compare.Pair, on bool)
	marks.Keeper
}

// Recent is a file that was opened before.
type Recent struct {
	Path   string
	Opened time.Time
}

// Prefs are how a person likes to look at any recording, by the names that
// settings have for things. Zero values are how everything is at first.
type Prefs struct {
	Theme string // "system" follows the system
	Mode  theme.Mode
	// Scale makes everything larger.
	Scale float32
	// Sort is the column that the table is sorted by, with a - before it when
	// the other way round; Columns are the shown ones, with commas between.
	Sort, Columns string
	// Split is the timeline's share of the height.
	Split float32
	// Above is whether the first of two recordings is above the second one.
	Above bool
}

// Prefer sets how recordings are looked at. What the zero value of a field says
// stays as it is.
func (s *Shell) Prefer(p Prefs) {
	if p.Theme != "" {
		s.SetTheme(p.Theme)
	}
	if slices.Contains(theme.Modes, p.Mode) {
		s.Mode = p.Mode
	}
	if p.Scale >= scales[0] && p.Scale <= scales[len(scales)-1] {
		s.Scale = p.Scale
	}
	if p.Columns != "" {
		s.SetColumns(strings.Split(p.Columns, ","))
	}
	if s.pane != nil {
		s.pane.prefer(p)
	}
	s.prefs = Prefs{Sort: p.Sort, Split: p.Split, Above: p.Above}
	s.prefs = s.preferred()
}

func (p *pane) prefer(prefs Prefs) {
	name, back := strings.CutPrefix(prefs.Sort, "-")
	for c := range functions.ColumnCount {
		if functions.ColumnInfos[c].Name == name && name != "" {
			p.table.By, p.table.Ascending = c, back != (functions.ColumnInfos[c].Number == nil)
		}
	}
	if prefs.Split > 0 {
		p.Split = max(.1, min(.9, prefs.Split))
	}
}

// preferred is how recordings are looked at now.
func (s *Shell) preferred() Prefs {
	now := s.prefs
	now.Theme, now.Mode, now.Scale, now.Columns = s.ThemeName(), s.Mode, s.Scale, ""
	if s.HiddenColumns != uint32(functions.HiddenColumns) {
		now.Columns = strings.Join(s.Columns(), ",")
	}
	if c := s.versus; c != nil {
		now.Above = c.Above
	}
	if p := s.pane; p != nil {
		t := p.table
		now.Sort, now.Split = functions.ColumnInfos[t.By].Name, p.Split
		if t.Ascending != (functions.ColumnInfos[t.By].Number == nil) {
			now.Sort = "-" + now.Sort
		}
		if now.Sort == functions.ColumnInfos[functions.ColSelf].Name {
			now.Sort = ""
		}
	}
	return now
}

// keep remembers what has changed since the last frame. A border that is being
// dragged has not arrived yet.
func (s *Shell) keep() {
	if s.prefs.Mode == "" { // the first frame of a shell that was told nothing
		s.prefs = s.preferred()
	}
	p := s.pane
	if p != nil && p.splitter.Pressed {
		return
	}
	if p != nil && p.visited {
		p.visited = false
		s.prefs = s.preferred()
	}
	if now := s.preferred(); now != s.prefs {
		if s.Keep != nil {
			s.Keep.Prefer(s.prefs, now)
		}
		s.prefs = now
	}
	for _, p := range s.shown() {
		p.noted.Keep = s.Keep
		p.noted.Upkeep(&s.Host)
		if s.Keep == nil || p.kept || p.Path == "" || p.Path == "-" || p.Rec.Source.Format == "" {
			continue
		}
		// Only what turned out to be a recording is worth opening again.
		p.kept = true
		s.Keep.Opened(p.Path)
	}
}

// shown are the recordings in the window.
func (s *Shell) shown() []*pane {
	switch {
	case s.versus != nil:
		return s.versus.panes[:]
	case s.pane != nil:
		return []*pane{s.pane}
	}
	return nil
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

// SetColumns shows just the named columns, beside the first; names that are
// none are left out, and no names at all mean those that are shown at first.
func (s *Shell) SetColumns(names []string) { s.HiddenColumns = uint32(functions.HiddenBeside(names)) }
