package shell

import (
	"context"
	"reflect"
	"slices"

	"ashlar/app/session"
	"ashlar/app/view"
	"ashlar/ingest/recording"
	"ashlar/render/timeline"
)

// A followed file is read again when it has changed. The new recording counts
// its threads and functions anew, so a pane takes it over in one step, together
// with the first answer about it: until then it goes on showing the last.

// toggleFollow begins to follow the file, or stops.
func (s *Shell) toggleFollow() {
	p := s.pane
	switch {
	case s.versus != nil:
		s.versus.toggleFollow(&s.Host)
	case p.unfollow != nil:
		p.stay()
		s.Say("No longer following " + p.doc.Name)
	case !p.doc.CanFollow():
		s.Say("Only files can be followed, and " + p.doc.Name + " is none")
	default:
		p.follow()
		s.Say("Following " + p.doc.Name + ": what is added is shown")
	}
}

func (p *pane) follow() {
	ctx, cancel := context.WithCancel(context.Background())
	p.unfollow = cancel
	go p.doc.Follow(ctx)
}

// leave stops following, and keeps marks of a file that has changed by what is
// in it now.
func (s *Shell) leave() {
	s.pane.stay()
	s.pane.marks.move(s, &s.pane.Side)
}

// stay stops following.
func (p *pane) stay() {
	if p.unfollow != nil {
		p.unfollow()
		p.unfollow = nil
	}
}

// latest is the recording to show: the newest one of those whose numbers the
// pane knows.
func (p *pane) latest() *recording.Recording {
	rec, generation := p.doc.Latest()
	if p.behind = generation != p.generation; !p.behind {
		return rec
	}
	st, next := p.renumbered(rec, generation)
	q := next.question()
	if a := p.doc.Answer(); a == nil || a.Rec != rec || !a.Answers(&q) {
		p.doc.Ask(q)
		return p.rec
	} else {
		p.become(&next.Side, st, a)
	}
	return rec
}

// renumbered is the pane as it would look at a recording that was read anew, by
// way of a State, which has names and no numbers.
func (p *pane) renumbered(rec *recording.Recording, generation int) (*view.State, *pane) {
	st := new(view.State)
	p.Unbind(p.rec, 0, 1, st)
	p.pickState(st)
	next := newPane(p.doc)
	next.rec, next.generation, next.palette = rec, generation, p.palette
	next.Look, _ = view.Bind(rec, st, 0, 1)
	next.search.pattern, next.table.tableShape = p.search.pattern, p.table.tableShape
	if !next.Moved {
		next.View = p.View
	}
	if next.Order != nil { // threads that are new stand behind those that were ordered
		for i := range rec.Tracks {
			if !slices.Contains(next.Order, i) {
				next.Order = append(next.Order, i)
			}
		}
	}
	if f := st.Function; f != nil {
		if fs := functionsOf(rec, recording.Function{Name: f.Name, Module: f.Module}); len(fs) > 0 {
			next.pick = picked{is: pickFunc, fn: fs[0], near: p.pick.near}
		}
	}
	return st, next
}

// become takes over a recording that was read anew, with the first answer about
// it.
func (p *pane) become(next *Side, st *view.State, a *session.Answer) {
	pick, by := next.pick, p.pick
	settled := reflect.DeepEqual(p.Settled(), p.history.shown.Look)
	delta := next.rec.Start - p.rec.Start
	p.Look, p.rec, p.generation, p.behind = next.Look, next.rec, next.generation, false
	p.pick = picked{}
	switch {
	case by.is == pickWindow:
		p.pick = by
		p.pick.hit.Start, p.pick.hit.End = by.hit.Start+delta, by.hit.End+delta
	case pick.is != pickNone:
		p.pick = p.refind(st, a)
		p.pick.near = by.near
	}
	if p.history.seen.Look = p.Settled(); settled {
		p.history.shown.Look = p.Settled()
	}
	p.hover = nil
	p.finding().walked = false
	p.timeline.hit = timeline.Hit{Row: -1, Window: -1}
	p.sourcePart.of.fn = p.pick.fn
	p.marks.stale = true
	p.renewed = true
}

// refind picks what a State marks in an answer, where it is still a place of the
// function: else the function's heaviest one.
func (p *Side) refind(st *view.State, a *session.Answer) picked {
	if b := st.Sides[0].Bar; b != nil {
		if h, ok := p.barNamed(b); ok && h.Call != recording.NoCall && p.rec.Functions.At(int(p.rec.Func(h.Call))).FuncName() == *st.Function {
			h.Row = -1
			return picked{is: pickBar, hit: h, fn: p.rec.Func(h.Call)}
		}
	}
	n, whole := nodeAt(a.Rec, a.Tree, st.Node)
	if !whole || n == 0 {
		n = int(nodeNamed(a, *st.Function))
	}
	if n == 0 {
		return picked{}
	}
	return picked{is: pickNode, node: int32(n), tree: a.Tree, fn: a.Tree.Nodes[n].Func}
}

// followText is what the status line says of a followed file, "" when none is.
func (p *pane) followText() (text string, wrong bool) {
	switch {
	case p.unfollow == nil:
		return "", false
	case p.doc.FollowNote() != "":
		return "following · " + p.doc.FollowNote(), true
	}
	return "following", false
}
