package sets

import (
	"iter"
	"math"
	"math/bits"
)

// Bits is an ordered set of numbers from 0 up. The zero value is empty.
type Bits struct{ words []uint64 }

// Add adds a number.
func (s *Bits) Add(i int) {
	for i>>6 >= len(s.words) {
		s.words = append(s.words, 0)
	}
	s.words[i>>6] |= 1 << (i & 63)
}

// Remove removes a number that is in the set.
func (s *Bits) Remove(i int) { s.words[i>>6] &^= 1 << (i & 63) }

// From visits the numbers from first up, in order, and then the numbers below first.
// Numbers added or removed meanwhile may or may not be visited.
func (s *Bits) From(first int) iter.Seq[int] {
	return func(yield func(int) bool) {
		if s.visit(first, math.MaxInt, yield) {
			s.visit(0, first, yield)
		}
	}
}

// visit visits the numbers from..to-1 until yield returns false; then it returns false
// too.
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
