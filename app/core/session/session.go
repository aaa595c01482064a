package session

import (
	"slices"
	"sync"
)

// Session holds the open sides: none, one, or two that are compared, A and B. The window
// or program that shows it sets the sides with [Session.Show]; the session closes those
// that are no longer shown. It belongs to one goroutine.
type Session struct {
	notify func()
	sides  []*Side
	pair   *Comparing
	gone   sync.WaitGroup    // sides being closed
	ending []<-chan struct{} // one per ending comparison, closed when it no longer reads sides
}

// New returns a session with nothing open. notify is called from other goroutines
// whenever a comparison has something new to show.
func New(notify func()) *Session { return &Session{notify: notify} }

// Show sets the sides: none, one, or two, which are compared again. Further sides are those from
// which the first two were made; they stay open, too. Sides no longer listed are closed in the
// background, after their running computations have ended.
func (s *Session) Show(sides ...*Side) {
	gone := slices.DeleteFunc(s.sides, func(d *Side) bool { return slices.Contains(sides, d) })
	s.EndCompareScopes()
	ending := s.ending
	s.gone.Go(func() {
		for _, ended := range ending {
			<-ended // wait, because comparisons read the sides
		}
		for _, d := range gone {
			d.Close()
		}
	})
	if s.sides = slices.Clone(sides); len(sides) >= 2 {
		s.pair = Compare(s.notify)
	}
}

// Keep keeps another side open until Show replaces the sides, whether or not a comparison
// reads it.
func (s *Session) Keep(d *Side) { s.sides = append(s.sides, d) }

// CompareScopes compares parts of the open side with each other.
func (s *Session) CompareScopes() *Comparing {
	if s.pair == nil {
		s.pair = Compare(s.notify)
	}
	return s.pair
}

// EndCompareScopes ends the comparison without waiting for running computations.
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

// Sides returns the open sides, A before B.
func (s *Session) Sides() []*Side { return s.sides }

// Pair returns the comparison of both sides, or of parts of one; nil if there is none.
func (s *Session) Pair() *Comparing { return s.pair }

// Close closes all sides and waits until everything has ended.
func (s *Session) Close() {
	s.Show()
	s.gone.Wait()
}
