package session

import (
	"slices"
	"sync"
)

// Session is what is open: nothing, one side, or two that are compared, A and B.
// Whoever shows it, a window or a program that asks, says which sides there are
// ([Session.Show]); the session lets go of those that were. It belongs to one
// goroutine.
type Session struct {
	notify func()
	sides  []*Side
	pair   *Comparing
	gone   sync.WaitGroup // what is being let go of
}

// New returns a session with nothing open. notify is called from other goroutines
// whenever a comparison has something new to show.
func New(notify func()) *Session { return &Session{notify: notify} }

// Show makes these the sides: none, one, or two, which are compared anew, and
// behind them what those two were made of, which stays open. Sides that are not
// among them any more are closed, in the background: that waits for what is being
// computed of them.
func (s *Session) Show(sides ...*Side) {
	gone := slices.DeleteFunc(s.sides, func(d *Side) bool { return slices.Contains(sides, d) })
	pair := s.pair
	s.gone.Go(func() {
		if pair != nil {
			pair.Close() // before what it reads
		}
		for _, d := range gone {
			d.Close()
		}
	})
	s.pair = nil
	if s.sides = slices.Clone(sides); len(sides) >= 2 {
		s.pair = Compare(s.notify)
	}
}

// Sides are those that are open, A before B.
func (s *Session) Sides() []*Side { return s.sides }

// Pair answers what is asked of both sides, nil unless there are two.
func (s *Session) Pair() *Comparing { return s.pair }

// Close lets go of everything, and waits until all have ended.
func (s *Session) Close() {
	s.Show()
	s.gone.Wait()
}
