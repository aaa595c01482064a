package desk

import (
	"cmp"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"ashlar/app/pair"
	"ashlar/app/panel"
	"ashlar/app/panel/source"
	"ashlar/app/session"
	lanes "ashlar/app/timeline"
	"ashlar/app/view"
	"ashlar/ingest/analyze"
	"ashlar/ingest/recording"
	"ashlar/render/theme"
	"ashlar/render/timeline"
	"ashlar/render/ui"
)

// visit holds the rest of a State that is to be shown: the recording has
// to be read first, functions are found in the answer, and things can be
// scrolled once they are there.
type visit struct {
	state    *view.State  // all of it
	side     int          // which of its recordings this one is
	answered *view.State  // what needs an answer
	marked   *analyze.Ref // the function that is to be marked, as people name it
	scrolled *view.State  // what needs that to be shown
	sides    bool         // the paths around a function are to be looked for
}

// dp is how many pixels a dp had in the last frame, 0 before the first.
func (d *Desk) dp() float32 { return d.Density * d.EffectiveScale() }

// Address names what is shown, nil when nothing is. What it cannot say: which
// window, counter or moment has its details shown.
func (d *Desk) Address() *view.State {
	if d.Pane == nil {
		return nil
	}
	st := d.ViewState()
	st.Contents = d.contents()
	if c := d.Versus; c != nil {
		c.pickState(st, d.dp())
		return st
	}
	p := d.Pane
	p.pickState(st)
	if f := st.Function; st.Tab != panel.Callers || st.Around != nil && f != nil && *f == *st.Around {
		st.Around = nil // the marked one takes its place
	}
	if st.Tab != panel.Callers {
		st.Callers, st.Callees = nil, nil
	}
	if to := p.tabScroll(); to != nil {
		st.Down = view.InDP(*to, d.dp())
	}
	if p.Tab == panel.Source {
		st.Line = int(p.SourcePart.At)
	}
	return st
}

// contents are those of the files that are open, as far as they are known.
func (d *Desk) contents() (all []view.Content) {
	panes := []*Pane{d.Pane}
	if c := d.Versus; c != nil {
		panes = c.Panes[:]
	}
	known := 0
	for i, p := range panes {
		all = append(all, p.Noted.Content)
		if p.Noted.Stale {
			all[i] = view.Content{}
		}
		if all[i].Key != "" {
			known = i + 1
		}
	}
	return all[:known:known]
}

// ViewState is how what is open is looked at, without what is marked in it: what
// undo goes back to.
func (d *Desk) ViewState() *view.State {
	p := d.Pane
	st := &view.State{Files: []string{p.file()}}
	if d.View != Both {
		st.Parts = string(d.View)
	}
	if d.Mode != theme.ByFunction {
		st.Colour = string(d.Mode)
	}
	p.opened(st)
	if c := d.Versus; c != nil {
		c.state(st, d.dp())
		return st
	}
	p.Unbind(p.Rec, 0, d.dp(), st)
	if w := p.Within; w != nil && p.Against != nil {
		if pairState(st, &w.Pair, w.table, w.pairing, usual(&p.Scope, p.Against)); w.shows(p) {
			st.Zoom = w.Zoom
			return st
		}
		st.Table = view.Table{}
	}
	p.Table.State(&st.Table)
	return st
}

// opened says how the file was opened.
func (p *Pane) opened(st *view.State) {
	st.Part = p.Part.Range
	st.Only = slices.Clone(p.Part.Threads)
	if st.Exe = p.exe; p.exe != "" {
		if abs, err := filepath.Abs(p.exe); err == nil {
			st.Exe = abs
		}
	}
}

// pickState says what is marked.
func (p *Pane) pickState(st *view.State) {
	f, ok := p.PickedFunction()
	switch {
	case p.Pick.Is == panel.PickBar:
		st.Sides[0].Bar = p.barState()
	case p.Pick.Is == panel.PickNode && ok && p.Pick.Tree != nil:
		st.Node = panel.PathOf(p.Rec, p.Pick.Tree, int(p.Pick.Node))
	}
	if ok {
		st.Function = new(f.FuncName())
	}
}

// barState names the picked bar.
func (p *Pane) barState() *view.Bar {
	h := &p.Pick.Hit
	at := h.Start
	if h.Samples != nil {
		at = h.Samples.Time(h.First)
	}
	return &view.Bar{Thread: view.ThreadOf(p.Rec, h.Track), Lane: h.Lane, Time: at - p.Rec.Start}
}

// barNamed finds a bar that begins at a time: a span, or one of samples.
func (p *Pane) barNamed(b *view.Bar) (timeline.Hit, bool) {
	track, ok := b.Thread.Find(p.Rec)
	if !ok {
		return timeline.Hit{}, false
	}
	t, at := p.Rec.Tracks[track], p.Rec.Start+b.Time
	if b.Lane < len(t.Lanes) {
		h, ok := lanes.BarAt(t, track, b.Lane, at)
		return h, ok && h.Start == at
	}
	for _, s := range t.Samples {
		i := s.Search(at)
		if s.Event != p.Event || i >= s.Len() || s.Time(i) != at {
			continue
		}
		return p.SampleBarAt(track, b.Lane-len(t.Lanes), i, s)
	}
	return timeline.Hit{}, false
}

// file is how a State names the recording.
func (p *Pane) file() string {
	switch {
	case p.Demo:
		return view.Demo
	case p.Path == "-" || strings.Contains(p.Path, "://"):
		return p.Path
	}
	if abs, err := filepath.Abs(p.Path); err == nil {
		return abs
	}
	return p.Path
}

// Visit opens what a State names and shows it as it says. What the recording
// does not have is told in the status line.
func (d *Desk) Visit(st *view.State) {
	if len(st.Files) == 0 {
		return
	}
	if st.Files[0] == view.Demo {
		d.OpenDemo()
	} else {
		d.exe = st.Exe
		d.OpenPart(st.Files[0], recording.Part{Range: st.Part, Threads: slices.Clone(st.Only)})
		d.exe = ""
	}
	if len(st.Files) > 1 {
		d.OpenBeside(st.Files[1])
	}
	panes := []*Pane{d.Pane}
	if c := d.Versus; c != nil {
		panes = c.Panes[:]
	}
	for i, c := range st.Contents[:min(len(st.Contents), len(panes))] {
		panes[i].Noted.Meant = c
	}
	d.showParts(st)
	if d.Liked.Look != nil { // this is no wish to see everything so
		d.Liked.Look = d.Look()
	}
	d.GoTo(st)
}

// showParts shows the parts of the window, and the colours, of a State.
func (d *Desk) showParts(st *view.State) {
	d.View = Both
	if slices.Contains([]View{Upper, Flame, Lower}, View(st.Parts)) {
		d.View = View(st.Parts)
	}
	d.Mode = theme.ByFunction
	if slices.Contains(theme.Modes, theme.Mode(st.Colour)) {
		d.Mode = theme.Mode(st.Colour)
	}
}

// GoTo shows what is open as a State says, whatever files it names.
func (d *Desk) GoTo(st *view.State) {
	if c := d.Versus; c != nil {
		if len(st.Files) < 2 { // which says that it is of both
			both := *st
			both.Files, st = []string{c.Panes[0].file(), c.Panes[1].file()}, &both
		}
		c.visit = visit{state: st}
		for i, p := range c.Panes {
			p.visit = visit{state: st, side: i}
		}
		return
	}
	d.Pane.visit = visit{state: st}
}

// Mark marks a function of what is open, the heaviest where several are meant.
func (d *Desk) Mark(f analyze.Ref) {
	if c := d.Versus; c != nil {
		c.visit.marked = &f
		return
	}
	d.Pane.visit.marked = &f
}

// restore shows what is open as a State of its history says. What is marked
// stays marked.
func (d *Desk) restore(st *view.State) {
	d.showParts(st)
	if c := d.Versus; c != nil {
		c.restore(d, st)
		return
	}
	d.Pane.restore(d, st, 0)
}

// restore looks at the recording as side i of a State says.
func (p *Pane) restore(d *Desk, st *view.State, i int) {
	was := p.Look
	p.Look, _ = view.Bind(p.Rec, st, i, d.dp())
	p.Goal, p.AtGoal = was.Goal, was.AtGoal
	shows := false // the table is that of the comparison
	if p.comparing(d); p.Within != nil {
		p.Within.goTo(p, st)
		shows = p.Within.shows(p)
	}
	if !p.Moved {
		p.View.From, p.View.To = p.View.Fit(p.Limits()).From, p.View.Fit(p.Limits()).To
	}
	if !shows {
		p.Table.Restore(&st.Table)
	}
	p.LookFor(p.Find)
	p.Pick.Near = true // or it would take the middle at once
}

// Arrive goes on with a visit as far as it can; changed tells that there is
// something new to ask.
func (p *Pane) Arrive(d *Desk) (changed bool, err error) {
	if st := p.visit.state; st != nil && p.Rec.Done {
		paired := len(st.Files) > 1
		is := p.visit
		p.visit = visit{side: is.side, scrolled: st, marked: is.marked}
		if err = p.goTo(d, st, is.side); !paired {
			p.visit.answered = st
		} else if st.Tab == pair.Two && is.side == panel.Index(st.FocusB) {
			p.visit.answered = &view.State{Zoom: st.Zoom}
		}
		return true, err
	}
	st := p.visit.answered
	if st == nil {
		return p.arriveAround()
	}
	a := p.Doc.Answer()
	if q := p.Question(); a == nil || a.Rec != p.Rec || !a.Answers(&q) {
		return false, nil
	}
	p.visit.answered = nil
	err = p.goToAnswered(a, st)
	if ref := p.visit.marked; ref != nil {
		p.visit.marked = nil
		err = cmp.Or(err, p.markNamed(a, *ref))
	}
	return true, err
}

// goTo looks at the recording as side i of a State says, but for what is marked.
// The error is the first thing that the recording does not have.
func (p *Pane) goTo(d *Desk, st *view.State, i int) error {
	l, missing := view.Bind(p.Rec, st, i, d.dp())
	miss := func(format string, args ...any) { missing = append(missing, fmt.Errorf(format, args...)) }
	paired, was := len(st.Files) > 1, p.Look
	if paired || st.Event == "" && st.Metric == "" && p.begun {
		l.Event, l.Metric = was.Event, was.Metric
	}
	p.begun = true
	if !l.Moved {
		l.View, l.Moved = was.View, was.Moved
	}
	if !l.Scope.Ranged {
		l.Scope = l.Scope.Between(was.Scope.From, was.Scope.To)
		l.Scope.Ranged = was.Scope.Ranged
	}
	if l.Find == "" {
		l.Find = was.Find
	}
	l.Transforms = slices.Clone(was.Transforms)
	for _, t := range st.Transforms {
		if err := t.Check(); err != nil {
			miss("a transform of the address cannot be done: %v", err)
		} else if !slices.Contains(l.Transforms, t) {
			l.Transforms = append(l.Transforms, t)
		}
	}
	l.Marks = was.Marks
	if p.Deck.At(l.Tab) < 0 && !paired && l.Against == nil {
		miss("there is no tab %q; there are %s", l.Tab, strings.Join(p.Deck.Names(), ", "))
		l.Tab = view.FirstTab
	}
	if paired {
		l.Tab, l.Split, l.Zoom = view.FirstTab, 0, nil
		if st.Tab == pair.Two && i == panel.Index(st.FocusB) {
			l.Zoom = st.Zoom
		}
	}
	p.Look = l
	p.LookFor(l.Find)
	if p.comparing(d); p.Within != nil {
		if err := p.Within.goTo(p, st); err != nil {
			missing = append(missing, err)
		}
	}
	if i == 0 {
		for _, m := range st.Marks {
			p.Noted.Add(view.NewMark(m.Place, m.Text))
		}
	}
	if !paired {
		if p.Within == nil {
			missing = append(missing, p.Table.Restore(&st.Table)...)
		}
		if b := st.Sides[0].Bar; b != nil {
			if h, ok := p.barNamed(b); ok {
				p.PickHit(h)
				sides := p.Sides
				p.FollowPick() // its function is in the middle, zoomed as the State says
				p.Sides = sides
			} else {
				miss("no bar of thread %d begins there", b.Thread.TID)
			}
		}
	}
	p.Visited = true
	if st.Unknown != nil {
		miss("this version does not understand %s in the address", strings.Join(st.Unknown, ", "))
	}
	return cmp.Or(append(missing, nil)...)
}

// goToAnswered marks what a State marks, which needs an answer.
func (p *Pane) goToAnswered(a *session.Answer, st *view.State) (err error) {
	miss := func(format string, args ...any) { err = cmp.Or(err, fmt.Errorf(format, args...)) }
	if _, whole := panel.NodeAt(a.Rec, a.Tree, st.Zoom); !whole {
		miss("the flamegraph has not all functions of the address's zoom")
	}
	if f := st.Function; f != nil && p.Pick.Is != panel.PickBar {
		n, whole := panel.NodeAt(a.Rec, a.Tree, st.Node)
		if !whole || n == 0 {
			n = int(NodeNamed(a, *f))
		}
		switch {
		case n > 0:
			p.Pick = panel.Picked{Is: panel.PickNode, Node: int32(n), Tree: a.Tree, Fn: a.Tree.Nodes[n].Func}
		case f.Module != "" || p.markNamed(a, analyze.Named(f.Name)) != nil:
			miss("the function %s is not in what is shown", f.Name)
		}
	}
	if f := st.Around; f != nil {
		p.Pick.Near = true
		if len(panel.FunctionsOf(p.Rec, recording.Function{Name: f.Name, Module: f.Module})) == 0 {
			if fs := analyze.Named(f.Name).Functions(p.Rec); len(fs) > 0 && f.Module == "" {
				p.Around = new(p.Rec.Functions.At(int(fs[0])).FuncName())
			} else {
				miss("the function %s is not in the recording", f.Name)
			}
		}
	} else {
		sides := p.Sides
		p.FollowPick() // the marked function is in the middle, with its own zoom
		p.Sides = sides
	}
	p.visit.sides = p.Tab == panel.Callers && (p.Sides[0] != nil || p.Sides[1] != nil)
	return err
}

// arriveAround looks whether there is all of the paths around a function that a
// State zooms to, once both sides are known.
func (p *Pane) arriveAround() (changed bool, err error) {
	if !p.visit.sides {
		return false, nil
	}
	a := p.Doc.Answer()
	if q := p.Question(); a == nil || a.Above == nil || !a.Answers(&q) {
		return false, nil
	}
	p.visit.sides = false
	for i, t := range []*analyze.Tree{a.Above, a.Below} {
		if _, whole := panel.NodeAt(a.Rec, t, p.Sides[i]); !whole {
			err = errors.New("the callers and callees have not all functions of the address's zoom")
		}
	}
	return true, err
}

// arriveScrolled scrolls as a State says, once there is what is scrolled.
func (p *Pane) arriveScrolled(u *ui.UI) {
	st := p.visit.scrolled
	if st == nil || p.visit.answered != nil {
		return
	}
	p.visit.scrolled = nil
	p.View.Scroll = u.Px(st.Sides[p.visit.side].Scroll)
	if to := p.tabScroll(); to != nil && st.Down != 0 && len(st.Files) < 2 {
		*to = u.Px(st.Down)
		if p.Tab == panel.Source {
			file, _ := p.SourceFile()
			p.SourcePart.Of, p.SourcePart.At = source.SourceSpot{File: file, Fn: p.Pick.Fn}, int32(st.Line)
		}
	}
}

// tabScroll is how far the chosen tab is scrolled, nil where it is not.
func (p *Pane) tabScroll() *int {
	if w := p.Within; w != nil && w.shows(p) {
		if x, ok := w.deck.Shown(p.Tab).(panel.Scrolled[*pair.Pair]); ok {
			return x.Scroll(&w.Pair)
		}
		return nil
	}
	if x, ok := p.panel().(panel.Scrolled[*panel.Side]); ok {
		return x.Scroll(&p.Side)
	}
	return nil
}

// markNamed picks the heaviest of the functions that are meant.
func (p *Pane) markNamed(a *session.Answer, ref analyze.Ref) error {
	of := map[recording.FuncID]bool{}
	for _, f := range ref.Functions(a.Rec) {
		of[f] = true
	}
	n := heaviest(a, func(i int) bool { return a.Tree.Nodes[i].Group == 0 && of[a.Tree.Nodes[i].Func] })
	if n == 0 {
		return fmt.Errorf("%s: no function in what is shown is called %s", p.Doc.Name, ref.Text)
	}
	p.Pick = panel.Picked{Is: panel.PickNode, Node: n, Tree: a.Tree, Fn: a.Tree.Nodes[n].Func}
	return nil
}

// NodeNamed is a function's heaviest node, 0 for none.
func NodeNamed(a *session.Answer, f recording.FuncName) int32 {
	return heaviest(a, func(i int) bool { return a.Tree.Function(a.Rec, i).FuncName() == f })
}

// heaviest is the heaviest of some nodes, 0 for none.
func heaviest(a *session.Answer, is func(node int) bool) int32 {
	best := int32(0)
	for i := 1; i < len(a.Tree.Nodes); i++ {
		if nd := &a.Tree.Nodes[i]; (best == 0 || nd.Total > a.Tree.Nodes[best].Total) && is(i) {
			best = int32(i)
		}
	}
	return best
}

// CopyAddress puts the view's address on the clipboard.
func (d *Desk) CopyAddress() {
	d.CopyLater(d.Address().String())
	if d.Pane.Path == "-" {
		d.Say("Copied the view's address; standard input cannot be read again, so give it the file's path")
	}
}
