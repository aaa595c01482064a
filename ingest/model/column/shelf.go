package column

import (
	"sync/atomic"
	"unsafe"
)

// Shelf is where columns keep their full chunks: on the heap or, once that is short, in
// memory from another source such as a mapped file. These columns hold no pointers, so the
// garbage collector need not scan that memory. A nil Shelf is the heap.
//
// The memory must stay valid while the Shelf is reachable and for some seconds after: every
// column with chunks in the memory refers to the Shelf, but a loop over a chunk may refer
// only to that chunk.
type Shelf struct {
	give atomic.Pointer[func(n int) []byte]
	keep any // keeps the memory of read-only columns alive
}

// Extend takes full chunks from give from now on. give returns n zero bytes, aligned to
// 8, or nil if it has none left; then the chunk comes from the heap.
func (s *Shelf) Extend(give func(n int) []byte) { s.give.Store(&give) }

// Chunk makes a chunk of n elements, which have no pointers if there is a Shelf.
func Chunk[T any](s *Shelf, n int) []T {
	if n == ChunkLen {
		return Run[T](s, n)
	}
	return Fresh[T](n) // a partial chunk, which grows
}

// Run returns n elements that will never grow. They must have no pointers if there is a
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
	return Fresh[T](n)
}

// Extended reports whether chunks may lie outside the heap. Then making them smaller
// saves nothing.
func (s *Shelf) Extended() bool { return s != nil && s.give.Load() != nil }
