package workspace

import (
	"ashlar/app/core/session"
	"ashlar/app/window/panel"
	"ashlar/ingest/query/analyze"
	"ashlar/render/theme"
)

// Tabulate shows the table with rows of the given kind.
func (p *Pane) Tabulate(by analyze.By) {
	p.Tab = panel.Functions
	p.Table.Group, p.Table.Down = by, 0
}

// CopyTable copies the current table to the clipboard. It is written in the background.
func (d *Workspace) CopyTable(csvForm bool) {
	grid, comma := d.gridding(), '\t'
	if csvForm {
		comma = ','
	}
	session.Go(func() {
		if g := grid(); g != nil {
			text := g.Separated(comma)
			d.Later(func() { d.CopyLater(text) })
		}
	})
}

// colours creates a new palette if the theme or the meaning of colours has changed.
func (p *Pane) colours(d *Workspace) {
	pal := &theme.Palette{Theme: d.Theme, Mode: d.Mode}
	version := 0
	switch d.Mode {
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

// Palette returns the colours for the open recordings.
func (d *Workspace) Palette() *theme.Palette {
	d.Pane.colours(d)
	return d.Pane.Palette
}

// EffectiveScale returns the scale of the interface relative to the display's own.
func (d *Workspace) EffectiveScale() float32 {
	if d.Scale <= 0 {
		return 1
	}
	return d.Scale
}

// Pick selects a function by name. It returns false if there is no answer yet or the
// function is not in it.
func (d *Workspace) Pick(name string) bool {
	if d.Pane == nil || d.Pane.Doc.Answer() == nil {
		return false
	}
	a := d.Pane.Doc.Answer()
	for i := range a.Rows {
		if a.Rows[i].Name == name {
			d.Pane.PickFunction(a, a.Rows[i].Func)
			return true
		}
	}
	return false
}
