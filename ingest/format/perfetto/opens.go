package perfetto

import "ashlar/ingest/model/recording"

// opened is an open slice.
type opened struct {
	at    int64
	args  uint64
	frame recording.FrameID
}

// opens is a stack of open slices, stored in pieces: a trace may open millions, and a
// single list that doubles needs contiguous memory.
type opens struct {
	pieces [][]opened
	last   int // the piece being filled; later ones are empty
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

// pop removes and returns the innermost open slice.
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

// all iterates over the open slices, outermost first.
func (s *opens) all(yield func(opened) bool) {
	for _, p := range s.pieces {
		for _, o := range p {
			if !yield(o) {
				return
			}
		}
	}
}
