package desk

import (
	"ashlar/app/pair"
	"ashlar/app/panel"
	"ashlar/render/widget"
)

// Grid is the table of the tab that is shown, else that of functions or of
// differences; nil when there is no answer yet.
func (d *Desk) Grid() *panel.Grid {
	if f := d.gridding(); f != nil {
		return f()
	}
	return nil
}

// gridding is grid for another goroutine: a table may have a million rows.
func (d *Desk) gridding() func() *panel.Grid {
	if c := d.Versus; c != nil {
		if x, ok := c.Deck.Shown(c.Tab).(panel.Tabled[*pair.Pair]); ok {
			if g := x.Table(&c.Pair); g != nil {
				return g
			}
		}
		return c.Table.Table(&c.Pair)
	}
	p := d.Pane
	if x, ok := p.panel().(panel.Tabled[*panel.Side]); ok {
		if g := x.Table(&p.Side); g != nil {
			return g
		}
	}
	return p.Table.Table(&p.Side)
}

// tableItems take the table that is shown out of the window.
func (d *Desk) tableItems() []widget.Item {
	return []widget.Item{
		{Title: "Copy the table as text", Do: func() { d.CopyTable(false) }},
		{Title: "Copy the table as CSV", Do: func() { d.CopyTable(true) }},
		{Title: "Copy the table as JSON", Do: func() { d.CopyGrid() }},
		{Title: "Save the table …", Do: func() { d.Does.SaveTable() }},
	}
}
