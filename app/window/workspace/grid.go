package workspace

import (
	"ashlar/app/core/tables"
	"ashlar/render/widget"
)

// Grid returns the table of the current tab, else the table of functions or of
// differences; nil while there is no answer.
func (d *Workspace) Grid() *tables.Grid {
	if f := d.gridding(); f != nil {
		return f()
	}
	return nil
}

// gridding returns a function that makes the table, to be called on another goroutine: a
// table may have a million rows.
func (d *Workspace) gridding() func() *tables.Grid {
	if g := d.below().Table(); g != nil {
		return g
	}
	if c := d.Versus; c != nil {
		return c.Table.Table(&c.Comparison)
	}
	return d.Pane.Table.Table(&d.Pane.Side)
}

// tableItems returns the menu items that export the current table.
func (d *Workspace) tableItems() []widget.Item {
	return []widget.Item{
		{Title: "Copy table as text", Do: func() { d.CopyTable(false) }},
		{Title: "Copy table as CSV", Do: func() { d.CopyTable(true) }},
		{Title: "Copy table as JSON", Do: func() { d.CopyGrid() }},
		{Title: "Save table…", Do: func() { d.Callbacks.SaveTable() }},
	}
}
