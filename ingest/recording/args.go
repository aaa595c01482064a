package recording

import "math/bits"

// argColumn holds the arguments of those spans of a lane that have any.
type argColumn struct{ sparse }

// sparse is a column of numbers that most spans of a lane have none of, so that a
// column for all would be a quarter of the lane's memory. A span is found by the bits
// of its group of 64, and its number by how many stand before it.
//
// A copy of the struct is a snapshot, as with Vec.
type sparse struct {
	groups Vec[argGroup] // up to the one that is being filled
	open   uint64        // the bits of that one
	refs   Vec[uint64]
}

// argGroup says which of 64 neighbouring spans have arguments.
type argGroup struct {
	bits   uint64
	before int // references of the groups before
}

const groupBits = 6

// set notes the arguments of span i. Spans come in order.
func (a *sparse) set(i int, ref uint64) {
	for g := i >> groupBits; a.groups.Len() < g; a.open = 0 {
		a.groups.Append(argGroup{a.open, a.refs.Len() - bits.OnesCount64(a.open)})
	}
	a.open |= 1 << (i & (1<<groupBits - 1))
	a.refs.Append(ref)
}

// cut takes the arguments of span n and of those behind it away.
func (a *sparse) cut(n int, shown bool) {
	g := n >> groupBits
	group := argGroup{a.open, a.refs.Len() - bits.OnesCount64(a.open)}
	switch {
	case g < a.groups.Len():
		group = a.groups.At(g)
	case g > a.groups.Len():
		return
	}
	a.groups.cut(g, shown)
	a.open = group.bits & (1<<(n&(1<<groupBits-1)) - 1)
	a.refs.cut(group.before+bits.OnesCount64(a.open), shown)
}

// at is the reference of span i, 0 when it has none.
func (a *sparse) at(i int) uint64 {
	g := i >> groupBits
	group := argGroup{a.open, a.refs.Len() - bits.OnesCount64(a.open)}
	switch {
	case g < a.groups.Len():
		group = a.groups.At(g)
	case g > a.groups.Len():
		return 0
	}
	bit := uint64(1) << (i & (1<<groupBits - 1))
	if group.bits&bit == 0 {
		return 0
	}
	return a.refs.At(group.before + bits.OnesCount64(group.bits&(bit-1)))
}
