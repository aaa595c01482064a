package spaa

import "encoding/binary"

// Records of one kind mostly have the same keys in the same order, and the next
// record is mostly of the same kind. So the keys of the last record, as they
// stand in the text with their quotes and colon, are looked for first: most
// cost two comparisons of words.
type shape struct {
	keys [16]shapeKey
	n    int
}

type shapeKey struct {
	lo, hi, maskLo, maskHi uint64 // 16 bytes of text and which of them count
	size                   int    // bytes that count
	bit                    keySet
}

// expect reads the k-th key of a record where it is that of the last one and
// stands at i without white space. It returns the key's bit and the index of the
// value, 0 where the key is another one.
func (p *Parser) expect(k, i int) (bit keySet, v int) {
	if k >= p.shape.n || i+17 > len(p.b) {
		return 0, 0
	}
	s := &p.shape.keys[k]
	x := (binary.LittleEndian.Uint64(p.b[i:])^s.lo)&s.maskLo | (binary.LittleEndian.Uint64(p.b[i+8:])^s.hi)&s.maskHi
	if x != 0 || p.b[i+s.size] <= ' ' {
		return 0, 0
	}
	return s.bit, i + s.size
}

// remember notes the k-th key of a record, which stands at i and whose value
// stands at v, for expect. n is the key's length.
func (p *Parser) remember(k, i, v, n int, bit keySet) {
	s := &p.shape
	if k >= len(s.keys) {
		return
	}
	size := v - i
	if bit == 0 || size > 16 || size != n+len(`"":`) || i+17 > len(p.b) {
		s.n = min(s.n, k) // white space, an escape, an unknown or a long one
		return
	}
	// Go shifts by as many bits as a word has, and more, to 0.
	maskLo, maskHi := uint64(1)<<(8*min(size, 8))-1, uint64(1)<<(8*max(size-8, 0))-1
	s.keys[k] = shapeKey{binary.LittleEndian.Uint64(p.b[i:]), binary.LittleEndian.Uint64(p.b[i+8:]), maskLo, maskHi, size, bit}
	s.n = max(s.n, k+1)
}
