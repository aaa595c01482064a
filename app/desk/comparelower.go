package desk

import (
	"ashlar/app/pair"
	"ashlar/render/ui"
)

// lower draws the half below the timelines, which answers for both.
func (c *Comparison) lower(d *Desk, u *ui.UI) {
	b := &c.Bounds
	if d.View == Both {
		u.Area(c.Deck.Tag(), nil)
		c.tabBar(d, u)
	}
	ring := c.Deck.Area(u, &c.Tab, c.Tab, &c.Pair)
	tab := c.Tab
	if d.View == Flame {
		tab = pair.Difference
	}
	if tab == pair.Two {
		for _, p := range c.Panes {
			if !p.Behind && (p.Doc.Err() == nil || p.Rec.Done) {
				p.Doc.Ask(p.Question())
			}
		}
	}
	if shown := c.Deck.Shown(tab); c.Answer() != nil || tab == pair.Two || tab == pair.About {
		shown.Layout(&d.Host, &c.Pair, u, b.lower)
	} else {
		r := b.lower.Inset(u.Px(24))
		r.Min.Y += r.Dy() / 3
		u.Text(r, c.Unanswered(), ui.Style{Size: 13, Color: u.Theme.Dim, Align: ui.Middle, Lines: 8})
	}
	if ring {
		u.Ring(b.lower, 2)
	}
	if d.View == Both {
		u.Area(c.Details.Tag(), nil)
		c.Details.Layout(&d.Host, u, b.side)
	}
	u.NoArea()
}
