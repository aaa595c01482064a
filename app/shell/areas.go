package shell

import (
	"image"

	"gioui.org/f32"
	"gioui.org/io/event"
	"gioui.org/io/key"

	"ashlar/ingest/analyze"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// The half below the timeline is an area for the keyboard; what keys do there
// is for the tab that is shown.

// lowerArea begins it and reports whether it shows that it has the keyboard.
func (p *pane) lowerArea(s *Shell, u *ui.UI) bool {
	p.repick()
	var keys func(key.Event) bool
	h := u.Px(widget.RowHeight)
	switch p.Tab {
	case tabFlame:
		keys = func(k key.Event) bool { return p.flame.keyed(p, k) }
	case tabTable:
		keys = func(k key.Event) bool { return p.table.keyed(p, k, h) }
	case tabNear:
		keys = func(k key.Event) bool { return p.near.keyed(p, k, h) }
	case tabAbout:
		keys = func(k key.Event) bool { return widget.ScrollKey(&p.about.scroll, k, h, p.bounds.lower.Dy()) }
	}
	parts := []event.Tag{&p.flame.Drag, &p.table.Drag, &p.heat.Drag, &p.about.Drag, &p.near.pic.Drag}
	for i := range p.near.sides {
		parts = append(parts, &p.near.sides[i].Drag)
	}
	return u.Area(&p.Tab, keys, parts...)
}

// repick finds the picked node again in the tree of a newer answer: by its path,
// else the heaviest of its function. Where there is none, it stays as it was.
func (p *pane) repick() {
	a := p.doc.Answer()
	if p.pick.is != pickNode || a == nil || p.pick.tree == nil {
		return
	}
	switch p.pick.tree {
	case a.Tree, a.Above, a.Below, p.flame.tree:
		return // it is what is shown
	}
	near := p.pick.near
	path := pathOf(p.rec, p.pick.tree, int(p.pick.node))
	if n, whole := nodeAt(a.Rec, a.Tree, path); n != 0 && whole {
		p.pick.tree, p.pick.node = a.Tree, int32(n)
	} else if p.pick.tree.Nodes[p.pick.node].Group == 0 {
		p.pickFunction(a, p.pick.fn)
	}
	p.pick.near = near
}

// keyed moves through the flamegraph: up and down the stack, sideways to its
// neighbours; Return zooms.
func (f *flamePart) keyed(p *pane, k key.Event) bool {
	if k.Modifiers != 0 || f.tree == nil {
		return false
	}
	switch k.Name {
	case key.NameReturn:
		if p.pick.is == pickNode && p.pick.tree == f.tree {
			f.zoomTo(p, pathOf(p.rec, f.tree, int(p.pick.node)))
		}
	case key.NameHome:
		f.zoomTo(p, nil)
	case key.NameUpArrow, key.NameDownArrow, key.NameLeftArrow, key.NameRightArrow:
		bs := widget.BarsOf(nil, 0, &f.pic)
		to := widget.Beside(bs, widget.BarOf(bs, p.pickedTree(), p.pick.node, 0), k.Name)
		if to == nil {
			break
		}
		if to.Node == 0 {
			p.pick = picked{}
			break
		}
		p.pick = picked{is: pickNode, node: to.Node, tree: f.tree, fn: f.tree.Nodes[to.Node].Func}
		if low := f.box.Dy() - 40; to.Y < 0 {
			f.scrollBy(p, to.Y-20)
		} else if to.Y > low {
			f.scrollBy(p, to.Y-low)
		}
	default:
		return false
	}
	return true
}

// keyed moves through the rows; Return shows the callers and callees.
func (t *tablePart) keyed(p *pane, k key.Event, h int) bool {
	a := t.order.of
	if a == nil || len(t.order.rows) == 0 {
		return false
	}
	at := t.chosen(p)
	if k.Name == key.NameReturn && k.Modifiers == 0 && at >= 0 && a.ByFunction() {
		p.Tab = tabNear
		return true
	}
	height := p.bounds.lower.Dy() - 2*h - 8
	to, ok := widget.RowKey(at, k, len(t.order.rows), height/h)
	if ok {
		t.choose(p, a, &t.order.rows[to])
		widget.ScrollInto(&t.scroll, to, h, height-h)
	}
	return ok
}

// chosen is the row that is marked, -1 for none.
func (t *tablePart) chosen(p *pane) int {
	a := t.order.of
	for i := range t.order.rows {
		r := &t.order.rows[i]
		if a.ByFunction() && p.pick.is != pickNone && p.pick.fn == r.Func || !a.ByFunction() && t.marked == r.Name {
			return i
		}
	}
	return -1
}

// keyed moves among the callers and callees; Return goes on to one.
func (n *nearPart) keyed(p *pane, k key.Event, h int) bool {
	a := p.doc.Answer()
	if a == nil || a.Near == nil || k.Modifiers != 0 {
		return false
	}
	if !p.Lists {
		return n.pic.keyed(p, k)
	}
	rows := a.Near.Callers
	if n.side == 1 {
		rows = a.Near.Callees
	}
	l := &n.sides[n.side]
	switch k.Name {
	case key.NameLeftArrow:
		n.side = 0
	case key.NameRightArrow:
		n.side = 1
	case key.NameReturn:
		if l.chosen < len(rows) {
			p.pickFunction(a, rows[l.chosen].Func)
			n.sides[0].chosen, n.sides[1].chosen = 0, 0
		}
	default:
		to, ok := widget.RowKey(l.chosen, k, len(rows), 10)
		if ok {
			l.chosen = to
			widget.ScrollInto(&l.scroll, to, h, p.bounds.lower.Dy()-4*h)
		}
		return ok
	}
	return true
}

// keyed moves through both sides of the picture; Return puts a function in the
// middle, Space zooms to it.
func (w *sandwich) keyed(p *pane, k key.Event) bool {
	if w.picture == nil {
		return false
	}
	switch k.Name {
	case key.NameReturn:
		if f, ok := p.pickedFunction(); ok {
			p.near.around(p, f)
		}
	case key.NameSpace:
		if p.pick.is == pickNode {
			p.near.zoomTo(p, p.pick.tree, p.pick.node)
		}
	case key.NameUpArrow, key.NameDownArrow, key.NameLeftArrow, key.NameRightArrow:
		bs := widget.BarsOf(widget.BarsOf(nil, 0, &w.pics[0]), 1, &w.pics[1])
		if to := widget.Beside(bs, widget.BarOf(bs, p.pickedTree(), p.pick.node, 1), k.Name); to != nil {
			p.pick = picked{is: pickNode, node: to.Node, tree: to.Tree, fn: to.Tree.Nodes[to.Node].Func, near: true}
			if low := w.box.Dy() - 24; to.Y < 0 {
				w.scroll += to.Y
			} else if to.Y > low {
				w.scroll += to.Y - low
			}
		}
	default:
		return false
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
	case s.focus.In(&p.Tab) && p.Tab == tabFlame && p.pick.is == pickNode && p.pick.tree == p.flame.tree:
		f := &p.flame
		for i := range f.pic.Bars {
			if b := &f.pic.Bars[i]; b.Node == p.pick.node {
				f.under = b.Node
				f.At = f32.Pt(float32(max(0, b.X0))+float32(u.Px(flamePad+20)), float32(f.pic.RowTop(b.Row)+u.Px(flamePad+20)))
				f.contextMenu(s, p, u)
			}
		}
	case s.focus.In(&p.Tab) && p.Tab == tabTable:
		t := &p.table
		if i := t.chosen(p); i >= 0 {
			h := u.Px(widget.RowHeight)
			t.menu(s, p, t.order.of, &t.order.rows[i], p.bounds.lower.Min.Add(image.Pt(u.Px(60), 2*h+i*h-t.scroll+h/2)))
		}
	case p.timed():
		p.timeline.menuOfPick(s, p, u)
	}
	if s.menu != nil {
		s.menu.Chosen = 0
	}
}

// menuOfPick opens the menu where the picked bar is, or that of the current
// thread.
func (t *timelinePart) menuOfPick(s *Shell, p *pane, u *ui.UI) {
	at := t.lanes.At
	defer func() { t.lanes.At = at }()
	if i := p.pickedRow(); i >= 0 {
		h := &p.pick.hit
		x0, y0, x1, y1 := t.plan.Box(p.View, i, h.Lane, h.Start, h.End, p.bounds.lanes.Dx(), p.bounds.gutter)
		x := max(p.bounds.gutter, min((x0+x1)/2, p.bounds.lanes.Dx()-1))
		t.lanes.At = f32.Pt(float32(x), float32(max(0, min((y0+y1)/2, p.bounds.lanes.Dy()-1))))
	} else if r := p.currentRow(); r != nil {
		t.lanes.At = f32.Pt(float32(u.Px(40)), float32(max(0, r.Y-p.View.Scroll+u.Px(12))))
	}
	t.contextMenu(s, p, u)
}

// pickedTree is the tree of the node that is picked, nil where none is.
func (p *pane) pickedTree() *analyze.Tree {
	if p.pick.is == pickNode {
		return p.pick.tree
	}
	return nil
}
