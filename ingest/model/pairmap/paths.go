package pairmap

import (
	"math/bits"
	"math/rand/v2"
)

// Paths has numbers of sequences of ids, such as the call of a stack, for as many
// of their beginnings as were put in. The number 0 stands for none.
//
// With a Table, what a stack costs is a wait for memory at each of twenty frames.
// Most stacks differ from all others in the last few frames only, so one or two
// looks find here how far a stack is known. Of long sequences only some beginnings
// are kept, and the whole: see Kept.
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

// The first keptAll beginnings of a sequence are kept, and then every keptStep-th:
// a stack of thousands of frames costs more to keep than to walk.
const (
	keptAll  = 32
	keptStep = 64
)

// Kept reports whether beginnings of so many ids are kept.
func Kept(length int) bool { return length <= keptAll || length%keptStep == 0 }

// Fewer is the longest beginning that is kept of a sequence without its last ids.
func Fewer(length, without int) int {
	if length = max(0, length-without); length > keptAll {
		length -= length % keptStep
	}
	return length
}

// Leaf returns the number of a sequence. child finds or makes that of an id behind
// the ids that have a number; root is that of the empty sequence.
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
		known = Fewer(len(ids), fewer)
	}
	for i := known; i < len(ids); i++ {
		v = p.Next(p.ways[i], i+1 == len(ids) || Kept(i+1), func() uint32 { return child(v, ids[i]) })
	}
	return v
}

// Next is the number of a sequence, which find finds or makes where it is not kept;
// it is from then on with keep.
func (p *Paths) Next(a Path, keep bool, find func() uint32) uint32 {
	if !keep {
		return find()
	}
	v := p.Get(a)
	if v == 0 {
		v = find()
		p.Put(a, v)
	}
	return v
}
