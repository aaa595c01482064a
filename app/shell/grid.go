package shell

import (
	"ashlar/app/panel"
	"ashlar/render/widget"
)

// grid is the table of the tab that is shown, else that of functions; nil when
// there is no answer yet.
func (p *pane) grid() *panel.Grid { return p.gridding()() }

// gridding is grid for another goroutine: a table may have a million rows.
func (p *pane) gridding() func() *panel.Grid {
	if x, ok := p.panel().(panel.Tabled[*panel.Side]); ok {
		if g := x.Table(&p.Side); g != nil {
			return g
		}
	}
	return p.table.Table(&p.Side)
}

// tableItems take the table that is shown out of the window.
func (s *Shell) tableItems() []widget.Item {
	return []widget.Item{
		{Title: "Copy the table as text", Do: func() { s.copyTable(false) }},
		{Title: "Copy the table as CSV", Do: func() { s.copyTable(true) }},
		{Title: "Copy the table as JSON", Do: func() { s.copyGrid() }},
		{Title: "Save the table …", Do: func() { s.saveTable() }},
	}
}
