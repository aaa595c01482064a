package panel

import (
	"image"
	"path/filepath"
	"slices"

	"ashlar/app/core/session"
	"ashlar/app/core/view"
	"ashlar/ingest/fetch"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/search"
	"ashlar/render/theme"
	"ashlar/render/timeline"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// Side is one recording and how it is looked at: what the panels of the lower half
// and the timeline have in common.
type Side struct {
	// Look has a person's choices: it is undone, kept while a file is
	// followed, and said in addresses.
	view.Look

	Doc  *session.Side
	Rec  *recording.Recording
	Demo bool // it is the built-in one, which has no path
	Path string
	Part recording.Part // what was asked to be opened of it
	// Generation is the generation of rec; the pane is outdated while there is a newer one.
	Generation int
	Behind     bool
	Limits     [2]int64 // how far the view may go; the recording where they are equal
	Share      float64  // of its width that the flamegraph fills beside a heavier one; all of it where 0
	Pick       Picked
	Hover      *recording.FuncID
	Copy       bool
	Palette    *theme.Palette
	// PaletteOf changes with what colours stand for.
	PaletteOf int
	Bounds    PaneBounds
	Search    searchPart
	WantMenu  bool // of the selected item, requested with a key
	// Shown and shownAround are the trees that the flamegraph and the picture of callers
	// and callees were drawn of last, and down and downAround how far they are
	// scrolled.
	Shown            *analyze.Tree
	ShownAround      [2]*analyze.Tree
	Down, DownAround int
	// ShowPick has the flamegraph bring what is picked into view.
	ShowPick bool
	Actions  SideActions
}

// SideActions lead from a side's parts to the rest of the window.
type SideActions struct {
	// FunctionItems lists what can be done with a function, and CommandItem copies the
	// command that shows the same in a terminal.
	FunctionItems func(f recording.Function) []widget.Item
	CommandItem   func() widget.Item
	// TableItems take the table that is shown out of the window.
	TableItems func() []widget.Item
	// WhySlow compares the slow calls of a function with the rest, in place.
	WhySlow func(f recording.Function)
	// CompareTypical compares a call, as a set of one, with the typical call.
	CompareTypical func(one string)
	// Show brings a hit into view and picks it.
	Show func(h search.Hit)
}

// Picked is the one thing whose details are shown: a bar of the timeline or a
// node of the flamegraph.
type Picked struct {
	Hit       timeline.Hit
	Node      int32 // of tree
	Tree      *analyze.Tree
	Fn        recording.FuncID
	Kind      pickKind
	InCallers bool // the sandwich knows of it
}

type pickKind uint8

const (
	PickNone pickKind = iota
	PickBar
	PickNode
	PickWindow
	PickFunc // a function, without a place
	PickCounter
	PickInstant
)

// Named reports whether what is picked has a function.
func (p *Picked) Named() bool { return p.Kind == PickBar || p.Kind == PickNode || p.Kind == PickFunc }

const (
	Flamegraph = view.FirstTab
	Functions  = "functions"
	Callers    = "callers"

	CallTree = "calltree"
	Heatmap  = "heatmap"
	Source   = "source"
	About    = "about"
)

// ZoomTo makes a path of functions fill the width of the flamegraph; nil shows
// everything.
func (p *Side) ZoomTo(path []recording.FuncName) { p.Zoom, p.Down = path, 0 }

// FlipFlamegraph puts the flamegraph's root at the other end.
func (p *Side) FlipFlamegraph() { p.Up, p.Down = !p.Up, 0 }

// Middle is the function whose callers and callees are shown: the one that was
// picked last anywhere else.
func (p *Side) Middle() recording.Function {
	if p.Around == nil {
		return recording.Function{}
	}
	return recording.Function{Name: p.Around.Name, Module: p.Around.Module}
}

// PutAround puts a function in the middle of its callers and callees.
func (p *Side) PutAround(f recording.Function) {
	if of := f.FuncName(); p.Around == nil || *p.Around != of {
		p.Around, p.Sides = &of, [2][]recording.FuncName{}
		p.DownAround = 0
	}
}

// ZoomAround makes the bar of a node of the callers or callees fill the width of
// its side; it is false for a node of neither side.
func (p *Side) ZoomAround(t *analyze.Tree, node int32) bool {
	for i, of := range p.ShownAround {
		if t != nil && of == t && int(node) < len(t.Nodes) {
			if p.Sides[i] = nil; node > 1 { // 1 is the function itself
				p.Sides[i] = PathOf(p.Rec, t, int(node))
			}
			return true
		}
	}
	return false
}

// ZoomedAround reports whether a side of the callers and callees is zoomed.
func (p *Side) ZoomedAround() bool { return p.Sides[0] != nil || p.Sides[1] != nil }

// FollowPick puts what is picked in the middle, unless it is a part of the callers and
// callees itself.
func (p *Side) FollowPick() {
	if f, ok := p.PickedFunction(); ok && !p.Pick.InCallers {
		p.PutAround(f)
		p.Pick.InCallers = true // once: the middle may be moved on from it
	}
}

// PickedTree is the tree of the node that is picked, nil if none is.
func (p *Side) PickedTree() *analyze.Tree {
	if p.Pick.Kind == PickNode {
		return p.Pick.Tree
	}
	return nil
}

// Counts reports whether an answer, which may be nil, has the numbers of tracks and
// functions that are shown: of a recording that loads it may be of a snapshot before.
func (p *Side) Counts(a *session.Answer) bool { return a != nil && a.Generation == p.Generation }

// Repick finds the picked node again in the tree of a newer answer: by its path,
// else the heaviest of its function. Where there is none, it stays as it was.
func (p *Side) Repick() {
	a := p.Doc.Answer()
	if p.Pick.Kind != PickNode || a == nil || p.Pick.Tree == nil || a.Rec != p.Rec { // which counts functions otherwise
		return
	}
	switch p.Pick.Tree {
	case a.Tree, a.Above, a.Below, p.Shown:
		return // it is shown already
	}
	near := p.Pick.InCallers
	path := PathOf(p.Rec, p.Pick.Tree, int(p.Pick.Node))
	if n, whole := NodeAt(a.Rec, a.Tree, path); n != 0 && whole {
		p.Pick.Tree, p.Pick.Node = a.Tree, int32(n)
	} else if p.Pick.Tree.Nodes[p.Pick.Node].Group == 0 {
		p.PickFunction(a, p.Pick.Fn)
	}
	p.Pick.InCallers = near
}

// PickFunction shows a function of the table: its heaviest node.
func (p *Side) PickFunction(a *session.Answer, f recording.FuncID) {
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
		p.Pick = Picked{Kind: PickNode, Node: best, Tree: a.Tree, Fn: f}
	}
}

// HasTransform reports whether a transform is on.
func (p *Side) HasTransform(t analyze.Transform) bool { return slices.Contains(p.Transforms, t) }

// PickedFunction is the function that is picked, if one is.
func (p *Side) PickedFunction() (recording.Function, bool) { return FunctionOf(p.Rec, &p.Pick) }

// FunctionOf is the function that something picked in a recording is of, false for none.
func FunctionOf(rec *recording.Recording, p *Picked) (recording.Function, bool) {
	switch {
	case p.Kind == PickNode && p.Tree != nil:
		return p.Tree.Function(rec, int(p.Node)), true
	case p.Kind == PickFunc:
		return rec.Functions.At(int(p.Fn)), true
	case p.Kind == PickBar && p.Hit.Call != recording.NoCall:
		return rec.Functions.At(int(p.Fn)), true
	}
	return recording.Function{}, false
}

// Transform adds a transform to those of the flamegraph and table; one that is
// there already is taken away.
func (p *Side) Transform(t analyze.Transform) {
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
	p.ZoomTo(nil)
}

// Swatch is the colour of a row's function.
func (p *Side) Swatch(a *session.Answer, r *analyze.Row) ui.Colour {
	f := r.Function(a.Rec)
	if int(r.Func) < a.Rec.Functions.Len() && a.Rec.Functions.At(int(r.Func)).Name == r.Name {
		return p.Palette.Func(a.Rec, r.Func)
	}
	return p.Palette.Theme.Bar(&f, p.Palette.Mode)
}

// MetricOf is the metric that is shown, never nil.
func (p *Side) MetricOf() *recording.Metric {
	if p.Event < len(p.Rec.Events) {
		if e := &p.Rec.Events[p.Event]; p.Metric >= 0 && p.Metric < len(e.Metrics) {
			return &e.Metrics[p.Metric]
		}
	}
	return &recording.Metric{}
}

// PaneBounds are the places of the parts in the last frame, in pixels.
type PaneBounds struct {
	Overview, Ruler, Lanes, Rows image.Rectangle
	LowerBounds
	Gutter int
}

// LowerBounds returns the places of the tabs, of the visible panel and of the details.
type LowerBounds struct{ Tabs, Lower, Side image.Rectangle }

// ViewLimits are how far the view goes.
func (p *Side) ViewLimits() (from, to int64) {
	if p.Limits[0] < p.Limits[1] {
		return p.Limits[0], p.Limits[1]
	}
	return p.Rec.Start, p.Rec.End
}

func (p *Side) Fit(from, to int64) {
	if !p.Rec.HasTime {
		return
	}
	p.View = p.View.Fit(from, to)
	p.Moved = true
}

func (p *Side) SetEvent(i int) {
	p.Event = i
	p.Metric = p.Rec.Events[i].Primary
	p.ZoomTo(nil)
	p.Pick = Picked{}
}

// ZoomToPicked makes the selected bar of the flamegraph fill its width.
func (p *Side) ZoomToPicked() {
	if p.Pick.Kind == PickNode && !p.ZoomAround(p.Pick.Tree, p.Pick.Node) {
		p.ZoomTo(PathOf(p.Rec, p.Pick.Tree, int(p.Pick.Node)))
	}
}

// SelectRange selects the time between two moments, within the recording.
func (p *Side) SelectRange(a, b int64) {
	if a > b {
		a, b = b, a
	}
	a, b = max(a, p.Rec.Start), min(b, p.Rec.End)
	p.Scope.Ranged, p.Scope.From, p.Scope.To = a < b, a, b
}

func (p *Side) Query() analyze.Query {
	q := analyze.Query{First: p.HasTransform(analyze.ByTime()), Event: p.Event, Metric: p.Metric, Scope: p.Scope}
	return q.With(p.Rec, p.Transforms)
}

// SourceFile is the file of the picked function, as the recording calls it,
// with the line that was picked, 0 when that is not known.
func (p *Side) SourceFile() (file string, line int32) {
	call := recording.NoCall
	switch {
	case p.Pick.Kind == PickBar:
		call = p.Pick.Hit.Call
	case p.Pick.Kind == PickNode && p.Pick.Tree != nil && int(p.Pick.Node) < len(p.Pick.Tree.Nodes):
		call = p.Pick.Tree.Nodes[p.Pick.Node].Call
	}
	if call != recording.NoCall && int(call) < p.Rec.Calls.Len() {
		f := p.Rec.Frames.At(int(p.Rec.Calls.Frame(call)))
		if file = f.File; file == "" {
			file = p.Rec.Functions.At(int(f.Func)).File
		}
		if file != "" {
			return file, f.Line
		}
	}
	if f, ok := p.PickedFunction(); ok {
		return f.File, 0
	}
	return "", 0
}

// Folder is the folder of the recording, "" if it is not a file.
func (p *Side) Folder() string {
	if p.Path == "" || p.Path == "-" || fetch.IsURL(p.Path) {
		return ""
	}
	return filepath.Dir(p.Path)
}

// Same reports whether the same thing is picked.
func (k *Picked) Same(o *Picked) bool {
	return k.Kind == o.Kind && k.Fn == o.Fn && k.Node == o.Node && k.Hit.Key() == o.Hit.Key() && k.Hit.Track == o.Hit.Track
}
