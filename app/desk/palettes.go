package desk

import (
	"ashlar/app/panel"
	"ashlar/ingest/analyze"
	"ashlar/render/theme"
)

// Tabulate shows the table with rows of a kind.
func (p *Pane) Tabulate(by analyze.By) {
	p.Tab = panel.Functions
	p.Table.Group, p.Table.Down = by, 0
}

// CopyTable puts the table that is shown on the clipboard. It is written beside
// the window.
func (s *Desk) CopyTable(csvForm bool) {
	grid, comma := s.gridding(), '\t'
	if csvForm {
		comma = ','
	}
	go func() {
		if g := grid(); g != nil {
			text := g.Separated(comma)
			s.Later(func() { s.CopyLater(text) })
		}
	}()
}

// colours takes another palette when colours have changed their meaning.
func (p *Pane) colours(s *Desk) {
	pal := &theme.Palette{Theme: s.Theme, Mode: s.Mode}
	version := 0
	switch s.Mode {
	case theme.ByThread:
		if a := p.Doc.Answer(); a != nil {
			pal.Threads = a.ThreadOf
			version = len(a.ThreadOf)
		}
	case theme.BySearch:
		if p.Searching() {
			pal.Found = p.Found()
			version = p.Search.Version
		}
	}
	if old := p.Palette; old == nil || old.Theme != pal.Theme || old.Mode != pal.Mode || p.PaletteOf != version {
		p.Palette, p.PaletteOf = pal, version
	}
	if p.Rec.Done {
		p.Palette.Ahead(p.Rec)
	}
}

// Palette has the colours of what is open.
func (s *Desk) Palette() *theme.Palette {
	s.Pane.colours(s)
	return s.Pane.Palette
}

func (s *Desk) EffectiveScale() float32 {
	if s.Scale <= 0 {
		return 1
	}
	return s.Scale
}

// Pick selects a function by its name, once an answer is there; false when it
// is not in it.
func (s *Desk) Pick(name string) bool {
	if s.Pane == nil || s.Pane.Doc.Answer() == nil {
		return false
	}
	a := s.Pane.Doc.Answer()
	for i := range a.Rows {
		if a.Rows[i].Name == name {
			s.Pane.PickFunction(a, a.Rows[i].Func)
			return true
		}
	}
	return false
}
