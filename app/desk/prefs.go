package desk

import (
	"strings"

	"ashlar/app/panel/functions"
	"ashlar/render/theme"
)

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

// Prefer looks at the recording as a person likes to look at any.
func (p *Pane) Prefer(prefs Prefs) {
	name, back := strings.CutPrefix(prefs.Sort, "-")
	for c := range functions.ColumnCount {
		if functions.ColumnInfos[c].Name == name && name != "" {
			p.Table.By, p.Table.Ascending = c, back != (functions.ColumnInfos[c].Number == nil)
		}
	}
	if prefs.Split > 0 {
		p.Split = max(.1, min(.9, prefs.Split))
	}
}

// Shown are the recordings in the window.
func (d *Desk) Shown() []*Pane {
	switch {
	case d.Versus != nil:
		return d.Versus.Panes[:]
	case d.Pane != nil:
		return []*Pane{d.Pane}
	}
	return nil
}
