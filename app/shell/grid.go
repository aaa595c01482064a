package shell

import (
	"ashlar/app/panel"
	"ashlar/render/widget"
)

// grid is the table of the tab that is shown, else that of functions or of
// differences; nil when there is no answer yet.
func (s *Shell) grid() *panel.Grid {
	if f := s.gridding(); f != nil {
		return f()
	}
	return nil
}

// gridding is grid for another goroutine: a table may have a million rows.
func (s *Shell) gridding() func() *panel.Grid {
	if c := s.versus; c != nil {
		return c.table.Table(&c.Pair)
	}
	p := s.pane
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
