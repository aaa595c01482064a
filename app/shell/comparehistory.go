package shell

import (
	"slices"

	"ashlar/app/view"
	"ashlar/render/theme"
)

// compareSpot is what a step of history is about where two recordings are
// compared.
type compareSpot struct {
	Sides [2]view.Look
	compareLook
	Shape differenceShape
	Mode  theme.Mode
	Parts View
}

func (c *comparison) spot(s *Shell) compareSpot {
	sp := compareSpot{[2]view.Look{c.panes[0].Settled(), c.panes[1].Settled()}, c.compareLook, c.table.differenceShape, s.Mode, s.View}
	sp.options.Match.Hand = slices.Clone(sp.options.Match.Hand)
	for i := range sp.Sides { // it follows from the options, once it is known what goes together
		sp.Sides[i].Event, sp.Sides[i].Metric = 0, 0
	}
	return sp
}

// still is a comparison that shows the same and never changes.
func (c *comparison) still() *comparison {
	o := &comparison{pair: c.pair.Still(), focus: c.focus, compareLook: c.compareLook, hover: -1, chosen: c.chosen}
	for i, p := range c.panes {
		o.panes[i] = p.still()
	}
	o.link.call, o.link.twin = c.link.call, c.link.twin
	o.flame.node, o.flame.scroll, o.flame.under = c.flame.node, c.flame.scroll, -1
	o.table.differenceShape, o.table.scroll = c.table.differenceShape, c.table.scroll
	o.pairing.scroll, o.pairing.kind = c.pairing.scroll, c.pairing.kind
	o.alike = o.now()
	return o
}
