package column

import "math/bits"

// Sparse is a column of numbers that most rows lack: most spans have no arguments, and a
// full column for them would be a quarter of the memory of all spans. A bit in a group of
// 64 rows tells whether a row has a number; the count of numbers before it is the
// number's index.
//
// A copy of the struct is a snapshot, as with [Vec].
type Sparse struct {
	groups Vec[group] // complete groups
	open   uint64     // the bits of the group being filled
	values Vec[uint64]
}

// group marks the rows with a number among 64 neighbouring rows.
type group struct {
	bits   uint64
	before int // number of values in earlier groups
}

const groupBits = 6

// SparseOn makes an empty column with its chunks on a shelf.
func SparseOn(s *Shelf) Sparse { return Sparse{groups: On[group](s), values: On[uint64](s)} }

// Values returns the numbers of the rows that have one, in order.
func (s *Sparse) Values() *Vec[uint64] { return &s.values }

// Set notes the number of row i. Rows come in order.
func (s *Sparse) Set(i int, value uint64) {
	for g := i >> groupBits; s.groups.Len() < g; s.open = 0 {
		s.groups.Append(s.filling())
	}
	s.open |= 1 << (i & (1<<groupBits - 1))
	s.values.Append(value)
}

func (s *Sparse) filling() group { return group{s.open, s.values.Len() - bits.OnesCount64(s.open)} }

// of returns the group of row i; false if the row lies beyond all rows with a number.
func (s *Sparse) of(i int) (g group, ok bool) {
	switch at := i >> groupBits; {
	case at < s.groups.Len():
		return s.groups.At(at), true
	case at == s.groups.Len():
		return s.filling(), true
	}
	return group{}, false
}

// At returns the number of row i, 0 if it has none.
func (s *Sparse) At(i int) uint64 {
	g, ok := s.of(i)
	bit := uint64(1) << (i & (1<<groupBits - 1))
	if !ok || g.bits&bit == 0 {
		return 0
	}
	return s.values.At(g.before + bits.OnesCount64(g.bits&(bit-1)))
}

// Cut removes the numbers of row n and all later rows; for shown see [Vec.Cut].
func (s *Sparse) Cut(n int, shown bool) {
	g, ok := s.of(n)
	if !ok {
		return
	}
	s.groups.Cut(n>>groupBits, shown)
	s.open = g.bits & (1<<(n&(1<<groupBits-1)) - 1)
	s.values.Cut(g.before+bits.OnesCount64(s.open), shown)
}

// Trim releases unused capacity; nothing can be added afterwards.
func (s *Sparse) Trim() {
	s.groups.Trim()
	s.values.Trim()
}

// Fits reports whether an unpacked column has at most n rows.
func (s *Sparse) Fits(n int) bool {
	return s.groups.Len() <= n>>groupBits && s.values.Len() <= n
}

// Check panics (see [Fail]) if an unpacked column is not a valid column of n rows,
// because lookups in it would be wrong.
func (s *Sparse) Check(n int) {
	before := 0
	for i := range s.groups.Len() {
		g := s.groups.At(i)
		Must(g.before == before, "arguments are out of order")
		before += bits.OnesCount64(g.bits)
	}
	Must(before+bits.OnesCount64(s.open) == s.values.Len(), "arguments refer to missing spans")
	if rest := n - s.groups.Len()<<groupBits; rest < 1<<groupBits {
		Must(s.open>>rest == 0, "arguments refer to missing spans")
	}
}

// PackAs packs the column with its values replaced by other(value). The column itself
// does not change.
func (s *Sparse) PackAs(a *Archive, other func(value uint64) uint64) {
	Pack(a, &s.groups)
	Pack(a, &s.open)
	if a.reading {
		Pack(a, &s.values)
		return
	}
	n := s.values.Len()
	a.Signed(int64(n))
	var room []uint64
	for i := 0; i < n; {
		run := s.values.Chunk(i)
		room = room[:0]
		for _, v := range run {
			room = append(room, other(v))
		}
		PackChunk(a, &room, len(room))
		i += len(run)
	}
}
