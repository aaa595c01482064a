package workspace

import (
	"ashlar/app/window/comparison"
	"ashlar/render/ui"
)

// lower draws the half below the timelines, which shows the answer about both.
func (c *Comparison) lower(d *Workspace, u *ui.UI) {
	if d.View == Both {
		u.Area(c.Deck.Tag(), nil)
		p := c.Panes[c.Focus]
		p.Bounds.Tabs = c.Bounds.Tabs
		c.tabs(d, u, c.Bounds.Tabs, 0, &c.Tab, c.timed(), p.viewItems)
		c.rows(d, u, c.Bounds.Tabs, &c.ScopeBar)
	}
	ring := c.Deck.Area(u, &c.Tab, c.Tab, &c.Comparison)
	tab := c.Tab
	if d.View == Flame {
		tab = comparison.Difference
	}
	if tab == comparison.Two {
		for _, p := range c.Panes {
			if !p.Behind && (p.Doc.Err() == nil || p.Rec.Done) {
				p.Doc.Ask(p.Question())
			}
		}
	}
	c.panel(d, u, tab, c.Bounds.Lower)
	if ring {
		u.Ring(c.Bounds.Lower, 2)
	}
	c.beside(d, u, c.Bounds.Side)
}

// focusByKey gives a side the focus when the keyboard focus enters its timeline.
func (c *Comparison) focusByKey(d *Workspace) {
	for i, p := range c.Panes {
		in := d.Focus.Shown && d.Focus.In(&p.Lanes) // the user did not choose the initial focus
		if in && !c.keyIn[i] {
			c.FocusOn(d, i)
		}
		c.keyIn[i] = in
	}
}
