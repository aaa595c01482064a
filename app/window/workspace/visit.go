package workspace

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"ashlar/app/core/session"
	"ashlar/app/core/view"
	"ashlar/app/window/comparison"
	"ashlar/app/window/panel"
	"ashlar/app/window/panel/calls"
	"ashlar/app/window/panel/source"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/render/timeline"
	"ashlar/render/ui"
)

// ResumeVisit continues the visit once the recording is read, and again once there is an
// answer about it.
func (p *Pane) ResumeVisit(d *Workspace) (changed bool, err error) {
	if st := p.visit.state; st != nil && p.Rec.Done {
		paired := len(st.Files) > 1
		is := p.visit
		p.visit = visit{side: is.side, scrolled: st, marked: is.marked}
		if err = p.goTo(d, st, is.side); !paired {
			p.visit.answered = st
		} else if st.Tab == comparison.Two && is.side == panel.Index(st.FocusB) {
			p.visit.answered = &view.State{Zoom: st.Zoom}
		}
		return true, err
	}
	st := p.visit.answered
	if st == nil {
		return p.checkZoomAround()
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

// lookOf returns the view described by side i of a State; fields that the State leaves
// out keep their current values. missing lists the items that the recording does not
// have.
func (p *Pane) lookOf(d *Workspace, st *view.State, i int) (l view.Look, missing []error) {
	l, missing = view.Bind(p.Rec, st, i, d.dp())
	paired, was := len(st.Files) > 1, p.Look
	if paired || st.Event == "" && st.Metric == "" && p.begun {
		l.Event, l.Metric = was.Event, was.Metric
	}
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
	missing = append(missing, st.Invalid()...)
	if err := calls.CheckFilter(st.List.Only); err != nil {
		missing = append(missing, fmt.Errorf("the address has an invalid filter of calls: %w", err))
	}
	l.Transforms = slices.Clone(was.Transforms)
	for _, t := range st.Transforms {
		if t.Check() == nil && !slices.Contains(l.Transforms, t) {
			l.Transforms = append(l.Transforms, t)
		}
	}
	l.Marks = was.Marks
	if p.Deck.At(l.Tab) < 0 && !paired && l.Against == nil {
		missing = append(missing, fmt.Errorf("unknown tab %q. Tabs: %s", l.Tab, strings.Join(p.Deck.Names(), ", ")))
		l.Tab = view.FirstTab
	}
	if paired {
		l.Tab, l.Split, l.Zoom = view.FirstTab, 0, nil
		if st.Tab == comparison.Two && i == panel.Index(st.FocusB) {
			l.Zoom = st.Zoom
		}
	}
	return l, missing
}

// goTo applies side i of a State to the recording, except for the marked items. The error
// is the first item that the recording does not have.
func (p *Pane) goTo(d *Workspace, st *view.State, i int) error {
	l, missing := p.lookOf(d, st, i)
	p.Look, p.begun = l, true
	if st.Event != "" || st.Metric != "" {
		p.byDefault = -1 // the State chooses the event, so no default replaces it
	}
	p.SearchFor(l.Find)
	if p.comparing(d); p.ScopeComparison != nil {
		if err := p.ScopeComparison.goTo(p, st); err != nil {
			missing = append(missing, err)
		}
	}
	if i == 0 {
		for _, m := range st.Marks {
			p.MarkList.Add(view.NewMark(m.Place, m.Text))
		}
	}
	if len(st.Files) < 2 {
		if p.ScopeComparison == nil {
			missing = append(missing, p.Table.Restore(&st.Table)...)
		}
		if b := st.Sides[0].Bar; b != nil {
			if err := p.pickBar(b); err != nil {
				missing = append(missing, err)
			} else {
				p.followPick()
			}
		}
	}
	p.Visited = true
	if st.Unknown != nil {
		missing = append(missing, fmt.Errorf("this version does not support %s in the address", strings.Join(st.Unknown, ", ")))
	}
	return cmp.Or(append(missing, nil)...)
}

// pickBar picks the bar that a State names.
func (p *Pane) pickBar(b *view.Bar) error {
	h, ok := p.barNamed(b)
	if !ok {
		return fmt.Errorf("thread %d has no bar at that time", b.Thread.TID)
	}
	p.PickHit(h)
	return nil
}

// followPick puts the picked function in the middle of its callers and callees, and keeps
// the zoom that the State set.
func (p *Pane) followPick() {
	sides := p.Sides
	p.FollowPick()
	p.Sides = sides
}

// goToAnswered marks the items of a State that need an answer.
func (p *Pane) goToAnswered(a *session.Answer, st *view.State) (err error) {
	miss := func(format string, args ...any) { err = cmp.Or(err, fmt.Errorf(format, args...)) }
	if _, whole := panel.NodeAt(a.Rec, a.Tree, st.Zoom); !whole {
		miss("some functions of the address are missing in the flamegraph")
	}
	if f := st.Function; f != nil && p.Pick.Kind != panel.PickBar {
		n, whole := panel.NodeAt(a.Rec, a.Tree, st.Node)
		if !whole || n == 0 {
			n = int(NodeNamed(a, *f))
		}
		switch {
		case n > 0:
			p.Pick = panel.Picked{Kind: panel.PickNode, Node: int32(n), Tree: a.Tree, Fn: a.Tree.Nodes[n].Func}
		case f.Module != "" || p.markNamed(a, analyze.Named(f.Name)) != nil:
			miss("this view has no function %s", f)
		}
	}
	if f := st.Around; f != nil {
		p.Pick.InCallers = true
		if len(panel.FunctionsOf(p.Rec, recording.Function{Name: f.Name, Module: f.Module})) == 0 {
			if fs := analyze.Named(f.Name).Functions(p.Rec); len(fs) > 0 && f.Module == "" {
				p.Around = new(p.Rec.Functions.At(int(fs[0])).FuncName())
			} else {
				miss("the recording has no function %s", f.Name)
			}
		}
	} else {
		p.followPick()
	}
	p.visit.sides = p.Tab == panel.Callers && (p.Sides[0] != nil || p.Sides[1] != nil)
	return err
}

// checkZoomAround checks, once the callers and callees of a function are known, that they
// contain the whole paths to which a State zooms.
func (p *Pane) checkZoomAround() (changed bool, err error) {
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
			err = errors.New("some functions of the address are missing among the callers and callees")
		}
	}
	return true, err
}

// restoreScroll applies the scroll positions of a State once the panels are filled.
func (p *Pane) restoreScroll(u *ui.UI) {
	st := p.visit.scrolled
	if st == nil || p.visit.answered != nil {
		return
	}
	p.visit.scrolled = nil
	side := &st.Sides[p.visit.side]
	if p.View.Scroll = u.Px(side.Scroll); side.Scroll == 0 && len(side.Threads) == 1 {
		p.showSelected()
	}
	if to := p.below().Scroll(); to != nil && st.Down != 0 && len(st.Files) < 2 {
		*to = u.Px(st.Down)
		if p.Tab == panel.Source {
			file, _ := p.SourceFile()
			p.SourcePart.Of, p.SourcePart.At = source.SourceSpot{File: file, Fn: p.Pick.Fn}, int32(st.Line)
		}
	}
}

// showSelected scrolls to the only selected thread, unless it is in view: addresses of findings
// select threads and have no scroll position.
func (p *Pane) showSelected() {
	if p.Plan == nil || len(p.Scope.Tracks) != 1 {
		return
	}
	for i := range p.Plan.Rows {
		r := &p.Plan.Rows[i]
		if r.Kind == timeline.TrackRow && r.Index == p.Scope.Tracks[0] && r.Y+r.Height > p.Bounds.Lanes.Dy() {
			p.ScrollTo(p.Plan.ScrollTo(i))
			return
		}
	}
}

// markNamed picks the heaviest function that matches ref.
func (p *Pane) markNamed(a *session.Answer, ref analyze.Ref) error {
	of := map[recording.FuncID]bool{}
	for _, f := range ref.Functions(a.Rec) {
		of[f] = true
	}
	n := heaviest(a, func(i int) bool { return a.Tree.Nodes[i].Group == 0 && of[a.Tree.Nodes[i].Func] })
	if n == 0 {
		return fmt.Errorf("%s: this view has no function %s", p.Doc.Name, ref.Text)
	}
	p.Pick = panel.Picked{Kind: panel.PickNode, Node: n, Tree: a.Tree, Fn: a.Tree.Nodes[n].Func}
	return nil
}

// NodeNamed returns a function's heaviest node, 0 for none.
func NodeNamed(a *session.Answer, f recording.FuncName) int32 {
	return heaviest(a, func(i int) bool { return a.Tree.Function(a.Rec, i).FuncName() == f })
}

// heaviest returns the heaviest node that satisfies is, 0 for none.
func heaviest(a *session.Answer, is func(node int) bool) int32 {
	best := int32(0)
	for i := 1; i < len(a.Tree.Nodes); i++ {
		if nd := &a.Tree.Nodes[i]; (best == 0 || nd.Total > a.Tree.Nodes[best].Total) && is(i) {
			best = int32(i)
		}
	}
	return best
}
