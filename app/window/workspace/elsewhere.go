package workspace

import (
	"path/filepath"

	"ashlar/app/window/scopebar"
	"ashlar/ingest/fetch"
)

// OnlyFile returns the path of the recording that is shown, "" if there is none or a
// second one beside it.
func (d *Workspace) OnlyFile() string {
	if p := d.Pane; p != nil && d.Versus == nil && !p.Demo && p.Path != "-" && !fetch.IsURL(p.Path) {
		return p.Path
	}
	return ""
}

// ElsewhereTitle returns the title of the offer to compare with the recording of another
// window, "" if there is none.
func (d *Workspace) ElsewhereTitle() string {
	if d.Elsewhere == "" || d.Pane == nil || d.Versus != nil || d.Pane.Against != nil {
		return ""
	}
	if abs, err := filepath.Abs(d.Pane.Path); err == nil && abs == d.Elsewhere {
		return ""
	}
	return "Compare with " + OneLine(filepath.Base(d.Elsewhere)) + " (open in another window)"
}

// CompareElsewhere compares with the recording of another window.
func (d *Workspace) CompareElsewhere() { d.OpenBeside(d.Elsewhere) }

// elsewhere returns the chip that offers to compare with the recording of another window.
func (d *Workspace) elsewhere() []scopebar.Chip {
	title := d.ElsewhereTitle()
	if title == "" {
		return nil
	}
	return []scopebar.Chip{{Text: title, Adds: true, More: []string{d.Elsewhere, "Click to compare"}, Go: d.CompareElsewhere}}
}
