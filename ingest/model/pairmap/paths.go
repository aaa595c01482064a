package pairmap

import (
	"math/bits"
	"math/rand/v2"

	"ashlar/ingest/model/column"
)

// Paths maps sequences of ids to numbers, such as stacks to calls, for as many prefixes
// as were put in. The number 0 stands for none.
//
// With a Table, each of a stack's frames, some twenty, costs a cache miss. But most
// stacks differ from earlier ones in the last few frames only, so one or two lookups here
// find how much of a stack is known. Of a long sequence, only the whole and some prefixes
// are kept: see Kept.
type Paths struct {
	slots []pathSlot
	n     int
	root  Path
	seen  uint32
	ways  []Path // scratch memory of Leaf
}

// Path stands for a sequence of ids. It is a hash of 96 bits with a random key, so that
// even among a billion sequences no two are mistaken for each other, not even in a
// malicious file.
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

// Root returns the empty sequence.
func (p *Paths) Root() Path { return p.root }

// Step returns the sequence with one more id at its end.
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

// Touch reads the memory where Get will start. Several Touches wait for memory in
// parallel; lookups that depend on each other cannot.
func (p *Paths) Touch(a Path) { p.seen += p.slots[a.x&uint64(len(p.slots)-1)].v }

// Put sets the number of a sequence that has none; v must not be 0. The kept prefixes of
// the sequence must have numbers already. Other prefixes may have numbers.
func (p *Paths) Put(a Path, v uint32) {
	if p.n++; 3*p.n > 2*len(p.slots) {
		old := p.slots
		p.slots = column.Fresh[pathSlot](2 * len(old))
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

// The prefixes of a sequence that are kept: every keptStep-th and, beyond keptNear ids,
// every longStep-th. Keeping all would take more memory than the call tree, and a few steps
// in the tree are cheap, because they are mostly neighbours in memory.
const (
	keptStep = 16
	keptNear = 64
	longStep = 64
)

// Kept reports whether prefixes of this length are kept.
func Kept(length int) bool {
	return length%keptStep == 0 && (length <= keptNear || length%longStep == 0)
}

// keptBelow returns the length of the longest kept prefix of at most length-without ids, 0
// for none.
func keptBelow(length, without int) int {
	if length = max(0, length-without); length > keptNear {
		return length - length%longStep
	}
	return length - length%keptStep
}

// Shorter returns the length of the next prefix to look up if the first tried ids have no
// number; 0 means none. It first leaves out one id and then two, because such a prefix may
// be another whole sequence, and then twice as many each time, down to a kept prefix.
func Shorter(length, tried int) int {
	if without := length - tried; without > 1 {
		return keptBelow(length, 2*without)
	}
	return tried - 1
}

// Leaf returns the number of a sequence. child finds or makes the number for an id that
// follows a numbered prefix; root is the number of the empty sequence.
func (p *Paths) Leaf(ids []uint32, root uint32, child func(parent, id uint32) uint32) uint32 {
	p.ways = p.ways[:0]
	at := p.root
	for _, id := range ids {
		at = at.Step(id)
		p.ways = append(p.ways, at)
	}
	known, v := len(ids), root
	for ; known > 0; known = Shorter(len(ids), known) {
		if n := p.Get(p.ways[known-1]); n != 0 {
			v = n
			break
		}
	}
	for i := known; i < len(ids); i++ {
		v = p.Next(p.ways[i], i+1 == len(ids) || Kept(i+1), func() uint32 { return child(v, ids[i]) })
	}
	return v
}

// Next returns the number of a sequence. If it is not stored, Next gets it from find, and
// stores it if keep is true.
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
