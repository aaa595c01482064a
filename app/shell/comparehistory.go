package shell

import (
	"slices"

	"ashlar/app/pair"
	"ashlar/app/panel/difftable"
	"ashlar/app/view"
	"ashlar/render/theme"
)

// compareSpot is what a step of history is about where two recordings are
// compared.
type compareSpot struct {
	Sides [2]view.Look
	pair.Look
	Shape difftable.Shape
	Mode  theme.Mode
	Parts View
}

func (c *comparison) spot(s *Shell) compareSpot {
	sp := compareSpot{[2]view.Look{c.panes[0].Settled(), c.panes[1].Settled()}, c.Look, c.table.Shape, s.Mode, s.View}
	sp.Options.Match.Hand = slices.Clone(sp.Options.Match.Hand)
	for i := range sp.Sides { // it follows from the options, once it is known what goes together
		sp.Sides[i].Event, sp.Sides[i].Metric = 0, 0
	}
	return sp
}

// still is a comparison that shows the same and never changes.
func (c *comparison) still() *comparison {
	o := newComparison(c.panes[0].still(), c.panes[1].still())
	o.Engine, o.Focus, o.Look, o.Chosen = c.Engine.Still(), c.Focus, c.Look, c.Chosen
	o.Link.Call, o.Link.Twin = c.Link.Call, c.Link.Twin
	o.Node, o.Down = c.Node, c.Down
	o.table.Shape, o.table.Down = c.table.Shape, c.table.Down
	o.pairing.Down, o.pairing.Kind = c.pairing.Down, c.pairing.Kind
	o.Alike = o.Now()
	return o
}
