package sets

import (
	"iter"
	"math"
	"math/bits"
)

// Bits is a set of numbers from 0 on, which are gone through in order. Its zero value is
// empty.
type Bits struct{ words []uint64 }

// Add puts a number in.
func (s *Bits) Add(i int) {
	for i>>6 >= len(s.words) {
		s.words = append(s.words, 0)
	}
	s.words[i>>6] |= 1 << (i & 63)
}

// Remove takes a number out that was put in.
func (s *Bits) Remove(i int) { s.words[i>>6] &^= 1 << (i & 63) }

// From visits the numbers from first on, in order, and then those below it. Those that
// are put in or taken out meanwhile may be visited or not.
func (s *Bits) From(first int) iter.Seq[int] {
	return func(yield func(int) bool) {
		if s.visit(first, math.MaxInt, yield) {
			s.visit(0, first, yield)
		}
	}
}

// visit visits the numbers from one on that are below another, up to where yield reports
// false, as it then does itself.
func (s *Bits) visit(from, to int, yield func(int) bool) bool {
	for at := from >> 6; at < len(s.words); at++ {
		w := s.words[at]
		if at == from>>6 {
			w &= ^uint64(0) << (from & 63)
		}
		for ; w != 0; w &= w - 1 {
			switch i := at<<6 + bits.TrailingZeros64(w); {
			case i >= to:
				return true
			case !yield(i):
				return false
			}
		}
	}
	return true
}
