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

// History is what was looked at, step by step, as States: they hold whatever
// numbers a recording that is read anew gives to things.
type History[T any] struct {
	steps []*view.State
	at    int // the current one
	// shown is what the current step looks like, and seen what the last frame did,
	// in the numbers of what is open: quick to compare.
	shown, seen T
	since       time.Time
}

// settle is how long a view must stay as it is to be a step of history: a wheel
// that turns passes many.
const settle = 400 * time.Millisecond

// mostSteps bounds the history.
const mostSteps = 500

// Spot is what a step of history is about, in the recording's numbers.
type Spot struct {
	Look  view.Look
	Table functions.TableShape
	Mode  theme.Mode
	Parts View
}

func (p *Pane) Spot(s *Desk) Spot {
	return Spot{p.Settled(), p.Table.TableShape, s.Mode, s.View}
}

// remember adds what is shown to the history once it has settled.
func (p *Pane) remember(s *Desk, u *ui.UI) { p.History.remember(u, p.Spot(s), s.ViewState) }

func (h *History[T]) remember(u *ui.UI, now T, state func() *view.State) {
	if len(h.steps) == 0 {
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
	if u.Now.Sub(h.since) < settle {
		u.Execute(opInvalidateAt(h.since.Add(settle)))
		return
	}
	h.Push(now, state())
}

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

// settleOn says that what is shown now is the current step: it has only other
// numbers, or just been gone to.
func (h *History[T]) settleOn(now T) { h.shown, h.seen = now, now }

// Undo and redo are of what is shown: one recording, or two.
func (s *Desk) Undo() { s.Step(-1) }
func (s *Desk) Redo() { s.Step(1) }

func (s *Desk) Step(d int) {
	if c := s.Versus; c != nil {
		if to := c.history.step(d, c.Spot(s), s.ViewState); to != nil {
			s.restore(to)
			c.history.settleOn(c.Spot(s))
		} else if d < 0 && c.of != nil {
			s.EndComparison()
		}
		return
	}
	p := s.Pane
	if to := p.History.step(d, p.Spot(s), s.ViewState); to != nil {
		s.restore(to)
		p.History.settleOn(p.Spot(s))
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
