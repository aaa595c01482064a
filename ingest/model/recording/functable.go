package recording

import (
	"hash/maphash"

	"ashlar/ingest/model/column"
)

// funcTable finds functions by name and module. Some recordings give every span a name of
// its own, so it has no copies of names but compares those of the functions.
type funcTable struct {
	of    *column.Vec[Function]
	seed  maphash.Seed
	slots []funcSlot // open addressing; at most half of the slots are used
	n     int
	// aliases are other names of functions.
	aliases map[FuncName]FuncID
}

// funcSlot is a slot of the hash table. Its fn is 1 + FuncID, 0 if it is free.
type funcSlot struct{ hash, fn uint32 }

func newFuncTable(of *column.Vec[Function]) funcTable {
	return funcTable{of: of, seed: maphash.MakeSeed(), slots: make([]funcSlot, 64), aliases: map[FuncName]FuncID{}}
}

func (t *funcTable) hash(k FuncName) uint32 {
	h := maphash.String(t.seed, k.Name)
	if k.Module != "" {
		h ^= 31 * maphash.String(t.seed, k.Module)
	}
	return uint32(h >> 32)
}

// find returns the function with a name.
func (t *funcTable) find(k FuncName, hash uint32) (id FuncID, ok bool) {
	mask := uint32(len(t.slots) - 1)
	for i := hash & mask; t.slots[i].fn != 0; i = (i + 1) & mask {
		if s := t.slots[i]; s.hash == hash {
			if f := t.of.Ref(int(s.fn - 1)); f.Name == k.Name && f.Module == k.Module {
				return FuncID(s.fn - 1), true
			}
		}
	}
	if len(t.aliases) > 0 {
		id, ok = t.aliases[k]
	}
	return id, ok
}

// add adds a function whose name is not in the table.
func (t *funcTable) add(hash uint32, id FuncID) {
	if t.n++; 2*t.n > len(t.slots) {
		old := t.slots
		t.slots = column.Fresh[funcSlot](2 * len(old))
		for _, s := range old {
			if s.fn != 0 {
				t.place(s)
			}
		}
	}
	t.place(funcSlot{hash, uint32(id) + 1})
}

func (t *funcTable) place(s funcSlot) {
	mask := uint32(len(t.slots) - 1)
	i := s.hash & mask
	for t.slots[i].fn != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = s
}
