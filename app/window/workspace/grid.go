package workspace

import (
	"ashlar/app/core/tables"
	"ashlar/render/widget"
)

// Grid is the table of the tab that is shown, else that of functions or of
// differences; nil when there is no answer yet.
func (d *Workspace) Grid() *tables.Grid {
	if f := d.gridding(); f != nil {
		return f()
	}
	return nil
}

// gridding is grid for another goroutine: a table may have a million rows.
func (d *Workspace) gridding() func() *tables.Grid {
	if g := d.below().Table(); g != nil {
		return g
	}
	if c := d.Versus; c != nil {
		return c.Table.Table(&c.Comparison)
	}
	return d.Pane.Table.Table(&d.Pane.Side)
}

// tableItems take the table that is shown out of the window.
func (d *Workspace) tableItems() []widget.Item {
	return []widget.Item{
		{Title: "Copy table as text", Do: func() { d.CopyTable(false) }},
		{Title: "Copy table as CSV", Do: func() { d.CopyTable(true) }},
		{Title: "Copy table as JSON", Do: func() { d.CopyGrid() }},
		{Title: "Save table…", Do: func() { d.Callbacks.SaveTable() }},
	}
}
