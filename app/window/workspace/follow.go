package workspace

import (
	"context"
	"reflect"
	"slices"

	"ashlar/app/core/session"
	"ashlar/app/core/view"
	"ashlar/app/window/panel"
	"ashlar/ingest/model/recording"
	"ashlar/render/timeline"
)

// A followed file is read again when it has changed. The new recording has new indices of
// threads and functions, so a pane takes it over in one step, together with the first
// answer about it. Until then it shows the old recording.

// ToggleFollow starts or stops following the open files.
func (d *Workspace) ToggleFollow() {
	what, none, says := d.Pane.Doc.Name, d.Pane.Doc.Name+" is not a file", "Following "+d.Pane.Doc.Name+": new data appears as it is written"
	if d.Versus != nil {
		what, none, says = "the files", "These recordings are not files", "Following both files: new data is compared as it is written"
	}
	can := slices.DeleteFunc(d.Shown(), func(p *Pane) bool { return !p.Doc.CanFollow() })
	switch {
	case slices.ContainsFunc(can, func(p *Pane) bool { return p.Unfollow != nil }):
		for _, p := range can {
			p.stopFollowing()
		}
		d.Say("No longer following " + what)
	case len(can) == 0:
		d.Say(none + ". Only files can be followed")
	default:
		for _, p := range can {
			p.follow()
		}
		d.Say(says)
	}
}

func (p *Pane) follow() {
	ctx, cancel := context.WithCancel(context.Background())
	p.Unfollow = cancel
	go p.Doc.Follow(ctx)
}

// leave stops following, and stores the marks of a changed file under its current
// content.
func (d *Workspace) leave() {
	if c := d.Versus; c != nil {
		d.drop(c)
	} else if d.Pane != nil {
		d.Pane.stopFollowing()
		d.Pane.MarkList.Move()
	}
}

func (p *Pane) stopFollowing() {
	if p.Unfollow != nil {
		p.Unfollow()
		p.Unfollow = nil
	}
}

// latest returns the recording to show: the newest one whose indices match the pane's. A
// reloaded recording is taken over once its first answer is there.
func (p *Pane) latest() *recording.Recording {
	rec, generation := p.Doc.Latest()
	if p.Behind = generation != p.Generation; !p.Behind {
		return rec
	}
	st, next := p.renumbered(rec, generation)
	q := next.Question()
	if a := p.Doc.Answer(); a == nil || a.Rec != rec || !a.Answers(&q) {
		p.Doc.Ask(q)
		return p.Rec
	} else {
		p.replaceWith(next, st, a)
	}
	return rec
}

// renumbered returns the pane's view of a reloaded recording. It converts the view by way
// of a State, which has names instead of indices.
func (p *Pane) renumbered(rec *recording.Recording, generation int) (*view.State, *Pane) {
	st := new(view.State)
	p.Unbind(p.Rec, 0, 1, st)
	p.pickState(st)
	next := newPane(p.Doc)
	next.Rec, next.Generation, next.Palette = rec, generation, p.Palette
	next.Look, _ = view.Bind(rec, st, 0, 1)
	next.Search.Pattern, next.Table.TableShape = p.Search.Pattern, p.Table.TableShape
	if !next.Moved {
		next.View = p.View
	}
	if next.Order != nil { // new threads come after the sorted ones
		for i := range rec.Tracks {
			if !slices.Contains(next.Order, i) {
				next.Order = append(next.Order, i)
			}
		}
	}
	if f := st.Function; f != nil {
		if fs := panel.FunctionsOf(rec, recording.Function{Name: f.Name, Module: f.Module}); len(fs) > 0 {
			next.Pick = panel.Picked{Kind: panel.PickFunc, Fn: fs[0], InCallers: p.Pick.InCallers}
		}
	}
	return st, next
}

// replaceWith takes over a recording that was read again, with the first answer about
// it.
func (p *Pane) replaceWith(next *Pane, st *view.State, a *session.Answer) {
	pick, by := next.Pick, p.Pick
	settled := reflect.DeepEqual(p.Undoable(), p.History.shown.Sides[0])
	delta := next.Rec.Start - p.Rec.Start
	if w := p.ScopeComparison; w != nil {
		w.renumber(p.Rec, next.Rec)
	}
	p.shown.renumber(p.Rec, next.Rec)
	p.Look, p.Rec, p.Generation, p.Behind = next.Look, next.Rec, next.Generation, false
	p.Pick = panel.Picked{}
	switch {
	case by.Kind == panel.PickWindow:
		p.Pick = by
		p.Pick.Hit.Start, p.Pick.Hit.End = by.Hit.Start+delta, by.Hit.End+delta
	case pick.Kind != panel.PickNone:
		p.Pick = p.refind(st, a)
		p.Pick.InCallers = by.InCallers
	}
	if p.History.seen.Sides[0] = p.Undoable(); settled {
		p.History.shown.Sides[0] = p.Undoable()
	}
	p.Hover = nil
	p.Finder.Forget()
	p.Hit = timeline.Hit{Row: -1, Window: -1}
	p.SourcePart.Of.Fn = p.Pick.Fn
	p.MarkList.Stale = true
	p.renewed = true
}

// refind picks the item marked by a State in an answer, if it is still the same function;
// otherwise the function's heaviest node.
func (p *Pane) refind(st *view.State, a *session.Answer) panel.Picked {
	if b := st.Sides[0].Bar; b != nil {
		if h, ok := p.barNamed(b); ok && h.Call != recording.NoCall && p.Rec.Functions.At(int(p.Rec.Func(h.Call))).FuncName() == *st.Function {
			h.Row = -1
			return panel.Picked{Kind: panel.PickBar, Hit: h, Fn: p.Rec.Func(h.Call)}
		}
	}
	n, whole := panel.NodeAt(a.Rec, a.Tree, st.Node)
	if !whole || n == 0 {
		n = int(NodeNamed(a, *st.Function))
	}
	if n == 0 {
		return panel.Picked{}
	}
	return panel.Picked{Kind: panel.PickNode, Node: int32(n), Tree: a.Tree, Fn: a.Tree.Nodes[n].Func}
}

// FollowText returns the status text about following, "" if the file is not followed.
func (p *Pane) FollowText() (text string, wrong bool) {
	if p.Unfollow == nil {
		return "", false
	}
	if text, wrong = p.Doc.FollowNote(); text != "" {
		text = " · " + text
	}
	return "Following" + text, wrong
}
