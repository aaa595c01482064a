package workspace

import (
	"reflect"
	"slices"
	"time"

	"ashlar/app/core/view"
	"ashlar/app/window/comparison"
	"ashlar/app/window/panel/difftable"
	"ashlar/app/window/panel/functions"
	"ashlar/render/theme"
	"ashlar/render/ui"
)

// History holds views step by step, as States: they hold whatever
// numbers a recording that is read again gives to things.
type History struct {
	steps []*view.State
	at    int // the current one
	// shown is the view of the current step and seen that of the last frame, both in
	// indices of the open recordings, which are quick to compare.
	shown, seen Spot
	since       time.Time
	due         bool // what is shown becomes a step unless it changes soon
}

// undoDelay is how long a view must stay as it is to be a step of history: a wheel
// that turns passes many.
const undoDelay = 400 * time.Millisecond

// mostSteps bounds the history.
const mostSteps = 500

// Spot describes a step of history, in the numbers of the recordings.
type Spot struct {
	Sides [2]view.Look // the second one where two recordings are compared
	Table functions.TableShape
	// Look says how two are compared, of two recordings or of parts of one, and Shape is
	// that of the table of their differences.
	comparison.Look
	Shape difftable.Shape
	Mode  theme.Mode
	Parts View
}

// Spot describes how the recording is looked at now.
func (p *Pane) Spot(d *Workspace) Spot {
	sp := Spot{Sides: [2]view.Look{p.Undoable()}, Table: p.Table.TableShape, Mode: d.Mode, Parts: d.View}
	if w := p.ScopeComparison; w != nil && p.Against != nil {
		sp.Look, sp.Shape = w.Look, w.Table.Shape
		sp.Tab, sp.Options.Event, sp.Options.Metric = "", "", "" // which are the pane's
	}
	return sp
}

// Spot describes how both are looked at now.
func (c *Comparison) Spot(d *Workspace) Spot {
	sp := Spot{Sides: [2]view.Look{c.Panes[0].Undoable(), c.Panes[1].Undoable()}, Look: c.Look, Shape: c.Table.Shape, Mode: d.Mode, Parts: d.View}
	sp.Options.Match.Hand = slices.Clone(sp.Options.Match.Hand)
	for i := range sp.Sides { // it follows from the options, once it is known what goes together
		sp.Sides[i].Event, sp.Sides[i].Metric = 0, 0
	}
	return sp
}

// remember adds what is shown to the history once it has settled. Where a program
// opened the file, what it asked for is the first step, once it has been visited.
func (d *Workspace) remember(u *ui.UI) {
	s := d.scene()
	if w := s.way(); d.back == nil || w.visit.state == nil && w.visit.answered == nil {
		w.History.remember(u, s.Spot(d), d.ViewState)
	}
}

func (h *History) remember(u *ui.UI, now Spot, state func() *view.State) {
	if h.due = false; len(h.steps) == 0 {
		h.Push(now, state())
		return
	}
	if reflect.DeepEqual(now, h.shown) {
		h.seen = now
		return
	}
	if !reflect.DeepEqual(now, h.seen) {
		h.seen, h.since = now, u.Now
	}
	if h.due = u.Now.Sub(h.since) < undoDelay; h.due {
		u.Execute(opInvalidateAt(h.since.Add(undoDelay)))
		return
	}
	h.Push(now, state())
}

// Push adds a step after the current one and discards later steps.
func (h *History) Push(now Spot, st *view.State) {
	h.steps = append(h.steps[:min(h.at+1, len(h.steps))], st)
	if n := len(h.steps) - mostSteps; n > 0 {
		h.steps = slices.Delete(h.steps, 0, n)
	}
	h.at = len(h.steps) - 1
	h.shown, h.seen = now, now
}

// step is the State to go to from now: d is -1 for back and 1 for on; nil if
// there is none. A step on after a change goes nowhere.
func (h *History) step(d int, now Spot, state func() *view.State) *view.State {
	if len(h.steps) > 0 && !reflect.DeepEqual(now, h.shown) {
		h.Push(now, state()) // not settled yet, but left on purpose
	}
	if k := h.at + d; k >= 0 && k < len(h.steps) {
		h.at = k
		return h.steps[k]
	}
	return nil
}

// keep makes what is shown now a step, where it is none.
func (h *History) keep(now Spot, state func() *view.State) {
	if len(h.steps) == 0 || !reflect.DeepEqual(now, h.shown) {
		h.Push(now, state())
	}
}

// setCurrent says that what is shown now is the current step: it has only other
// numbers, or just been gone to.
func (h *History) setCurrent(now Spot) { h.shown, h.seen = now, now }

// Undo goes back to the step before.
func (d *Workspace) Undo() { d.Step(-1) }

// Redo goes on a step.
func (d *Workspace) Redo() { d.Step(1) }

// Step goes by so many steps through what was shown: -1 is back, 1 is on.
func (d *Workspace) Step(by int) {
	s := d.scene()
	h := &s.way().History
	switch to := h.step(by, s.Spot(d), d.ViewState); {
	case to != nil:
		d.restore(to)
		h.setCurrent(s.Spot(d))
	case by > 0:
	case d.Versus == nil && d.Pane.Against != nil: // it was compared before there was a step
		d.Pane.EndScopeComparison()
	default:
		d.goBack()
	}
}

// goBack shows what was open before somebody else opened what is; see Lead.
func (d *Workspace) goBack() {
	if back := d.back; back != nil {
		d.Visit(back)
	}
}

// mergeMarks adds newly read marks to earlier steps.
func mergeMarks(h *History) func(with func([]view.Mark) []view.Mark) {
	return func(with func([]view.Mark) []view.Mark) {
		h.seen.Sides[0].Marks, h.shown.Sides[0].Marks = with(h.seen.Sides[0].Marks), with(h.shown.Sides[0].Marks)
		for _, st := range h.steps {
			st.Marks = with(st.Marks)
		}
	}
}
