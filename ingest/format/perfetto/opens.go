package perfetto

import "ashlar/ingest/model/recording"

// opened is a slice that has begun.
type opened struct {
	at    int64
	args  uint64
	frame recording.FrameID
}

// opens is a stack of them, in pieces: a trace may open millions, and a list that doubles
// needs memory in one piece.
type opens struct {
	pieces [][]opened
	last   int // the piece that is being filled; those after it are empty
}

const (
	firstPiece = 8
	mostPiece  = 1 << 12
)

func (s *opens) push(o opened) {
	if s.pieces == nil {
		s.pieces = [][]opened{make([]opened, 0, firstPiece)}
	}
	if p := s.pieces[s.last]; len(p) == cap(p) {
		if s.last++; s.last == len(s.pieces) {
			s.pieces = append(s.pieces, make([]opened, 0, min(2*cap(p), mostPiece)))
		}
	}
	s.pieces[s.last] = append(s.pieces[s.last], o)
}

// any reports whether a slice is open.
func (s *opens) any() bool { return s.pieces != nil && len(s.pieces[s.last]) > 0 }

// pop takes the innermost one.
func (s *opens) pop() (o opened, ok bool) {
	if s.pieces == nil {
		return o, false
	}
	p := s.pieces[s.last]
	if len(p) == 0 {
		return o, false
	}
	s.pieces[s.last] = p[:len(p)-1]
	if len(p) == 1 && s.last > 0 {
		s.last--
	}
	return p[len(p)-1], true
}

// all are the slices that are open, outermost first.
func (s *opens) all(yield func(opened) bool) {
	for _, p := range s.pieces {
		for _, o := range p {
			if !yield(o) {
				return
			}
		}
	}
}
