package pairs

import (
	"math/bits"
	"math/rand/v2"
)

// Paths has numbers of sequences of ids, such as the call of a stack, for as many
// of their beginnings as were put in. The number 0 stands for none.
//
// With a Table, what a stack costs is a wait for memory at each of twenty frames.
// Most stacks differ from all others in the last few frames only, so one or two
// looks find here how far a stack is known.
type Paths struct {
	slots []pathSlot
	n     int
	root  Path
	seen  uint32
	ways  []Path // of Leaf
}

// Path stands for a sequence of ids. It is a hash of 96 bits that is keyed by
// chance, so that even among a billion sequences no two are taken for one, whatever
// a file is made for.
type Path struct{ x, y uint64 }

type pathSlot struct {
	x     uint64
	check uint32
	v     uint32 // 0 marks a free slot
}

// NewPaths returns an empty table.
func NewPaths() *Paths {
	return &Paths{slots: make([]pathSlot, 256), root: Path{rand.Uint64(), rand.Uint64()}}
}

// Root is the empty sequence.
func (p *Paths) Root() Path { return p.root }

// Step is the sequence with one more id at its end.
func (a Path) Step(id uint32) Path {
	v := uint64(id) + 1
	hi, lo := bits.Mul64(a.x^v, 0x9E3779B97F4A7C15)
	high, low := bits.Mul64(a.y+v, 0xD6E8FEB86659FD93)
	return Path{hi ^ lo + v, high ^ low ^ 0xE7037ED1A0B428DB}
}

func (a Path) check() uint32 { return uint32(a.y >> 32) }

// Get returns the number of a sequence, 0 when it has none.
func (p *Paths) Get(a Path) uint32 {
	mask := uint64(len(p.slots) - 1)
	for i := a.x & mask; ; i = (i + 1) & mask {
		if s := &p.slots[i]; s.v == 0 || s.x == a.x && s.check == a.check() {
			return s.v
		}
	}
}

// Touch reads where Get will begin to look. Several of them wait for memory at the
// same time, which looks that depend on each other do not.
func (p *Paths) Touch(a Path) { p.seen += p.slots[a.x&uint64(len(p.slots)-1)].v }

// Put gives a sequence that has none a number, which must not be 0. Those that it
// begins with must have theirs.
func (p *Paths) Put(a Path, v uint32) {
	if p.n++; 3*p.n > 2*len(p.slots) {
		old := p.slots
		p.slots = make([]pathSlot, 2*len(old))
		for _, s := range old {
			if s.v != 0 {
				p.place(s)
			}
		}
	}
	p.place(pathSlot{a.x, a.check(), v})
}

func (p *Paths) place(s pathSlot) {
	mask := uint64(len(p.slots) - 1)
	i := s.x & mask
	for p.slots[i].v != 0 {
		i = (i + 1) & mask
	}
	p.slots[i] = s
}

// Leaf returns the number of a sequence. Each id behind what is known of it gets
// one from child, which is given the number of the ids before; root is that of the
// empty sequence.
func (p *Paths) Leaf(ids []uint32, root uint32, child func(parent, id uint32) uint32) uint32 {
	p.ways = p.ways[:0]
	at := p.root
	for _, id := range ids {
		at = at.Step(id)
		p.ways = append(p.ways, at)
	}
	known, v := len(ids), root
	for fewer := 1; known > 0; fewer *= 2 { // all, then without the last 1, 2, 4, 8 …
		if n := p.Get(p.ways[known-1]); n != 0 {
			v = n
			break
		}
		known = max(0, len(ids)-fewer)
	}
	for i := known; i < len(ids); i++ {
		n := p.Get(p.ways[i])
		if n == 0 {
			n = child(v, ids[i])
			p.Put(p.ways[i], n)
		}
		v = n
	}
	return v
}
