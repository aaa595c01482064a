package shell

import (
	"ashlar/ingest/recording"
	"slices"
)

// comparePlace is everything about a comparison that a person chooses and may
// want back.
type comparePlace struct {
	A, B     place
	Options  compareOptions
	Tab      compareTab
	Above    bool
	On       bool
	ByCall   bool
	Anchors  [2]int64
	Zoom     []recording.FuncName
	Filters  tableFilters
	Sort     differenceColumn
	Backward bool
}

func (c *comparison) spot() comparePlace {
	pl := comparePlace{A: c.panes[0].spot(), B: c.panes[1].spot(), Options: c.options, Tab: c.tab, Above: c.above, On: c.link.on, ByCall: c.link.byCall,
		Anchors: c.link.anchors, Zoom: slices.Clone(c.flame.zoom), Filters: c.table.filters, Sort: c.table.by, Backward: c.table.backward}
	pl.Options.Match.Hand = slices.Clone(pl.Options.Match.Hand)
	// The metric follows from the options, once it is known what goes together.
	for _, p := range []*place{&pl.A, &pl.B} {
		p.Event, p.Metric = 0, 0
	}
	return pl
}

func (c *comparison) goTo(pl comparePlace) {
	for i, to := range []place{pl.A, pl.B} {
		p := c.panes[i]
		to.Event, to.Metric = p.event, p.metric
		p.goTo(to)
	}
	c.options, c.tab, c.above = pl.Options, pl.Tab, pl.Above
	c.options.Match.Hand = slices.Clone(pl.Options.Match.Hand)
	c.link.on, c.link.byCall, c.link.anchors = pl.On, pl.ByCall, pl.Anchors
	c.flame.zoom = slices.Clone(pl.Zoom)
	c.table.filters, c.table.by, c.table.backward = pl.Filters, pl.Sort, pl.Backward
	c.alike = c.now() // not to be carried over: both sides are as they were
}

func (c *comparison) step(d int) {
	if to, ok := c.history.step(d, c.spot()); ok {
		c.goTo(to)
		c.history.seen = c.spot()
	}
}

// undo and redo are of what is shown: one recording, or two.
func (s *Shell) undo() { s.step(-1) }
func (s *Shell) redo() { s.step(1) }

func (s *Shell) step(d int) {
	if s.versus != nil {
		s.versus.step(d)
		return
	}
	s.pane.step(d)
}

// still is a comparison that shows the same and never changes.
func (c *comparison) still() *comparison {
	o := &comparison{pair: c.pair.Still(), focus: c.focus, hover: -1, split: c.split, chosen: c.chosen}
	for i, p := range c.panes {
		o.panes[i] = p.still()
	}
	o.goTo(c.spot())
	for i, p := range c.panes {
		o.panes[i].pick = p.pick
	}
	o.link.call, o.link.twin = c.link.call, c.link.twin
	o.flame.node, o.flame.scroll, o.flame.under = c.flame.node, c.flame.scroll, -1
	o.table.scroll, o.pairing.scroll, o.pairing.kind = c.table.scroll, c.pairing.scroll, c.pairing.kind
	o.alike = o.now()
	return o
}
