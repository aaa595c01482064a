package shell

import (
	"reflect"
	"slices"
	"time"

	"ashlar/app/panel/functions"
	"ashlar/app/view"
	"ashlar/render/theme"
	"ashlar/render/ui"
)

// history is what was looked at, step by step, as States: they hold whatever
// numbers a recording that is read anew gives to things.
type history[T any] struct {
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

// spot is what a step of history is about, in the recording's numbers.
type spot struct {
	Look  view.Look
	Table functions.TableShape
	Mode  theme.Mode
	Parts View
}

func (p *pane) spot(s *Shell) spot {
	return spot{p.Settled(), p.table.TableShape, s.Mode, s.View}
}

// remember adds what is shown to the history once it has settled.
func (p *pane) remember(s *Shell, u *ui.UI) { p.history.remember(u, p.spot(s), s.state) }

func (h *history[T]) remember(u *ui.UI, now T, state func() *view.State) {
	if len(h.steps) == 0 {
		h.push(now, state())
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
	h.push(now, state())
}

func (h *history[T]) push(now T, st *view.State) {
	h.steps = append(h.steps[:min(h.at+1, len(h.steps))], st)
	if n := len(h.steps) - mostSteps; n > 0 {
		h.steps = slices.Delete(h.steps, 0, n)
	}
	h.at = len(h.steps) - 1
	h.shown, h.seen = now, now
}

// step is the State to go to from now: d is -1 for back and 1 for on; nil where
// there is none. A step on after a change goes nowhere.
func (h *history[T]) step(d int, now T, state func() *view.State) *view.State {
	if len(h.steps) > 0 && !reflect.DeepEqual(now, h.shown) {
		h.push(now, state()) // not settled yet, but left on purpose
	}
	if k := h.at + d; k >= 0 && k < len(h.steps) {
		h.at = k
		return h.steps[k]
	}
	return nil
}

// settleOn says that what is shown now is the current step: it has only other
// numbers, or just been gone to.
func (h *history[T]) settleOn(now T) { h.shown, h.seen = now, now }

// undo and redo are of what is shown: one recording, or two.
func (s *Shell) undo() { s.step(-1) }
func (s *Shell) redo() { s.step(1) }

func (s *Shell) step(d int) {
	if c := s.versus; c != nil {
		if to := c.history.step(d, c.spot(s), s.state); to != nil {
			s.restore(to)
			c.history.settleOn(c.spot(s))
		} else if d < 0 && c.of != nil {
			s.endComparison()
		}
		return
	}
	p := s.pane
	if to := p.history.step(d, p.spot(s), s.state); to != nil {
		s.restore(to)
		p.history.settleOn(p.spot(s))
	}
}

// mergeMarks adds marks that were read to what was looked at before.
func mergeMarks(h *history[spot]) func(with func([]view.Mark) []view.Mark) {
	return func(with func([]view.Mark) []view.Mark) {
		h.seen.Look.Marks, h.shown.Look.Marks = with(h.seen.Look.Marks), with(h.shown.Look.Marks)
		for _, st := range h.steps {
			st.Marks = with(st.Marks)
		}
	}
}
