package shell

import (
	"gioui.org/io/event"
	"gioui.org/io/key"

	"ashlar/ingest/compare"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// lowerArea begins the half below as an area for the keyboard; what keys do
// there is for the tab that is shown. It reports whether it shows that it has
// the keyboard.
func (c *comparison) lowerArea(u *ui.UI) bool {
	h := u.Px(widget.RowHeight)
	var keys func(key.Event) bool
	switch c.tab {
	case compareFlame:
		keys = func(k key.Event) bool { return c.flame.keyed(c, k) }
	case compareTwo:
		p := c.panes[c.focus]
		keys = func(k key.Event) bool { return p.flame.Key(&p.Side, k, 0) }
	case compareTable:
		keys = func(k key.Event) bool { return c.table.keyed(c, k, h) }
	case comparePairing:
		keys = func(k key.Event) bool { return c.pairing.keyed(c, k, h) }
	}
	parts := []event.Tag{&c.flame.Drag, &c.table.Drag, &c.pairing.Drag, &c.panes[0].flame.Drag, &c.panes[1].flame.Drag}
	return u.Area(&c.tab, keys, parts...)
}

// focusByKey gives a side the focus when the keyboard has come to its timeline.
func (c *comparison) focusByKey(s *Shell) {
	for i, p := range c.panes {
		in := s.Focus.Shown && s.Focus.In(&p.Lanes) // where it is at first, nobody has chosen
		if in && !c.keyIn[i] {
			c.focusOn(s, i)
		}
		c.keyIn[i] = in
	}
}

// keyed moves through the flamegraph: up and down the stack, sideways to
// neighbours; Return zooms.
func (f *differencePart) keyed(c *comparison, k key.Event) bool {
	if k.Modifiers != 0 || f.pic.Shape == nil {
		return false
	}
	switch k.Name {
	case key.NameReturn:
		if f.node > 0 {
			f.zoomTo(c, int(f.node))
		}
	case key.NameHome:
		c.zoom, f.scroll = nil, 0
	case key.NameUpArrow, key.NameDownArrow, key.NameLeftArrow, key.NameRightArrow:
		var bs []widget.Bar
		for i := range f.pic.Bars {
			b := &f.pic.Bars[i]
			bs = append(bs, widget.Bar{X0: b.X0, X1: b.X1, Y: f.pic.RowTop(b.Row), Node: b.Node})
		}
		var from *widget.Bar
		for i := range bs {
			if bs[i].Node == max(0, f.node) {
				from = &bs[i]
			}
		}
		if to := widget.Beside(bs, from, k.Name); to != nil {
			f.under = to.Node
			f.click(c, false)
		}
	default:
		return false
	}
	return true
}

// rowAt is the place of the chosen function among rows, -1 for none.
func rowAt(c *comparison, rows []compare.Row, key func(*compare.Row) int32) int {
	a := c.answer()
	if a == nil || c.chosen == nil {
		return -1
	}
	for i := range rows {
		if f := key(&rows[i]); f >= 0 && a.Compared.Tree.Funcs[f].FuncName == *c.chosen {
			return i
		}
	}
	return -1
}

// keyed moves through the rows; Return shows the distribution of the calls.
func (t *differenceTable) keyed(c *comparison, k key.Event, h int) bool {
	a := c.answer()
	if a == nil || len(t.rows) == 0 {
		return false
	}
	at := rowAt(c, t.rows, func(r *compare.Row) int32 { return functionKey(a, r) })
	if k.Name == key.NameReturn && k.Modifiers == 0 && at >= 0 {
		c.tab = compareDistribution
		return true
	}
	height := c.bounds.lower.Dy() - 3*h
	to, ok := widget.RowKey(at, k, len(t.rows), height/h)
	if ok {
		c.chooseRow(a, &t.rows[to])
		widget.ScrollInto(&t.scroll, to, h, height-h)
	}
	return ok
}

// keyed moves through the pairs; Return pairs the chosen function by hand.
func (t *pairingPart) keyed(c *comparison, k key.Event, h int) bool {
	a := c.answer()
	if a == nil || len(t.rows) == 0 {
		return false
	}
	at := rowAt(c, t.rows, func(r *compare.Row) int32 { return r.Key })
	if k.Name == key.NameReturn && k.Modifiers == 0 && at >= 0 {
		t.wantPair = true
		return true
	}
	height := c.bounds.lower.Dy() - h
	to, ok := widget.RowKey(at, k, len(t.rows), height/h)
	if ok {
		c.choose(a, t.rows[to].Key)
		widget.ScrollInto(&t.scroll, to, h, height-h)
	}
	return ok
}
