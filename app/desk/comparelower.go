package desk

import (
	"ashlar/app/pair"
	"ashlar/render/ui"
)

// lower draws the half below the timelines, which answers for both.
func (c *Comparison) lower(s *Desk, u *ui.UI) {
	b := &c.Bounds
	if s.View == Both {
		u.Area(c.Deck.Tag(), nil)
		c.tabBar(s, u)
	}
	ring := c.Deck.Area(u, &c.Tab, c.Tab, &c.Pair)
	tab := c.Tab
	if s.View == Flame {
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
		shown.Layout(&s.Host, &c.Pair, u, b.lower)
	} else {
		r := b.lower.Inset(u.Px(24))
		r.Min.Y += r.Dy() / 3
		u.Text(r, c.Unanswered(), ui.Style{Size: 13, Color: u.Theme.Dim, Align: ui.Middle, Lines: 8})
	}
	if ring {
		u.Ring(b.lower, 2)
	}
	if s.View == Both {
		u.Area(c.Details.Tag(), nil)
		c.Details.Layout(&s.Host, u, b.side)
	}
	u.NoArea()
}
