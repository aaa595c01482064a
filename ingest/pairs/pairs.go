// Package pairs maps pairs of small ids to a third one, fast: it is what call
// trees are interned with.
package pairs

// Table maps a pair of 32-bit ids to a third, which is never 0: (parent call,
// frame) to call. Open addressing with linear probing; the value 0 marks a free
// slot, which serves because no child is the root. The zero value is empty.
type Table struct {
	keys []uint64
	vals []uint32
	n    int
}

func mix(k uint64) uint64 {
	k ^= k >> 32
	k *= 0x9E3779B97F4A7C15
	return k ^ k>>29
}

// Get returns the value of (a, b), 0 when there is none.
func (t *Table) Get(a, b uint32) uint32 {
	if len(t.vals) == 0 {
		return 0
	}
	key := uint64(a)<<32 | uint64(b)
	mask := uint64(len(t.vals) - 1)
	for i := mix(key) & mask; ; i = (i + 1) & mask {
		if t.vals[i] == 0 {
			return 0
		}
		if t.keys[i] == key {
			return t.vals[i]
		}
	}
}

// Put adds a pair that is not there yet; v must not be 0.
func (t *Table) Put(a, b, v uint32) {
	if 2*(t.n+1) > len(t.vals) {
		old := *t
		size := max(64, 2*len(old.vals))
		t.keys, t.vals, t.n = make([]uint64, size), make([]uint32, size), 0
		for i, ov := range old.vals {
			if ov != 0 {
				t.Put(uint32(old.keys[i]>>32), uint32(old.keys[i]), ov)
			}
		}
	}
	key := uint64(a)<<32 | uint64(b)
	mask := uint64(len(t.vals) - 1)
	i := mix(key) & mask
	for t.vals[i] != 0 {
		i = (i + 1) & mask
	}
	t.keys[i], t.vals[i] = key, v
	t.n++
}
