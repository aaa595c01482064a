package column

import (
	"sync/atomic"
	"unsafe"
)

// Shelf is where columns have their full chunks: on the heap, or in memory that
// somebody else gives once there is too little, such as that of a mapped file. Columns
// hold no pointers, so the collector need not know it. A nil Shelf is the heap.
//
// Whatever that memory is must stay for as long as the Shelf can be reached, which
// every column does that has chunks there, and some seconds beyond: who goes through
// one chunk has perhaps nothing left but that.
type Shelf struct {
	give atomic.Pointer[func(n int) []byte]
	keep any // what has the memory of columns that are only read
}

// Extend has full chunks come from give from now on: n bytes that are zero and lie
// at a multiple of 8, or nil if it has none left, which the heap gives then.
func (s *Shelf) Extend(give func(n int) []byte) { s.give.Store(&give) }

// Chunk makes a chunk of n elements, which have no pointers if there is a Shelf.
func Chunk[T any](s *Shelf, n int) []T {
	if n == ChunkLen {
		return Run[T](s, n)
	}
	return fresh[T](n) // it grows
}

// Run makes n elements that will not be more. They have no pointers if there is a
// Shelf.
func Run[T any](s *Shelf, n int) []T {
	if s != nil {
		if give := s.give.Load(); give != nil {
			var x T
			if b := (*give)(n * int(unsafe.Sizeof(x))); b != nil {
				return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(b))), n)
			}
		}
	}
	return fresh[T](n)
}

// Extended reports whether chunks may be elsewhere than on the heap: there is no use
// in making them smaller.
func (s *Shelf) Extended() bool { return s != nil && s.give.Load() != nil }
