package shell

import (
	"gioui.org/io/event"
	"gioui.org/io/key"

	"ashlar/render/ui"
)

// The parts of a comparison as areas for the keyboard.

// keysAt gives the keyboard's side the focus, and lets the views of both move
// on by themselves.
func (c *comparison) keysAt(s *Shell, u *ui.UI) {
	for i, p := range c.panes {
		if s.focus.Shown && i != c.focus && (s.focus.In(&p.timeline.lanes) || s.focus.In(&p.tracks)) {
			c.focusOn(s, i)
		}
		if i == c.focus {
			p.menuByKey(s, u)
		}
		p.motion.step(s, p, u)
		p.flows.update(s, p)
	}
}

// lowerArea begins the area of the half below and reports whether it shows that
// it has the keyboard.
func (c *comparison) lowerArea(u *ui.UI) bool {
	h := u.Px(rowHeight)
	p := c.panes[c.focus]
	var keys func(key.Event) bool
	switch c.tab {
	case compareFlame:
		keys = func(k key.Event) bool { return c.flame.keyed(c, k) }
	case compareTwo:
		keys = func(k key.Event) bool { return p.flame.keyed(p, k) }
	case compareTable:
		keys = func(k key.Event) bool { return c.table.keyed(c, k, h) }
	case compareAbout:
		keys = func(k key.Event) bool { return scrollKey(&p.about.scroll, k, h, c.bounds.lower.Dy()) }
	}
	parts := []event.Tag{&c.flame.drag, &c.table.drag}
	for _, p := range c.panes {
		parts = append(parts, &p.flame.drag, &p.about.drag)
	}
	return u.Area(&c.tab, keys, parts...)
}

// keyed moves through the bars, as in a flamegraph of one recording.
func (f *differencePart) keyed(c *comparison, k key.Event) bool {
	if k.Modifiers != 0 || f.pic.Shape == nil {
		return false
	}
	switch k.Name {
	case key.NameReturn:
		if f.node > 0 {
			f.zoomTo(int(f.node))
		}
	case key.NameHome:
		f.zoom, f.scroll = nil, 0
	case key.NameUpArrow, key.NameDownArrow, key.NameLeftArrow, key.NameRightArrow:
		var bs []placed
		var from *placed
		for i := range f.pic.Bars {
			b := &f.pic.Bars[i]
			bs = append(bs, placed{x0: b.X0, x1: b.X1, y: f.pic.RowTop(b.Row), node: b.Node})
		}
		for i := range bs {
			if bs[i].node == max(0, f.node) {
				from = &bs[i]
			}
		}
		if to := beside(bs, from, k.Name); to != nil && to.node > 0 {
			c.choose(f.of, f.pic.Shape.Nodes[to.node].Func)
			f.node = to.node
			if low := c.bounds.lower.Dy() - 60; to.y < 0 {
				f.scroll += to.y - 20
			} else if to.y > low {
				f.scroll += to.y - low
			}
		}
	default:
		return false
	}
	return true
}

// keyed moves through the rows.
func (t *differenceTable) keyed(c *comparison, k key.Event, h int) bool {
	a := c.answer()
	if a == nil || len(t.rows) == 0 {
		return false
	}
	at := -1
	if key := c.chosenKey(a); key >= 0 {
		for i := range t.rows {
			if functionKey(a, &t.rows[i]) == key {
				at = i
				break
			}
		}
	}
	height := c.bounds.lower.Dy() - 2*h - 8
	to, ok := rowKey(at, k, len(t.rows), height/h)
	if ok {
		c.chooseRow(a, &t.rows[to])
		into(&t.scroll, to, h, height-h)
	}
	return ok
}
