package workspace

import (
	"path/filepath"
	"strings"
)

// CopyGrid puts the table that is shown on the clipboard, as JSON.
func (d *Workspace) CopyGrid() {
	if g := d.Grid(); g != nil {
		d.CopyLater(g.Json())
	}
}

// Stem is the open file's name without what says its format.
func (p *Pane) Stem() string {
	name := p.Doc.Name
	for _, ext := range []string{".gz", ".zst", ".zstd"} {
		name = strings.TrimSuffix(name, ext)
	}
	if p.Path == "-" {
		return "recording"
	}
	return strings.TrimSuffix(name, filepath.Ext(name))
}

// Snapshot is a pane that shows the same and never changes.
func (p *Pane) Snapshot() *Pane {
	c := newPane(p.Doc.Snapshot())
	c.Generation = p.Generation
	c.Path, c.Demo, c.Rec, c.begun = p.Path, p.Demo, p.Rec, true
	c.Look, c.Table.TableShape = p.Look, p.Table.TableShape
	c.Pick, c.Flag = p.Pick, p.Flag
	c.Pick.InCallers = true
	c.Down, c.Table.Down, c.Flame.Tree, c.Shown = p.Down, p.Table.Down, p.Flame.Tree, p.Shown
	if p.Find != "" {
		// The pattern is the same one: what was found with it stays found.
		c.Search.Set(p.Find)
		c.Search.Pattern = p.Search.Pattern
	}
	if p.ScopeComparison != nil {
		c.ScopeComparison = p.ScopeComparison.snapshot(c)
	}
	c.SourcePart.Of, c.SourcePart.At, c.SourcePart.Down = p.SourcePart.Of, p.SourcePart.At, p.SourcePart.Down
	return c
}
