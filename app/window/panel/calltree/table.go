package calltree

import (
	"cmp"
	"hash/maphash"
	"image"
	"slices"

	"gioui.org/io/event"
	"gioui.org/io/key"
	"gioui.org/io/pointer"

	"ashlar/app/core/tables"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/render/theme"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// forest is the tree shown in a table, of one recording or of two.
type forest interface {
	// Children returns the children of a node; the root is node 0.
	Children(node int) []int32
	function(node int32) recording.FuncName
	// heavy returns the weight by which siblings are sorted, largest first.
	heavy(node int32) int64
	parent(node int32) int32
	depth(node int32) int32
	// cells returns the texts to the right of the name.
	cells(node int32) []cell
}

// cell is a text in a row. A change is drawn in the colour of its sign, unless it may be
// noise.
type cell struct {
	text          string
	sign          int64
	change, noise bool
}

// table lists the nodes of a tree, each below its caller, the heaviest first. A row is
// folded until it is opened.
type table struct {
	widget.List
	// open records whether a row is open, by the path of function names to it; so it
	// stays valid for the next answer. Rows that are not recorded are open only if they
	// have no siblings.
	open  map[path]bool
	rows  []row
	of    forest
	id    any // identifies the tree that of holds
	stale bool
	sheet ui.Sheet
}

// row is a node that is listed.
type row struct {
	node  int32
	depth int32 // 1 for the outermost
	path  path
	kids  bool
	open  bool // its children are listed
}

// path is a hash of the function names from the root to a node. The names themselves would
// take memory in proportion to the square of the depth.
type path uint64

var seed = maphash.MakeSeed()

func (p path) below(f recording.FuncName) path {
	return path(maphash.Comparable(seed, struct {
		path
		recording.FuncName
	}{p, f}))
}

// Widths of the columns, in dp. Names take the rest; if room is short, the last columns
// are left out.
const (
	columnWidth = 92
	narrowWidth = 76 // if there are many columns
	leastName   = 200
)

// refresh updates the rows after the tree or the set of open nodes has changed.
func (t *table) refresh(id any, of func() forest) {
	if t.id != id {
		t.id, t.of, t.stale = id, of(), true
	}
	if t.stale {
		t.stale = false
		t.rows = list(t.rows[:0], t.of, func(p path, alone bool) bool {
			open, said := t.open[p]
			return open || alone && !said
		})
	}
}

// list appends the rows below the root, and those below each open row, the heaviest first.
func list(rows []row, of forest, open func(p path, alone bool) bool) []row {
	type level struct {
		kids  []int32 // not yet listed
		alone bool
		path  path
	}
	kidsOf := func(node int32, p path) level {
		kids := of.Children(int(node))
		if len(kids) > 1 {
			kids = slices.Clone(kids)
			slices.SortStableFunc(kids, func(x, y int32) int { return cmp.Compare(of.heavy(y), of.heavy(x)) })
		}
		return level{kids, len(kids) == 1, p}
	}
	for levels := []level{kidsOf(0, 0)}; len(levels) > 0; {
		l := &levels[len(levels)-1]
		if len(l.kids) == 0 {
			levels = levels[:len(levels)-1]
			continue
		}
		k := l.kids[0]
		l.kids = l.kids[1:]
		p := l.path.below(of.function(k))
		w := row{k, int32(len(levels)), p, len(of.Children(int(k))) > 0, open(p, l.alone)}
		if rows = append(rows, w); w.open && w.kids {
			levels = append(levels, kidsOf(k, p))
		}
	}
	return rows
}

// listed is a node of a tree that is unfolded, with its depth: 1 for the outermost.
type listed struct {
	node  int32
	depth int
}

// gridOf returns all nodes of a tree, each below its caller, with the columns cs.
func gridOf(name string, of forest, cs []tables.Column[listed]) *tables.Grid {
	var rows []listed
	for _, w := range list(nil, of, func(path, bool) bool { return true }) {
		rows = append(rows, listed{w.node, int(w.depth)})
	}
	return tables.NewGrid(name, append([]tables.Column[listed]{
		tables.Count("depth", func(r *listed) int64 { return int64(r.depth) }),
		tables.Named("function", func(r *listed) string { return of.function(r.node).Name }),
		tables.Named("module", func(r *listed) string { return of.function(r.node).Module }),
	}, cs...), rows)
}

// layout draws the column titles and the visible rows; chosen is the selected node. A
// click on a row calls pick; menu opens its context menu.
func (t *table) layout(h *panel.Host, u *ui.UI, r image.Rectangle, heads []string, chosen int32, pick func(node int32), menu func(node int32, at image.Point)) {
	line := u.Px(widget.RowHeight)
	body := image.Rect(r.Min.X, r.Min.Y+line+u.Px(4), r.Max.X-u.Px(12), r.Max.Y)
	t.Events(u, body, line, len(t.rows), func(g widget.Gesture, i int) {
		if i < 0 || g != widget.Clicked && g != widget.DoubleClicked && g != widget.MenuAsked {
			return
		}
		w := &t.rows[i]
		pick(w.node)
		switch {
		case g == widget.MenuAsked:
			menu(w.node, widget.Point(body.Min, t.At))
		case g == widget.DoubleClicked || int(t.At.X) < t.indent(u, w.node):
			t.fold(w, !w.open)
		}
	})
	t.refresh(t.id, nil)
	titles := make([]cell, len(heads)-1)
	for i, s := range heads[1:] {
		titles[i].text = s
	}
	t.cells(h, u, image.Rect(body.Min.X, r.Min.Y, body.Max.X, r.Min.Y+line), 0, heads[0], titles, ui.Style{Size: 11.5, Weight: ui.Medium, Color: u.Theme.Dim},
		func(r image.Rectangle, s string, st ui.Style) { u.Text(r, s, st) })
	u.HLine(r.Min.X, r.Max.X, body.Min.Y-u.Px(2), u.Theme.Rule)
	t.Rows(body, line, len(t.rows), func(i int, at image.Rectangle) {
		w := &t.rows[i]
		if c, ok := t.Ground(u, at, w.node == chosen); ok {
			t.sheet.Fill(at, 0, c)
		}
		x := t.indent(u, w.node)
		if w.kids {
			mark := "▸"
			if w.open {
				mark = "▾"
			}
			t.sheet.Text(ui.Rect(x-u.Px(16), at.Min.Y, u.Px(14), at.Dy()), mark, ui.Style{Size: 12, Color: u.Theme.Dim})
		}
		t.cells(h, u, at, x-u.Px(24), t.of.function(w.node).Name, t.of.cells(w.node), ui.Style{Size: 12, Color: u.Theme.Text}, t.sheet.Text)
	})
	t.sheet.Show(u, body, u.Theme.Background)
	t.Area(u, body, pointer.CursorDefault)
}

// indent returns the start of a node's name.
func (t *table) indent(u *ui.UI, node int32) int {
	return u.Px(24) + int(min(t.of.depth(node)-1, 40))*u.Px(14)
}

// cells draws a row: the name, indented, and as many of the texts as fit.
func (t *table) cells(h *panel.Host, u *ui.UI, line image.Rectangle, indent int, name string, texts []cell, st ui.Style, text func(image.Rectangle, string, ui.Style)) {
	w := u.Px(columnWidth)
	if len(texts) > 6 {
		w = u.Px(narrowWidth)
	}
	texts = texts[:max(0, min(len(texts), (line.Dx()-u.Px(leastName))/w))]
	x := line.Max.X - len(texts)*w - u.Px(8)
	box := image.Rect(line.Min.X+u.Px(24)+indent, line.Min.Y, max(line.Min.X+u.Px(80)+indent, x), line.Max.Y)
	text(box, h.Fonts.Regular(st.Size*u.Metric.PxPerDp).Fit(name, float32(box.Dx())), st)
	st.Align = ui.End
	for _, c := range texts {
		look := st
		switch {
		case c.noise:
			look.Color = theme.Mix(u.Theme.Dim, u.Theme.Faint, .6)
		case c.change && c.sign > 0:
			look.Color = u.Theme.More()
		case c.change && c.sign < 0:
			look.Color = u.Theme.Less()
		case c.change:
			look.Color = u.Theme.Dim
		}
		text(image.Rect(x, line.Min.Y, x+w, line.Max.Y), c.text, look)
		x += w
	}
}

func (t *table) fold(w *row, open bool) {
	if t.open == nil {
		t.open = map[path]bool{}
	}
	t.open[w.path], t.stale = open && w.kids, true
}

// key moves among the rows, starting from a node's row, and returns the new row, or -1 to
// stay. Right unfolds a row, Left folds it or goes to its caller.
func (t *table) key(k key.Event, chosen int32) (to int, ok bool) {
	if k.Modifiers != 0 || t.of == nil {
		return -1, false
	}
	at := slices.IndexFunc(t.rows, func(w row) bool { return w.node == chosen })
	switch {
	case k.Name == key.NameRightArrow && at >= 0 && !t.rows[at].open:
		t.fold(&t.rows[at], true)
	case k.Name == key.NameLeftArrow && at >= 0 && t.rows[at].open:
		t.fold(&t.rows[at], false)
	case k.Name == key.NameLeftArrow && at >= 0:
		at = slices.IndexFunc(t.rows, func(w row) bool { return w.node == t.of.parent(t.rows[at].node) })
	case k.Name == key.NameRightArrow:
	default:
		return t.Key(k, at, len(t.rows))
	}
	if at >= 0 {
		t.Into(at)
	}
	return at, true
}

// Areas returns the areas that focus the table when clicked.
func (t *table) Areas() []event.Tag { return []event.Tag{&t.Drag} }

// Listed returns the nodes of the listed rows.
func (t *table) Listed() (nodes []int32) {
	for i := range t.rows {
		nodes = append(nodes, t.rows[i].node)
	}
	return nodes
}
