package shell

import (
	"ashlar/app/session"
	"ashlar/app/view"
	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
	"ashlar/ingest/search"
	"ashlar/render/theme"
	"ashlar/render/timeline"
	"ashlar/render/ui"
	"ashlar/render/widget"
	"image"
	"path/filepath"
	"slices"
	"strings"
)

// Side is one recording and how it is looked at: what the panels of the lower half
// and the timeline have in common.
type Side struct {
	// Look is what a person has chosen: it is undone, kept while a file is
	// followed, and said in addresses.
	view.Look

	doc  *session.Side
	rec  *recording.Recording
	demo bool // it is the built-in one, which has no path
	path string
	part recording.Part // what was asked to be opened of it
	// generation is that of rec; the pane is behind while there is a newer one.
	generation int
	behind     bool
	reach      [2]int64 // how far the view may go; the recording where they are equal
	pick       picked
	hover      *recording.FuncID
	copy       bool
	palette    *theme.Palette
	// paletteOf changes with what colours stand for.
	paletteOf int
	bounds    paneBounds
	search    searchPart
	wantMenu  bool // of what is selected, asked for by a key
	// shown and shownAround are the trees that the flamegraph and the picture of callers
	// and callees were drawn of last, and down and downAround how far they are
	// scrolled.
	shown            *analyze.Tree
	shownAround      [2]*analyze.Tree
	down, downAround int
	// showPick has the flamegraph bring what is picked into view.
	showPick bool
	acts     acts
}

// acts are what a side's parts ask of the rest of the window.
type acts struct {
	// functionItems are what can be done with a function, and commandItem copies the
	// command that shows the same in a terminal.
	functionItems func(f recording.Function) []widget.Item
	commandItem   func() widget.Item
	// tableItems take the table that is shown out of the window.
	tableItems func() []widget.Item
	// show brings a hit into view and picks it.
	show func(h search.Hit)
}

// picked is the one thing whose details are shown: a bar of the timeline or a
// node of the flamegraph.
type picked struct {
	hit  timeline.Hit
	node int32 // of tree
	tree *analyze.Tree
	fn   recording.FuncID
	is   pickKind
	near bool // the sandwich knows of it
}

type pickKind uint8

const (
	pickNone pickKind = iota
	pickBar
	pickNode
	pickWindow
	pickFunc // a function, without a place
	pickCounter
	pickInstant
)

// named tells whether what is picked has a function.
func (p *picked) named() bool { return p.is == pickBar || p.is == pickNode || p.is == pickFunc }

const (
	tabFlame  = view.FirstTab
	tabTable  = "functions"
	tabNear   = "callers"
	tabStats  = "statistics"
	tabHeat   = "heatmap"
	tabSource = "source"
	tabAbout  = "about"
)

// zoomTo makes a path of functions fill the width of the flamegraph; nil shows
// everything.
func (p *Side) zoomTo(path []recording.FuncName) { p.Zoom, p.down = path, 0 }

// turn puts the flamegraph's root at the other end.
func (p *Side) turn() { p.Up, p.down = !p.Up, 0 }

// middle is the function whose callers and callees are shown: the one that was
// picked last anywhere else.
func (p *Side) middle() recording.Function {
	if p.Around == nil {
		return recording.Function{}
	}
	return recording.Function{Name: p.Around.Name, Module: p.Around.Module}
}

// around puts a function in the middle of its callers and callees.
func (p *Side) around(f recording.Function) {
	if of := f.FuncName(); p.Around == nil || *p.Around != of {
		p.Around, p.Sides = &of, [2][]recording.FuncName{}
		p.downAround = 0
	}
}

// zoomAround makes the bar of a node of the callers or callees fill the width of
// its side; it is false for a node of neither side.
func (p *Side) zoomAround(t *analyze.Tree, node int32) bool {
	for i, of := range p.shownAround {
		if t != nil && of == t && int(node) < len(t.Nodes) {
			if p.Sides[i] = nil; node > 1 { // 1 is the function itself
				p.Sides[i] = pathOf(p.rec, t, int(node))
			}
			return true
		}
	}
	return false
}

// zoomedAround tells whether a side of the callers and callees is zoomed.
func (p *Side) zoomedAround() bool { return p.Sides[0] != nil || p.Sides[1] != nil }

// followPick puts what is picked in the middle, unless it is a part of the callers and
// callees itself.
func (p *Side) followPick() {
	if f, ok := p.pickedFunction(); ok && !p.pick.near {
		p.around(f)
		p.pick.near = true // once: the middle may be moved on from it
	}
}

// pickedTree is the tree of the node that is picked, nil where none is.
func (p *Side) pickedTree() *analyze.Tree {
	if p.pick.is == pickNode {
		return p.pick.tree
	}
	return nil
}

// repick finds the picked node again in the tree of a newer answer: by its path,
// else the heaviest of its function. Where there is none, it stays as it was.
func (p *Side) repick() {
	a := p.doc.Answer()
	if p.pick.is != pickNode || a == nil || p.pick.tree == nil {
		return
	}
	switch p.pick.tree {
	case a.Tree, a.Above, a.Below, p.shown:
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

// pickFunction shows a function of the table: its heaviest node.
func (p *Side) pickFunction(a *session.Answer, f recording.FuncID) {
	best := int32(-1)
	if int(f) >= a.Rec.Functions.Len() {
		return
	}
	for i := 1; i < len(a.Tree.Nodes); i++ {
		if a.Tree.Nodes[i].Func == f && (best < 0 || a.Tree.Nodes[i].Total > a.Tree.Nodes[best].Total) {
			best = int32(i)
		}
	}
	if best >= 0 {
		p.pick = picked{is: pickNode, node: best, tree: a.Tree, fn: f}
	}
}

// has tells whether a transform is on.
func (p *Side) has(t analyze.Transform) bool { return slices.Contains(p.Transforms, t) }

// pickedFunction is the function that is picked, if one is.
func (p *Side) pickedFunction() (recording.Function, bool) {
	switch {
	case p.pick.is == pickNode && p.pick.tree != nil:
		return p.pick.tree.Function(p.rec, int(p.pick.node)), true
	case p.pick.is == pickFunc:
		return p.rec.Functions.At(int(p.pick.fn)), true
	case p.pick.is == pickBar && p.pick.hit.Call != recording.NoCall:
		return p.rec.Functions.At(int(p.pick.fn)), true
	}
	return recording.Function{}, false
}

// transform adds a transform to those of the flamegraph and table; one that is
// there already is taken away.
func (p *Side) transform(t analyze.Transform) {
	ts := slices.Clone(p.Transforms)
	if i := slices.Index(ts, t); i >= 0 {
		ts = slices.Delete(ts, i, i+1)
	} else {
		ts = append(ts, t)
	}
	if len(ts) == 0 {
		ts = nil
	}
	p.Transforms = ts
	p.zoomTo(nil)
}

// swatch is the colour of a row's function.
func (p *Side) swatch(a *session.Answer, r *analyze.Row) ui.Colour {
	f := r.Function(a.Rec)
	if int(r.Func) < a.Rec.Functions.Len() && a.Rec.Functions.At(int(r.Func)).Name == r.Name {
		return p.palette.Func(a.Rec, r.Func)
	}
	return p.palette.Theme.Bar(&f, p.palette.Mode)
}

// metricOf is the metric that is shown, never nil.
func (p *Side) metricOf() *recording.Metric {
	if p.Event < len(p.rec.Events) {
		if e := &p.rec.Events[p.Event]; p.Metric >= 0 && p.Metric < len(e.Metrics) {
			return &e.Metrics[p.Metric]
		}
	}
	return &recording.Metric{}
}

// paneBounds are the places of the parts in the last frame, in pixels.
type paneBounds struct {
	overview, ruler, lanes, rows, tabs, lower, side image.Rectangle
	gutter                                          int
}

// limits are how far the view goes.
func (p *Side) limits() (from, to int64) {
	if p.reach[0] < p.reach[1] {
		return p.reach[0], p.reach[1]
	}
	return p.rec.Start, p.rec.End
}

func (p *Side) fit(from, to int64) {
	if !p.rec.HasTime {
		return
	}
	p.View = p.View.Fit(from, to)
	p.Moved = true
}

func (p *Side) setEvent(i int) {
	p.Event = i
	p.Metric = p.rec.Events[i].Primary
	p.zoomTo(nil)
	p.pick = picked{}
}

// zoomToPicked makes the selected bar of the flamegraph fill its width.
func (p *Side) zoomToPicked() {
	if p.pick.is == pickNode && !p.zoomAround(p.pick.tree, p.pick.node) {
		p.zoomTo(pathOf(p.rec, p.pick.tree, int(p.pick.node)))
	}
}

// selectRange selects the time between two moments, within the recording.
func (p *Side) selectRange(a, b int64) {
	if a > b {
		a, b = b, a
	}
	a, b = max(a, p.rec.Start), min(b, p.rec.End)
	p.Scope.Ranged, p.Scope.From, p.Scope.To = a < b, a, b
}

func (p *Side) query() analyze.Query {
	q := analyze.Query{First: p.has(analyze.ByTime()), Event: p.Event, Metric: p.Metric, Scope: p.Scope}
	return q.With(p.rec, p.Transforms)
}

// sourceFile is the file of the picked function, as the recording calls it,
// with the line that was picked, 0 when that is not known.
func (p *Side) sourceFile() (file string, line int32) {
	call := recording.NoCall
	switch {
	case p.pick.is == pickBar:
		call = p.pick.hit.Call
	case p.pick.is == pickNode && p.pick.tree != nil && int(p.pick.node) < len(p.pick.tree.Nodes):
		call = p.pick.tree.Nodes[p.pick.node].Call
	}
	if call != recording.NoCall && int(call) < p.rec.Calls.Len() {
		f := p.rec.Frames.At(int(p.rec.Calls.Frame(call)))
		if file = f.File; file == "" {
			file = p.rec.Functions.At(int(f.Func)).File
		}
		if file != "" {
			return file, f.Line
		}
	}
	if f, ok := p.pickedFunction(); ok {
		return f.File, 0
	}
	return "", 0
}

// folder is where the recording lies, "" when it is no file.
func (p *Side) folder() string {
	if p.path == "" || p.path == "-" || strings.Contains(p.path, "://") {
		return ""
	}
	return filepath.Dir(p.path)
}
