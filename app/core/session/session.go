package session

import (
	"slices"
	"sync"
)

// Session holds what is open: nothing, one side, or two that are compared, A and B.
// Whoever shows it, a window or a program that asks, says which sides there are
// ([Session.Show]); the session lets go of those that were. It belongs to one
// goroutine.
type Session struct {
	notify func()
	sides  []*Side
	pair   *Comparing
	gone   sync.WaitGroup    // what is being let go of
	ending []<-chan struct{} // of comparisons, which read sides, each closed when it has ended
}

// New returns a session with nothing open. notify is called from other goroutines
// whenever a comparison has something new to show.
func New(notify func()) *Session { return &Session{notify: notify} }

// Show makes these the sides: none, one, or two, which are compared again, and
// behind them what those two were made of, which stays open. Sides that are not
// among them any more are closed, in the background: that waits for what is being
// computed of them.
func (s *Session) Show(sides ...*Side) {
	gone := slices.DeleteFunc(s.sides, func(d *Side) bool { return slices.Contains(sides, d) })
	s.EndCompareScopes()
	ending := s.ending
	s.gone.Go(func() {
		for _, ended := range ending {
			<-ended // before what it reads
		}
		for _, d := range gone {
			d.Close()
		}
	})
	if s.sides = slices.Clone(sides); len(sides) >= 2 {
		s.pair = Compare(s.notify)
	}
}

// CompareScopes compares parts of the side that is open with each other.
func (s *Session) CompareScopes() *Comparing {
	if s.pair == nil {
		s.pair = Compare(s.notify)
	}
	return s.pair
}

// EndCompareScopes ends comparing; it does not wait for what is being computed.
func (s *Session) EndCompareScopes() {
	if pair := s.pair; pair != nil {
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			pair.Close()
		}()
		s.ending = append(slices.DeleteFunc(slices.Clone(s.ending), hasEnded), ended)
	}
	s.pair = nil
}

func hasEnded(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// Sides are those that are open, A before B.
func (s *Session) Sides() []*Side { return s.sides }

// Pair answers what is asked of both sides, or of parts of one; nil if nothing is
// compared.
func (s *Session) Pair() *Comparing { return s.pair }

// Close lets go of everything, and waits until all have ended.
func (s *Session) Close() {
	s.Show()
	s.gone.Wait()
}
