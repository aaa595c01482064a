// Package pairmap maps pairs of small ids to a third id. Call trees are interned with it.
package pairmap

import "ashlar/ingest/model/column"

// Table maps a pair of 32-bit ids to a third, which is never 0: (parent call, frame) to
// call. It uses open addressing with linear probing; the value 0 marks a free slot, since
// no child is the root. The zero value is empty.
type Table struct {
	slots []slot
	n     int
}

// slot holds key and value together, because the cost of a lookup is its cache misses.
type slot struct{ a, b, v uint32 }

func mix(a, b uint32) uint64 {
	k := uint64(a)<<32 | uint64(b)
	k ^= k >> 32
	k *= 0x9E3779B97F4A7C15
	return k ^ k>>29
}

// Get returns the value of (a, b), 0 when there is none.
func (t *Table) Get(a, b uint32) uint32 {
	if len(t.slots) == 0 {
		return 0
	}
	mask := uint64(len(t.slots) - 1)
	for i := mix(a, b); ; i++ {
		s := &t.slots[i&mask]
		if s.v == 0 || s.a == a && s.b == b {
			return s.v
		}
	}
}

// Put adds a pair that is not there yet; v must not be 0.
func (t *Table) Put(a, b, v uint32) {
	if 2*(t.n+1) > len(t.slots) {
		old := t.slots
		t.slots, t.n = column.Fresh[slot](max(64, 2*len(old))), 0
		for _, s := range old {
			if s.v != 0 {
				t.Put(s.a, s.b, s.v)
			}
		}
	}
	mask := uint64(len(t.slots) - 1)
	i := mix(a, b) & mask
	for t.slots[i].v != 0 {
		i = (i + 1) & mask
	}
	t.slots[i] = slot{a, b, v}
	t.n++
}
