package workspace

import (
	"maps"
	"slices"

	"ashlar/app/core/view"
	"ashlar/app/window/panel"
	"ashlar/app/window/panel/functions"
	"ashlar/render/theme"
)

// Prefs are the user's preferences for viewing any recording. Zero values are the
// defaults.
type Prefs struct {
	Theme string // "system" follows the system
	// Scale is the scale of the interface.
	Scale float32
	// Columns are the widths of the columns beside the timeline and the panels.
	Columns panel.Columns
	// NoFindings hides the findings of recordings.
	NoFindings bool
	// Look holds the preferred fields of a State; nil if none was ever set.
	Look view.Kept
}

// Equal reports whether p and q are the same.
func (p *Prefs) Equal(q *Prefs) bool {
	return p.Theme == q.Theme && p.Scale == q.Scale && p.Columns == q.Columns && p.NoFindings == q.NoFindings && maps.Equal(p.Look, q.Look)
}

// Prefer applies the user's preferred settings.
func (p *Pane) Prefer(st *view.State) {
	st.Group, st.Widths = "", nil // these belong to one recording
	p.Table.Restore(&st.Table)
	p.Split, p.Syntax = view.ClampSplit(st.Split), st.Syntax
}

// Look returns the current settings that are remembered as preferences. Settings that no
// open recording determines keep their earlier values.
func (d *Workspace) Look() view.Kept {
	st := d.Preferred.Look.State()
	if st.Colour = ""; d.Mode != theme.ByFunction {
		st.Colour = string(d.Mode)
	}
	if c := d.Versus; c != nil {
		if st.Layout = ""; c.Above {
			st.Layout = view.Above
		}
	}
	shape := functions.NewTablePart().TableShape
	shape.Restore(&st.Table)
	if p := d.Pane; p != nil {
		shape, st.Split, st.Syntax = p.Table.TableShape, p.Split, p.Syntax
	}
	shape.Hidden, st.Table = functions.ColumnSet(d.HiddenColumns), view.Table{}
	shape.State(&st.Table)
	return st.Kept()
}

// Shown returns the panes in the window.
func (d *Workspace) Shown() []*Pane {
	switch {
	case d.Versus != nil:
		return slices.Clone(d.Versus.Panes[:])
	case d.Pane != nil:
		return []*Pane{d.Pane}
	}
	return nil
}
