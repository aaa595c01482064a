package desk

import (
	"slices"

	"ashlar/app/pair"
	"ashlar/app/panel/difftable"
	"ashlar/app/view"
	"ashlar/render/theme"
)

// compareSpot has what a step of history changes where two recordings are
// compared.
type compareSpot struct {
	Sides [2]view.Look
	pair.Look
	Shape difftable.Shape
	Mode  theme.Mode
	Parts View
}

// Spot describes how both are looked at now.
func (c *Comparison) Spot(d *Desk) compareSpot {
	sp := compareSpot{[2]view.Look{c.Panes[0].Settled(), c.Panes[1].Settled()}, c.Look, c.Table.Shape, d.Mode, d.View}
	sp.Options.Match.Hand = slices.Clone(sp.Options.Match.Hand)
	for i := range sp.Sides { // it follows from the options, once it is known what goes together
		sp.Sides[i].Event, sp.Sides[i].Metric = 0, 0
	}
	return sp
}

// Still is a comparison that shows the same and never changes.
func (c *Comparison) Still() *Comparison {
	o := newComparison(c.Panes[0].Still(), c.Panes[1].Still())
	o.Engine, o.Focus, o.Look, o.Chosen = c.Engine.Still(), c.Focus, c.Look, c.Chosen
	o.Link.Call, o.Link.Twin = c.Link.Call, c.Link.Twin
	o.Node, o.Down = c.Node, c.Down
	o.Table.Shape, o.Table.Down = c.Table.Shape, c.Table.Down
	o.Pairing.Down, o.Pairing.Kind = c.Pairing.Down, c.Pairing.Kind
	o.Alike = o.Now()
	return o
}
