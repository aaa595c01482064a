package panel

import (
	"context"
	"image"
	"path/filepath"
	"slices"
	"strings"

	"ashlar/app/core/session"
	"ashlar/app/core/view"
	"ashlar/ingest/fetch"
	"ashlar/ingest/model/funcname"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/search"
	"ashlar/render/theme"
	"ashlar/render/timeline"
	"ashlar/render/ui"
	"ashlar/render/widget"
)

// Side is one recording and its view, shared by the panels of the lower half and the
// timeline.
type Side struct {
	// Look holds the user's choices: undo restores them, they survive when a followed
	// file is read again, and addresses describe them.
	view.Look

	Doc  *session.Side
	Rec  *recording.Recording
	Demo bool // the recording is the built-in one, which has no path
	Path string
	Exe  string         // the program to take names and instructions from, "" for the recorded one
	Part recording.Part // the part of the file that was requested
	// Generation is the number of the reading of the file that made Rec: the ids of tracks
	// and functions are valid only in it. Behind reports whether there is a newer one.
	Generation int
	Behind     bool
	Limits     [2]int64 // maximum extent of the view; if both are equal, the recording's extent
	Share      float64  // share of the width that a flamegraph beside a heavier one fills; 0 for all
	Pick       Picked
	Hover      *recording.FuncID
	Copy       bool
	Palette    *theme.Palette
	// PaletteOf is a number that changes with the meaning of the colours.
	PaletteOf int
	Bounds    PaneBounds
	Search    searchPart
	WantMenu  bool // open the selected item's menu, requested with a key
	Late      bool // the answer to the current question is overdue
	// Shown and ShownAround are the trees last drawn by the flamegraph and by the picture
	// of callers and callees; Down and DownAround are their scroll positions.
	Shown            *analyze.Tree
	ShownAround      [2]*analyze.Tree
	Down, DownAround int
	// ShowPick makes the flamegraph bring the selected item into view.
	ShowPick bool
	Actions  SideActions

	setA   *recording.Scope // A of a comparison whose B is not set yet, in the recording setAOf
	setAOf *recording.Recording
}

// SideActions are functions of the rest of the window for the parts of a side.
type SideActions struct {
	// FunctionItems lists the actions for a function. CommandItem returns the menu item
	// that copies the command for the same view in a terminal.
	FunctionItems func(f recording.Function) []widget.Item
	CommandItem   func() widget.Item
	// TableItems returns the menu items that copy or save the visible table.
	TableItems func() []widget.Item
	// WhySlow compares the slow calls of a function in a scope with the rest, in place.
	WhySlow func(f recording.Function, in recording.Scope)
	// CompareTypical compares one call, given as a set, with the typical call.
	CompareTypical func(one string)
	// Say shows a message in the status line.
	Say func(text string)
	// Show brings a hit into view and selects it.
	Show func(h search.Hit)
	// GoToTrack scrolls a thread into view.
	GoToTrack func(track int)
	// Runs returns the files of the side's runs that count, the shown one first, and
	// ReadRun reads one of them.
	Runs    func() []string
	ReadRun func(ctx context.Context, file string) (*recording.Recording, error)
	// CompareRuns opens a comparison of runs with others, by the side's metric, with a
	// function selected unless f is nil.
	CompareRuns func(a, b []string, f *recording.FuncName)
}

// Picked is the selected item, whose details are shown: a bar of the timeline or a node
// of the flamegraph.
type Picked struct {
	Hit  timeline.Hit
	Node int32 // index in Tree
	Tree *analyze.Tree
	Fn   recording.FuncID
	Kind pickKind
	// InCallers reports whether the callers panel has moved to this function already, or
	// the user selected it there.
	InCallers bool
}

type pickKind uint8

const (
	PickNone pickKind = iota
	PickBar
	PickNode
	PickWindow
	PickFunc // a function without a bar or node
	PickCounter
	PickInstant
)

// Named reports whether the selected item has a function.
func (p *Picked) Named() bool { return p.Kind == PickBar || p.Kind == PickNode || p.Kind == PickFunc }

const (
	Flamegraph = view.FirstTab
	Functions  = "functions"
	Callers    = "callers"

	CallTree = "calltree"
	Heatmap  = "heatmap"
	Source   = "source"
	About    = "about"
	Query    = "query"
)

// ZoomTo makes a path of functions fill the width of the flamegraph; nil shows
// everything.
func (p *Side) ZoomTo(path []recording.FuncName) { p.Zoom, p.Down = path, 0 }

// FlipFlamegraph moves the flamegraph's root to the opposite edge.
func (p *Side) FlipFlamegraph() { p.Up, p.Down = !p.Up, 0 }

// Middle returns the function whose callers and callees are shown: the one last selected
// elsewhere.
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

// ZoomAround makes the bar of a node of the callers or callees fill the width of its
// side; it returns false for a node of neither side.
func (p *Side) ZoomAround(t *analyze.Tree, node int32) bool {
	for i, of := range p.ShownAround {
		if t != nil && of == t && int(node) < len(t.Nodes) {
			if p.Sides[i] = nil; node > 1 { // node 1 is the function itself
				p.Sides[i] = PathOf(p.Rec, t, int(node))
			}
			return true
		}
	}
	return false
}

// ZoomedAround reports whether a side of the callers and callees is zoomed.
func (p *Side) ZoomedAround() bool { return p.Sides[0] != nil || p.Sides[1] != nil }

// FollowPick puts the selected function in the middle, unless it was selected among the
// callers and callees.
func (p *Side) FollowPick() {
	if f, ok := p.PickedFunction(); ok && !p.Pick.InCallers {
		p.PutAround(f)
		p.Pick.InCallers = true // only once: the user may put another function in the middle later
	}
}

// PickedTree returns the tree of the selected node, nil if none is selected.
func (p *Side) PickedTree() *analyze.Tree {
	if p.Pick.Kind == PickNode {
		return p.Pick.Tree
	}
	return nil
}

// Counts reports whether the ids in an answer, which may be nil, are valid for the shown
// recording. While a recording loads, the answer may belong to an earlier snapshot.
func (p *Side) Counts(a *session.Answer) bool { return a != nil && a.Generation == p.Generation }

// Repick finds the selected node in a newer answer's tree: by its path, otherwise the
// heaviest node of its function. If there is none, the selection stays as it was.
func (p *Side) Repick() {
	a := p.Doc.Answer()
	if p.Pick.Kind != PickNode || a == nil || p.Pick.Tree == nil || a.Rec != p.Rec { // other recordings number functions differently
		return
	}
	switch p.Pick.Tree {
	case a.Tree, a.Above, a.Below, p.Shown:
		return // the tree is shown already
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

// PickFunction selects the flamegraph node with the largest total of a function.
func (p *Side) PickFunction(a *session.Answer, f recording.FuncID) {
	p.pickNode(a, f, func(n *analyze.Node) int64 { return n.Total })
}

// PickSelf selects the flamegraph node with the largest self of a function by magnitude.
func (p *Side) PickSelf(a *session.Answer, f recording.FuncID) {
	p.pickNode(a, f, func(n *analyze.Node) int64 { return max(n.Self, -n.Self) })
}

// pickNode selects the flamegraph node of a function with the largest weight.
func (p *Side) pickNode(a *session.Answer, f recording.FuncID, weight func(*analyze.Node) int64) {
	best := int32(-1)
	if int(f) >= a.Rec.Functions.Len() {
		return
	}
	for i := 1; i < len(a.Tree.Nodes); i++ {
		if a.Tree.Nodes[i].Func == f && (best < 0 || weight(&a.Tree.Nodes[i]) > weight(&a.Tree.Nodes[best])) {
			best = int32(i)
		}
	}
	if best >= 0 {
		p.Pick = Picked{Kind: PickNode, Node: best, Tree: a.Tree, Fn: f}
	}
}

// Wait shows, in a panel without an answer, that the answer is being computed, if it is
// late.
func (p *Side) Wait(u *ui.UI, r image.Rectangle) {
	if p.Late {
		widget.Empty(u, r, "Computing…", "")
	}
}

// HasTransform reports whether a transform is on.
func (p *Side) HasTransform(t analyze.Transform) bool { return slices.Contains(p.Transforms, t) }

// PickedFunction returns the selected function, false if there is none.
func (p *Side) PickedFunction() (recording.Function, bool) { return FunctionOf(p.Rec, &p.Pick) }

// CallsOf returns the functions that a function of the view stands for, as a query of
// package calls names them. If numbers in names are folded, these are all functions whose
// names differ only in numbers.
func (p *Side) CallsOf(f recording.Function) string {
	if p.HasTransform(analyze.Transform{Op: analyze.OpFoldDigits}) {
		if name := funcname.FoldDigits(f.Name); strings.Contains(name, "#") {
			return "/" + funcname.FoldedPattern(name) + "/"
		}
	}
	return analyze.RefTo(f).Typed(p.Rec)
}

// FunctionOf returns the function of an item selected in a recording, false if it has
// none.
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

// Transform adds a transform to the flamegraph and the table, or removes it if it is
// active.
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

// OwnCode returns the pattern of the user's own code, "" if all frames are shown.
func (p *Side) OwnCode() string {
	i := slices.IndexFunc(p.Transforms, func(t analyze.Transform) bool { return t.Op == analyze.OpMine })
	if i < 0 {
		return ""
	}
	return p.Transforms[i].Text
}

// SetOwnCode merges all frames into the nearest caller that matches the pattern of the
// user's own code; "" shows all frames.
func (p *Side) SetOwnCode(pattern string) {
	if was := p.OwnCode(); was != "" && was != pattern {
		p.Transform(analyze.Mine(was))
	}
	if pattern != p.OwnCode() {
		p.Transform(analyze.Mine(pattern))
	}
}

// OwnCodeItem returns the menu item that makes a pattern that of the user's own code.
func (p *Side) OwnCodeItem(title, pattern string) widget.Item {
	on, now := p.OwnCode() == pattern, pattern
	if on {
		now = ""
	}
	return widget.Item{Title: title, On: on, Do: func() { p.SetOwnCode(now) }}
}

// Swatch returns the colour of a row's function.
func (p *Side) Swatch(a *session.Answer, r *analyze.Row) ui.Colour {
	f := r.Function(a.Rec)
	if r.IsFunction(a.Rec) {
		return p.Palette.Func(a.Rec, r.Func)
	}
	return p.Palette.Theme.Bar(&f, p.Palette.Mode)
}

// MetricOf returns the shown metric; it is never nil.
func (p *Side) MetricOf() *recording.Metric {
	if p.Event < len(p.Rec.Events) {
		if e := &p.Rec.Events[p.Event]; p.Metric >= 0 && p.Metric < len(e.Metrics) {
			return &e.Metrics[p.Metric]
		}
	}
	return &recording.Metric{}
}

// PaneBounds holds the positions of the parts in the last frame, in pixels.
type PaneBounds struct {
	Overview, Ruler, Lanes, Rows image.Rectangle
	LowerBounds
	Gutter int
}

// LowerBounds holds the positions of the tabs, the visible panel and the details.
type LowerBounds struct{ Tabs, Lower, Side image.Rectangle }

// ViewLimits returns the farthest extent of the view.
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

// SourceFile returns the file of the selected function, as named in the recording, and
// the selected line, 0 if unknown.
func (p *Side) SourceFile() (file string, line int32) {
	if f, ok := p.pickedFrame(); ok {
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

// pickedFrame returns the frame of the selected bar or node, false if it has none.
func (p *Side) pickedFrame() (recording.Frame, bool) {
	call := recording.NoCall
	switch {
	case p.Pick.Kind == PickBar:
		call = p.Pick.Hit.Call
	case p.Pick.Kind == PickNode && p.Pick.Tree != nil && int(p.Pick.Node) < len(p.Pick.Tree.Nodes):
		call = p.Pick.Tree.Nodes[p.Pick.Node].Call
	}
	if call == recording.NoCall || int(call) >= p.Rec.Calls.Len() {
		return recording.Frame{}, false
	}
	return p.Rec.Frames.At(int(p.Rec.Calls.Frame(call))), true
}

// HasAddress reports whether the recording has the address of the selected function's
// instructions.
func (p *Side) HasAddress() bool {
	f, ok := p.pickedFrame()
	return ok && f.Addr != 0
}

// Folder returns the folder of the recording, "" if it is not a local file.
func (p *Side) Folder() string {
	if p.Path == "" || p.Path == "-" || fetch.IsURL(p.Path) {
		return ""
	}
	return filepath.Dir(p.Path)
}

// Same reports whether both are the same item.
func (k *Picked) Same(o *Picked) bool {
	return k.Kind == o.Kind && k.Fn == o.Fn && k.Node == o.Node && k.Hit.Key() == o.Hit.Key() && k.Hit.Track == o.Hit.Track
}
