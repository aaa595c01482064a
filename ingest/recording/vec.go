package recording

// chunkBits sets the size of a Vec's chunks: 4096 elements. Small enough that
// a lane wastes little, large enough that the table of chunks stays short.
const (
	chunkBits = 12
	chunkLen  = 1 << chunkBits
	firstLen  = 8
)

// Vec is an append-only column. It never moves its elements once a chunk is
// full, so growing costs no copying, and a copy of the struct is a snapshot:
// it goes on seeing its own first Len elements whatever the original appends.
// The zero value is empty. A snapshot must not be appended to.
type Vec[T any] struct {
	chunks [][]T
	n      int
	room   []T // what is left of the last chunk
	shelf  *Shelf
}

// Len is the number of elements.
func (v *Vec[T]) Len() int { return v.n }

// At returns element i; it panics when i is out of range.
func (v *Vec[T]) At(i int) T { return v.chunks[i>>chunkBits][i&(chunkLen-1)] }

// ref is element i itself, of a column that no snapshot has. It is good until the
// next Append.
func (v *Vec[T]) ref(i int) *T { return &v.chunks[i>>chunkBits][i&(chunkLen-1)] }

// Append adds one element.
func (v *Vec[T]) Append(x T) {
	if len(v.room) == 0 {
		v.grow()
	}
	v.room[0] = x
	v.room = v.room[1:]
	v.n++
}

// grow makes room for one more element. Only the first chunk is ever
// reallocated (8, 32, … 4096), and then the table with it, because a snapshot
// may be reading the old one.
func (v *Vec[T]) grow() {
	if v.n >= chunkLen {
		v.room = chunkOf[T](v.shelf, chunkLen)
		v.chunks = append(v.chunks, v.room)
		return
	}
	size := firstLen
	if len(v.chunks) > 0 {
		size = min(chunkLen, 4*len(v.chunks[0]))
	}
	first := chunkOf[T](v.shelf, size)
	if len(v.chunks) > 0 {
		copy(first, v.chunks[0])
	}
	v.chunks, v.room = [][]T{first}, first[v.n:]
}

// cut takes all but the first elements away. With shown there are snapshots, which
// keep what they have.
func (v *Vec[T]) cut(n int, shown bool) {
	k, off := n>>chunkBits, n&(chunkLen-1)
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
			last = chunkOf[T](v.shelf, len(last))
			copy(last, v.chunks[k][:off])
		}
		v.chunks, v.room = append(v.chunks[:k:k], last), last[off:]
	}
	v.n = n
}

// Chunk returns the longest run of elements that starts at i and lies
// contiguously in memory. It is for loops over whole columns:
//
//	for i := 0; i < v.Len(); {
//		run := v.Chunk(i)
//		…
//		i += len(run)
//	}
//
// The caller must not write to it.
func (v *Vec[T]) Chunk(i int) []T {
	c := v.chunks[i>>chunkBits]
	off := i & (chunkLen - 1)
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

// Bytes is about how much memory the column holds, given the size of an
// element.
func (v *Vec[T]) Bytes(elem int) int64 {
	if len(v.chunks) == 0 {
		return 0
	}
	return int64(elem) * (int64(len(v.chunks)-1)*chunkLen + int64(len(v.chunks[len(v.chunks)-1])))
}
