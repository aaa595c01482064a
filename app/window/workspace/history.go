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

// History is the undo history of views. It stores them as States, which stay valid if a
// reloaded recording has other indices.
type History struct {
	steps []*view.State
	at    int // the current one
	// shown is the view of the current step and seen the view of the last frame. Both use
	// indices of the open recordings, which are quick to compare.
	shown, seen Spot
	since       time.Time
	due         bool // the current view becomes a step unless it changes soon
}

// undoDelay is the time for which a view must stay unchanged to become a step; scrolling
// passes through many views.
const undoDelay = 400 * time.Millisecond

// mostSteps is the maximum number of steps.
const mostSteps = 500

// Spot describes a view for comparing steps; it uses indices of the recordings.
type Spot struct {
	Sides [2]view.Look // the second one is for a comparison of two recordings
	Table functions.TableShape
	// Look holds the settings of a comparison, of two recordings or of parts of one, and
	// Shape the layout of its table.
	comparison.Look
	Shape difftable.Shape
	Mode  theme.Mode
	Parts View
	// Runs are the additional recordings of each side.
	Runs [2][]view.Run
	// Swapped tells the two orders of the same recordings apart.
	Swapped bool
}

// Spot describes the current view of the recording.
func (p *Pane) Spot(d *Workspace) Spot {
	sp := Spot{Sides: [2]view.Look{p.Undoable()}, Table: p.Table.TableShape, Mode: d.Mode, Parts: d.View, Runs: [2][]view.Run{p.runsState()}}
	if w := p.ScopeComparison; w != nil && p.Against != nil {
		sp.Look, sp.Shape = w.Look, w.Table.Shape
		sp.Tab, sp.Options.Event, sp.Options.Metric = "", "", "" // the pane has its own settings for these
	}
	return sp
}

// Spot describes the current view of both recordings.
func (c *Comparison) Spot(d *Workspace) Spot {
	sp := Spot{Sides: [2]view.Look{c.Panes[0].Undoable(), c.Panes[1].Undoable()}, Look: c.Look, Shape: c.Table.Shape, Mode: d.Mode, Parts: d.View, Swapped: c.swapped, Runs: [2][]view.Run{c.Panes[0].runsState(), c.Panes[1].runsState()}}
	sp.Options.Match.Hand = slices.Clone(sp.Options.Match.Hand)
	for i := range sp.Sides { // event and metric follow from the options, once the matches are known
		sp.Sides[i].Event, sp.Sides[i].Metric = 0, 0
	}
	return sp
}

// remember adds the current view to the history once it has settled. If a program opened
// the file, the first step is the view it requested, once that has been applied.
func (d *Workspace) remember(u *ui.UI) {
	s := d.scene()
	if w := s.way(); d.back == nil || w.visit.state == nil && w.visit.answered == nil {
		w.History.remember(u, s.Spot(d), d.ViewState)
		if w.History.due {
			d.WakeAt(w.History.since.Add(undoDelay))
		}
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

// step returns the State of the previous step (d is -1) or the next one (d is 1); nil if
// there is none. After a change there is no next step.
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

// keep makes the current view a step unless it already is one.
func (h *History) keep(now Spot, state func() *view.State) {
	if len(h.steps) == 0 || !reflect.DeepEqual(now, h.shown) {
		h.Push(now, state())
	}
}

// setCurrent records a view as that of the current step and adds no step: only indices have
// changed, or the step was just restored.
func (h *History) setCurrent(now Spot) { h.shown, h.seen = now, now }

// Undo goes back one step.
func (d *Workspace) Undo() { d.Step(-1) }

// Redo goes forward one step.
func (d *Workspace) Redo() { d.Step(1) }

// Step moves through the history: -1 is back, 1 is forward.
func (d *Workspace) Step(by int) {
	s := d.scene()
	h := &s.way().History
	switch to := h.step(by, s.Spot(d), d.ViewState); {
	case to != nil:
		d.restore(to)
		h.setCurrent(s.Spot(d))
	case by > 0:
	case d.Versus == nil && d.Pane.Against != nil: // the comparison began before the first step
		d.Pane.EndScopeComparison()
	default:
		d.goBack()
	}
}

// backStep is a view of other recordings, to which undo leads after the first step of the
// current ones.
type backStep struct {
	state  *view.State
	before *backStep
}

// wayBack returns the step that leads back to the current recordings. If none of their
// views is in the history yet, it returns the step to the recordings before them.
func (d *Workspace) wayBack() *backStep {
	if s := d.scene(); s == nil || len(s.way().History.steps) == 0 {
		return d.back
	}
	return &backStep{d.Address(), d.back}
}

// goBack shows the recordings that were open before the current ones.
func (d *Workspace) goBack() {
	back := d.back
	switch c := d.Versus; {
	case back == nil:
		return
	case c != nil && (d.single(0) || d.single(1)):
		d.EndComparison()
	default:
		d.Visit(back.state)
	}
	d.back = back.before
}

// mergeMarks returns a function that adds newly read marks to all steps of a history.
func mergeMarks(h *History) func(with func([]view.Mark) []view.Mark) {
	return func(with func([]view.Mark) []view.Mark) {
		h.seen.Sides[0].Marks, h.shown.Sides[0].Marks = with(h.seen.Sides[0].Marks), with(h.shown.Sides[0].Marks)
		for _, st := range h.steps {
			st.Marks = with(st.Marks)
		}
	}
}
