package shell

import (
	"image"
	"slices"

	"gioui.org/f32"
	"gioui.org/io/event"
	"gioui.org/io/key"

	"ashlar/render/flame"
	"ashlar/render/ui"
)

// The half below the timeline is an area for the keyboard; what keys do there
// is for the tab that is shown.

// lowerArea begins it and reports whether it shows that it has the keyboard.
func (p *pane) lowerArea(s *Shell, u *ui.UI) bool {
	p.repick()
	var keys func(key.Event) bool
	h := u.Px(rowHeight)
	switch p.tab {
	case tabFlame:
		keys = func(k key.Event) bool { return p.flame.keyed(p, k) }
	case tabTable:
		keys = func(k key.Event) bool { return p.table.keyed(p, k, h) }
	case tabNear:
		keys = func(k key.Event) bool { return p.near.keyed(p, k, h) }
	case tabAbout:
		keys = func(k key.Event) bool { return scrollKey(&p.about.scroll, k, h, p.bounds.lower.Dy()) }
	}
	parts := []event.Tag{&p.flame.drag, &p.table.drag, &p.heat.drag, &p.about.drag}
	for i := range p.near.lists {
		parts = append(parts, &p.near.lists[i].drag)
	}
	return u.Area(&p.tab, keys, parts...)
}

// repick finds the picked node again in the tree of a newer answer: by its path,
// else the heaviest of its function. Where there is none, it stays as it was.
func (p *pane) repick() {
	a := p.doc.Answer()
	if p.pick.is != pickNode || a == nil || p.pick.tree == a.Tree || p.pick.tree == nil {
		return
	}
	path := pathOf(p.pick.tree, int(p.pick.node))
	at := flamePart{zoom: path}
	n := at.node(a.Tree)
	if n != 0 && len(a.Tree.Path(n)) == len(path) {
		p.pick.tree, p.pick.node = a.Tree, int32(n)
		return
	}
	if p.pick.tree.Nodes[p.pick.node].Group == 0 {
		p.pickFunction(a, p.pick.fn)
	}
}

// scrollKey scrolls by keys.
func scrollKey(at *int, k key.Event, line, page int) bool {
	if k.Modifiers != 0 {
		return false
	}
	switch k.Name {
	case key.NameUpArrow:
		*at -= line
	case key.NameDownArrow:
		*at += line
	case key.NamePageUp:
		*at -= page - line
	case key.NamePageDown:
		*at += page - line
	case key.NameHome:
		*at = 0
	default:
		return false
	}
	return true
}

// rowKey moves among n rows by keys; at may be -1, for none.
func rowKey(at int, k key.Event, n, page int) (int, bool) {
	if k.Modifiers != 0 || n == 0 {
		return at, false
	}
	switch k.Name {
	case key.NameUpArrow:
		at--
	case key.NameDownArrow:
		at++
	case key.NamePageUp:
		at -= max(1, page-1)
	case key.NamePageDown:
		at += max(1, page-1)
	case key.NameHome:
		at = 0
	case key.NameEnd:
		at = n - 1
	default:
		return at, false
	}
	return max(0, min(at, n-1)), true
}

// into scrolls just so far that a row is seen.
func into(scroll *int, row, h, height int) {
	*scroll = min(*scroll, row*h)
	*scroll = max(*scroll, (row+1)*h-height)
}

// keyed moves through the flamegraph: up and down the stack, sideways to its
// neighbours; Return zooms.
func (f *flamePart) keyed(p *pane, k key.Event) bool {
	if k.Modifiers != 0 || f.tree == nil || len(f.pic.Bars) == 0 {
		return false
	}
	at := -1
	if p.pick.is == pickNode && p.pick.tree == f.tree {
		at = slices.IndexFunc(f.pic.Bars, func(b flame.Bar) bool { return b.Node == p.pick.node })
	}
	switch k.Name {
	case key.NameReturn:
		if at >= 0 {
			f.zoomTo(p, pathOf(f.tree, int(p.pick.node)))
		}
		return true
	case key.NameHome:
		f.zoomTo(p, nil)
		return true
	case key.NameUpArrow, key.NameDownArrow, key.NameLeftArrow, key.NameRightArrow:
	default:
		return false
	}
	to := f.neighbour(at, k.Name)
	if to < 0 {
		return true
	}
	b := &f.pic.Bars[to]
	if b.Node == 0 {
		p.pick = picked{}
		return true
	}
	p.pick = picked{is: pickNode, node: b.Node, tree: f.tree, fn: f.tree.Nodes[b.Node].Func}
	if y := f.pic.RowTop(b.Row); y < 0 {
		f.scroll += y - 20
	} else if low := p.bounds.lower.Dy() - 40; y > low {
		f.scroll += y - low
	}
	return true
}

// neighbour is the bar beside one in a direction, as it is drawn; -1 for none.
func (f *flamePart) neighbour(at int, dir key.Name) int {
	if at < 0 { // from the outermost bar
		at = 0
		for i := range f.pic.Bars {
			if f.pic.Bars[i].Node == 0 {
				at = i
			}
		}
		if dir != key.NameUpArrow && dir != key.NameDownArrow {
			dir = key.NameDownArrow
		}
		if f.beside(at, key.NameDownArrow) < 0 { // flames grow upwards
			dir = key.NameUpArrow
		}
	}
	return f.beside(at, dir)
}

func (f *flamePart) beside(at int, dir key.Name) int {
	bars := f.pic.Bars
	from := &bars[at]
	y := f.pic.RowTop(from.Row)
	best := -1
	for i := range bars {
		b := &bars[i]
		if i == at {
			continue
		}
		top := f.pic.RowTop(b.Row)
		switch dir {
		case key.NameLeftArrow:
			if top == y && b.X1 <= from.X0+.5 && (best < 0 || b.X0 > bars[best].X0) {
				best = i
			}
		case key.NameRightArrow:
			if top == y && b.X0 >= from.X1-.5 && (best < 0 || b.X0 < bars[best].X0) {
				best = i
			}
		case key.NameUpArrow, key.NameDownArrow:
			near := b.Row == from.Row+1 || b.Row == from.Row-1
			if !near || (top < y) != (dir == key.NameUpArrow) || b.X1 <= from.X0 || b.X0 >= from.X1 {
				continue
			}
			if best < 0 || b.X1-b.X0 > bars[best].X1-bars[best].X0 {
				best = i
			}
		}
	}
	return best
}

// keyed moves through the rows; Return shows the callers and callees.
func (t *tablePart) keyed(p *pane, k key.Event, h int) bool {
	a := p.doc.Answer()
	if a == nil || len(t.rows) == 0 {
		return false
	}
	at := t.rowOf(p)
	if k.Name == key.NameReturn && k.Modifiers == 0 && at >= 0 {
		p.tab = tabNear
		return true
	}
	height := p.bounds.lower.Dy() - h - 4
	to, ok := rowKey(at, k, len(t.rows), height/h)
	if ok {
		p.pickFunction(a, t.rows[to].Func)
		into(&t.scroll, to, h, height-h)
	}
	return ok
}

// rowOf is the row of the picked function, -1 for none.
func (t *tablePart) rowOf(p *pane) int {
	if _, ok := p.pickedFunction(); !ok {
		return -1
	}
	for i := range t.rows {
		if t.rows[i].Func == p.pick.fn {
			return i
		}
	}
	return -1
}

// keyed moves through the callers or, by → and ←, the callees; Return goes on
// to one.
func (n *nearPart) keyed(p *pane, k key.Event, h int) bool {
	a := p.doc.Answer()
	if a == nil || a.Near == nil {
		return false
	}
	rows := a.Near.Callers
	if n.list == 1 {
		rows = a.Near.Callees
	}
	l := &n.lists[n.list]
	switch {
	case k.Modifiers != 0:
		return false
	case k.Name == key.NameLeftArrow:
		n.list = 0
	case k.Name == key.NameRightArrow:
		n.list = 1
	case k.Name == key.NameReturn:
		if l.chosen < len(rows) {
			p.pickFunction(a, rows[l.chosen].Func)
			n.lists[0].chosen, n.lists[1].chosen = 0, 0
		}
	default:
		to, ok := rowKey(l.chosen, k, len(rows), 10)
		if ok {
			l.chosen = to
			into(&l.scroll, to, h, p.bounds.lower.Dy()-3*h)
		}
		return ok
	}
	return true
}

// menuByKey opens the menu of what is selected, where a key has asked for it.
func (p *pane) menuByKey(s *Shell, u *ui.UI) {
	if !p.wantMenu {
		return
	}
	p.wantMenu = false
	switch {
	case s.focus.In(&p.tab) && p.tab == tabFlame && p.pick.is == pickNode && p.pick.tree == p.flame.tree:
		f := &p.flame
		for i := range f.pic.Bars {
			if b := &f.pic.Bars[i]; b.Node == p.pick.node {
				f.under = b.Node
				f.at = f32.Pt(float32(b.X0)+float32(u.Px(flamePad+20)), float32(f.pic.RowTop(b.Row)+u.Px(flamePad+20)))
				f.contextMenu(s, p, u)
			}
		}
	case s.focus.In(&p.tab) && p.tab == tabTable:
		t := &p.table
		if i, a := t.rowOf(p), p.doc.Answer(); i >= 0 && a != nil {
			h := u.Px(rowHeight)
			t.at = f32.Pt(float32(u.Px(60)), float32(i*h-t.scroll+h/2))
			t.menu(s, p, u, a, point(image.Pt(p.bounds.lower.Min.X, p.bounds.lower.Min.Y+h), t.at))
		}
	case p.timed():
		p.timeline.menuOfPick(s, p, u)
	}
	if s.menu != nil {
		s.menu.chosen = 0
	}
}

// menuOfPick opens the menu where the picked bar is, or that of the current
// thread.
func (t *timelinePart) menuOfPick(s *Shell, p *pane, u *ui.UI) {
	at := t.lanes.at
	defer func() { t.lanes.at = at }()
	if i := p.pickedRow(); i >= 0 {
		h := &p.pick.hit
		x0, y0, x1, y1 := t.plan.Box(p.view, i, h.Lane, h.Start, h.End, p.bounds.lanes.Dx(), p.bounds.gutter)
		x := max(p.bounds.gutter, min((x0+x1)/2, p.bounds.lanes.Dx()-1))
		t.lanes.at = f32.Pt(float32(x), float32(max(0, min((y0+y1)/2, p.bounds.lanes.Dy()-1))))
	} else if r := p.currentRow(); r != nil {
		t.lanes.at = f32.Pt(float32(u.Px(40)), float32(max(0, r.Y-p.view.Scroll+u.Px(12))))
	}
	t.contextMenu(s, p, u)
}
