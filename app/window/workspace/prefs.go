package workspace

import (
	"maps"
	"slices"

	"ashlar/app/core/view"
	"ashlar/app/window/panel/functions"
	"ashlar/render/theme"
)

// Prefs are how a person likes to look at any recording. Zero values are how everything
// is at first.
type Prefs struct {
	Theme string // "system" follows the system
	// Scale makes everything larger.
	Scale float32
	// Look has what a State is remembered by; nil if nothing was ever said.
	Look view.Kept
}

// Equal reports whether two are the same.
func (p *Prefs) Equal(q *Prefs) bool {
	return p.Theme == q.Theme && p.Scale == q.Scale && maps.Equal(p.Look, q.Look)
}

// Prefer looks at the recording as a person likes to look at any.
func (p *Pane) Prefer(st *view.State) {
	st.Group, st.Widths = "", nil // which belong to one recording
	p.Table.Restore(&st.Table)
	p.Split = view.ClampSplit(st.Split)
}

// Look says how recordings are looked at now, as far as that is remembered: what
// nothing that is open says is as it was liked before.
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
		shape, st.Split = p.Table.TableShape, p.Split
	}
	shape.Hidden, st.Table = functions.ColumnSet(d.HiddenColumns), view.Table{}
	shape.State(&st.Table)
	return st.Kept()
}

// Shown are the recordings in the window.
func (d *Workspace) Shown() []*Pane {
	switch {
	case d.Versus != nil:
		return slices.Clone(d.Versus.Panes[:])
	case d.Pane != nil:
		return []*Pane{d.Pane}
	}
	return nil
}
