// Package column implements append-only columns. A copy of a column is a snapshot that can
// be read without locks while the original grows. Columns are stored in chunks, on the
// heap or on a [Shelf]; an [Archive] packs values made of columns into those chunks and an
// index, to be read in place later.
package column

import (
	"math"
	"slices"
)

// ChunkBits sets the size of a chunk: 4096 elements. That is small enough to waste little
// per column, and large enough to keep the table of chunks short. FirstLen is the initial
// capacity of a column's first chunk.
const (
	ChunkBits = 12
	ChunkLen  = 1 << ChunkBits
	FirstLen  = 8
)

// Vec is an append-only column. It never moves its elements once a chunk is full, so
// growing costs no copying, and a copy of the struct is a snapshot: its Len and its
// elements stay the same while the original grows. The zero value is empty. A snapshot must
// not be appended to.
type Vec[T any] struct {
	chunks [][]T
	n      int
	room   []T // unused capacity of the last chunk
	shelf  *Shelf
}

// On makes an empty column with its chunks on a shelf. T has no pointers.
func On[T any](s *Shelf) Vec[T] { return Vec[T]{shelf: s} }

// Shelf returns the shelf of the column's chunks.
func (v *Vec[T]) Shelf() *Shelf { return v.shelf }

// Len returns the number of elements.
func (v *Vec[T]) Len() int { return v.n }

// At returns element i; it panics when i is out of range.
func (v *Vec[T]) At(i int) T { return v.chunks[i>>ChunkBits][i&(ChunkLen-1)] }

// Ref returns a pointer to element i, valid until the next Append. Elements that a
// snapshot shares must not be written to.
func (v *Vec[T]) Ref(i int) *T { return &v.chunks[i>>ChunkBits][i&(ChunkLen-1)] }

// Append adds one element.
func (v *Vec[T]) Append(x T) {
	if len(v.room) == 0 {
		v.grow()
	}
	v.room[0] = x
	v.room = v.room[1:]
	v.n++
}

// More appends up to n zero elements and returns them to be filled: fewer if the chunk
// ends.
func (v *Vec[T]) More(n int) []T {
	if len(v.room) == 0 {
		v.grow()
	}
	n = min(n, len(v.room))
	added := v.room[:n]
	v.room = v.room[n:]
	v.n += n
	return added
}

// grow makes room for one more element. Only the first chunk is ever reallocated (8, 32,
// … 4096), together with the table of chunks, because a snapshot may be reading the old
// one.
func (v *Vec[T]) grow() {
	if v.n >= ChunkLen {
		v.room = Chunk[T](v.shelf, ChunkLen)
		v.chunks = append(v.chunks, v.room)
		return
	}
	size := FirstLen
	if len(v.chunks) > 0 {
		size = min(ChunkLen, 4*len(v.chunks[0]))
	}
	first := Chunk[T](v.shelf, size)
	if len(v.chunks) > 0 {
		copy(first, v.chunks[0])
	}
	v.chunks, v.room = [][]T{first}, first[v.n:]
}

// Cut removes all but the first n elements. Set shown if there are snapshots; they keep
// their elements.
func (v *Vec[T]) Cut(n int, shown bool) {
	k, off := n>>ChunkBits, n&(ChunkLen-1)
	switch {
	case n == v.n:
		return
	case n == 0:
		*v = Vec[T]{shelf: v.shelf}
		return
	case off == 0:
		v.chunks, v.room = v.chunks[:k:k], nil
	default:
		last := v.chunks[k]
		if shown {
			last = Chunk[T](v.shelf, len(last))
			copy(last, v.chunks[k][:off])
		}
		v.chunks, v.room = append(v.chunks[:k:k], last), last[off:]
	}
	v.n = n
}

// Reorder replaces the elements from index from on by the elements with the indices in
// order; fill stands in for indices beyond the column's end.
func (v *Vec[T]) Reorder(from int, order []int, fill T) {
	moved := make([]T, len(order))
	for k, i := range order {
		if moved[k] = fill; i < v.Len() {
			moved[k] = v.At(i)
		}
	}
	v.Cut(min(from, v.Len()), true)
	for v.Len() < from {
		v.Append(fill)
	}
	for len(moved) > 0 {
		moved = moved[copy(v.More(len(moved)), moved):]
	}
}

// Chunk returns the longest contiguous run of elements that starts at i, for loops over
// whole columns:
//
//	for i := 0; i < v.Len(); {
//		run := v.Chunk(i)
//		…
//		i += len(run)
//	}
//
// The caller must not write to it.
func (v *Vec[T]) Chunk(i int) []T {
	c := v.chunks[i>>ChunkBits]
	off := i & (ChunkLen - 1)
	return c[off:min(len(c), off+v.n-i)]
}

// Slice copies everything into one slice.
func (v *Vec[T]) Slice() []T {
	out := make([]T, 0, v.n)
	for i := 0; i < v.n; {
		run := v.Chunk(i)
		out = append(out, run...)
		i += len(run)
	}
	return out
}

// Bytes returns approximately how much memory the column holds, given the size of an
// element.
func (v *Vec[T]) Bytes(elem int) int64 {
	if len(v.chunks) == 0 {
		return 0
	}
	return int64(elem) * (int64(len(v.chunks)-1)*ChunkLen + int64(len(v.chunks[len(v.chunks)-1])))
}

// Trim releases unused capacity; nothing can be appended afterwards. The last chunk is on
// average half empty, which is negligible for one column of a million elements, but much
// for hundreds of short ones.
func (v *Vec[T]) Trim() {
	v.room = nil
	if k := len(v.chunks) - 1; k >= 0 {
		if n := v.n - k*ChunkLen; n < len(v.chunks[k]) && !(len(v.chunks[k]) == ChunkLen && v.shelf.Extended()) {
			last := slices.Clone(v.chunks[k][:n:n])
			v.chunks = slices.Clone(v.chunks)
			v.chunks[k] = last
		}
	}
}

// Sorted reports whether the elements never decrease.
func Sorted(v *Vec[int64]) bool {
	last := int64(math.MinInt64)
	for i := 0; i < v.Len(); {
		run := v.Chunk(i)
		for _, t := range run {
			if t < last {
				return false
			}
			last = t
		}
		i += len(run)
	}
	return true
}

// Below reports whether all ids are below n.
func Below[T ~uint32](v *Vec[T], n int) bool {
	for i := 0; i < v.Len(); {
		run := v.Chunk(i)
		for _, id := range run {
			if int(id) >= n {
				return false
			}
		}
		i += len(run)
	}
	return true
}
