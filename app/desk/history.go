package desk

import (
	"reflect"
	"slices"
	"time"

	"ashlar/app/panel/functions"
	"ashlar/app/view"
	"ashlar/render/theme"
	"ashlar/render/ui"
)

// History holds views step by step, as States: they hold whatever
// numbers a recording that is read anew gives to things.
type History[T any] struct {
	steps []*view.State
	at    int // the current one
	// shown is what the current step looks like, and seen what the last frame did,
	// in the numbers of what is open: quick to compare.
	shown, seen T
	since       time.Time
	due         bool // what is shown becomes a step unless it changes soon
}

// settle is how long a view must stay as it is to be a step of history: a wheel
// that turns passes many.
const settle = 400 * time.Millisecond

// mostSteps bounds the history.
const mostSteps = 500

// Spot describes a step of history, in the recording's numbers.
type Spot struct {
	Look  view.Look
	Table functions.TableShape
	Mode  theme.Mode
	Parts View
	Pair  withinSpot
}

// Spot describes how the recording is looked at now.
func (p *Pane) Spot(d *Desk) Spot {
	return Spot{p.Settled(), p.Table.TableShape, d.Mode, d.View, p.withinSpot()}
}

// remember adds what is shown to the history once it has settled. Where a program
// opened the file, what it asked for is the first step.
func (p *Pane) remember(d *Desk, u *ui.UI) {
	if d.back == nil || p.visit.state == nil && p.visit.answered == nil {
		p.History.remember(u, p.Spot(d), d.ViewState)
	}
}

func (h *History[T]) remember(u *ui.UI, now T, state func() *view.State) {
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
	if h.due = u.Now.Sub(h.since) < settle; h.due {
		u.Execute(opInvalidateAt(h.since.Add(settle)))
		return
	}
	h.Push(now, state())
}

// Push adds a step behind the current one; those that were behind it are gone.
func (h *History[T]) Push(now T, st *view.State) {
	h.steps = append(h.steps[:min(h.at+1, len(h.steps))], st)
	if n := len(h.steps) - mostSteps; n > 0 {
		h.steps = slices.Delete(h.steps, 0, n)
	}
	h.at = len(h.steps) - 1
	h.shown, h.seen = now, now
}

// step is the State to go to from now: d is -1 for back and 1 for on; nil where
// there is none. A step on after a change goes nowhere.
func (h *History[T]) step(d int, now T, state func() *view.State) *view.State {
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
func (h *History[T]) keep(now T, state func() *view.State) {
	if len(h.steps) == 0 || !reflect.DeepEqual(now, h.shown) {
		h.Push(now, state())
	}
}

// settleOn says that what is shown now is the current step: it has only other
// numbers, or just been gone to.
func (h *History[T]) settleOn(now T) { h.shown, h.seen = now, now }

// Undo goes back to the step before.
func (d *Desk) Undo() { d.Step(-1) }

// Redo goes on a step.
func (d *Desk) Redo() { d.Step(1) }

// Step goes by so many steps through what was shown: -1 is back, 1 is on.
func (d *Desk) Step(by int) {
	if c := d.Versus; c != nil {
		if to := c.history.step(by, c.Spot(d), d.ViewState); to != nil {
			d.restore(to)
			c.history.settleOn(c.Spot(d))
		} else if by < 0 {
			d.goBack()
		}
		return
	}
	p := d.Pane
	if to := p.History.step(by, p.Spot(d), d.ViewState); to != nil {
		d.restore(to)
		p.History.settleOn(p.Spot(d))
	} else if by < 0 && p.Against != nil { // it was compared before there was a step
		p.EndWithin()
	} else if by < 0 {
		d.goBack()
	}
}

// goBack shows what was open before somebody else opened what is; see Lead.
func (d *Desk) goBack() {
	if back := d.back; back != nil {
		d.Visit(back)
	}
}

// mergeMarks adds marks that were read to what was looked at before.
func mergeMarks(h *History[Spot]) func(with func([]view.Mark) []view.Mark) {
	return func(with func([]view.Mark) []view.Mark) {
		h.seen.Look.Marks, h.shown.Look.Marks = with(h.seen.Look.Marks), with(h.shown.Look.Marks)
		for _, st := range h.steps {
			st.Marks = with(st.Marks)
		}
	}
}
