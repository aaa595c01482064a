package workspace

import (
	"path/filepath"
	"slices"
	"strings"

	"ashlar/app/window/panel"
	"ashlar/app/window/panel/trend"
)

// CopyGrid copies the current table to the clipboard, as JSON.
func (d *Workspace) CopyGrid() {
	if g := d.Grid(); g != nil {
		d.CopyLater(g.Json())
	}
}

// Stem returns the open file's name without its format extensions.
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

// Snapshot returns a copy of the pane that never changes.
func (p *Pane) Snapshot() *Pane {
	c := newPane(p.Doc.Snapshot())
	c.Generation = p.Generation
	c.Path, c.Demo, c.Rec, c.begun = p.Path, p.Demo, p.Rec, true
	c.Look, c.Table.TableShape = p.Look, p.Table.TableShape
	c.Pick, c.Flag = p.Pick, p.Flag
	c.Pick.InCallers = true
	c.Down, c.Table.Down, c.Flame.Tree, c.Shown = p.Down, p.Table.Down, p.Flame.Tree, p.Shown
	if p.Find != "" {
		// Share the pattern, so that its search results stay valid.
		c.Search.Set(p.Find)
		c.Search.Pattern = p.Search.Pattern
	}
	if p.ScopeComparison != nil {
		c.ScopeComparison = p.ScopeComparison.snapshot(c)
	}
	c.Runs = slices.Clone(p.Runs)
	c.Actions.Runs, c.Actions.ReadRun = c.runFiles, p.Actions.ReadRun
	panel.Find[*trend.Panel](c.Deck.All).Become(panel.Find[*trend.Panel](p.Deck.All))
	c.SourcePart.Of, c.SourcePart.At, c.SourcePart.Down = p.SourcePart.Of, p.SourcePart.At, p.SourcePart.Down
	return c
}
