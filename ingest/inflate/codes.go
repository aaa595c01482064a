package inflate

import "math/bits"

// An entry of a table is what bits of the input stand for:
//
//	bits 0-4    how many bits to drop, those of the symbol and extra ones; 0: no symbol
//	bits 5-8    how many of them are the symbol's; of a link, those that choose in a part
//	bits 9-23   the byte, the length or the distance that extra bits are added to; where
//	            the part of a link begins
//	bits 28-31  see isLiteral and the others
//
// A table has as many entries as the bits that are looked at first have values. Longer
// codes have parts of it behind these, to which links lead.
const (
	dropMask   = 1<<5 - 1
	extraShift = 5
	baseShift  = 9
	baseMask   = 1<<15 - 1

	isLiteral = 1 << 31
	isLength  = 1 << 30
	isLink    = 1 << 29
	isEnd     = 1 << 28
)

const (
	maxBits = 15 // of a symbol's code

	literalBits  = 11
	literalMask  = 1<<literalBits - 1
	literalRoom  = 1 << 13 // every second symbol might need a part of 16
	distanceBits = 8
	distanceMask = 1<<distanceBits - 1
	distanceRoom = 1 << 12

	maxLiterals  = 286
	maxDistances = 30
	blockEnd     = 256
)

// codes are the two codes of a block.
type codes struct {
	literals  [literalRoom]uint32
	distances [distanceRoom]uint32
	lengths   [maxLiterals + maxDistances]uint8
}

// literal is the entry of the byte, length or end that bits begin with.
func (c *codes) literal(bits uint64) uint32 {
	e := c.literals[bits&literalMask]
	if e&isLink != 0 {
		e = c.literals[(e>>baseShift+uint32(bits>>literalBits)&(1<<(e>>extraShift&15)-1))&(literalRoom-1)]
	}
	return e
}

// distance is the entry of the distance that bits begin with.
func (c *codes) distance(bits uint64) uint32 {
	e := c.distances[bits&distanceMask]
	if e&isLink != 0 {
		e = c.distances[(e>>baseShift+uint32(bits>>distanceBits)&(1<<(e>>extraShift&15)-1))&(distanceRoom-1)]
	}
	return e
}

// What symbols stand for (RFC 1951, 3.2.5), but for how many bits their codes have.
var literalMeans, distanceMeans = func() (l [maxLiterals + 2]uint32, d [maxDistances + 2]uint32) {
	for i := range blockEnd {
		l[i] = isLiteral | uint32(i)<<baseShift
	}
	l[blockEnd] = isEnd
	for i, base := 0, 3; i < 28; i++ {
		extra := max(0, i/4-1)
		l[257+i] = isLength | uint32(base)<<baseShift | uint32(extra)
		base += 1 << extra
	}
	l[285] = isLength | longest<<baseShift
	for i, base := 0, 1; i < maxDistances; i++ {
		extra := max(0, i/2-1)
		d[i] = uint32(base)<<baseShift | uint32(extra)
		base += 1 << extra
	}
	return l, d
}()

// notUsed is what symbols mean that have codes in no data.
const notUsed = 0

// build fills a table for symbols whose codes have so many bits, 0 for those without
// one. It reports false where they are no code (RFC 1951, 3.2.2): one that has a
// meaning for all bits, or a single symbol of one bit, or none.
func build(table []uint32, first uint, lengths []uint8, means []uint32) bool {
	var count [maxBits + 1]int
	for _, n := range lengths {
		count[n]++
	}
	count[0] = 0
	most := uint(maxBits)
	for most > 0 && count[most] == 0 {
		most--
	}
	clear(table[:1<<first])
	if most == 0 {
		return true
	}
	var next [maxBits + 1]uint32
	code, free := uint32(0), 1
	for n := uint(1); n <= most; n++ {
		code = (code + uint32(count[n-1])) << 1
		next[n] = code
		if free = 2*free - count[n]; free < 0 {
			return false
		}
	}
	if free > 0 && (most > 1 || count[1] != 1) {
		return false
	}
	part := most - min(most, first) // bits that are looked at in parts
	end := 1 << first
	for symbol, length := range lengths {
		if length == 0 {
			continue
		}
		n := uint(length)
		turned := uint(bits.Reverse32(next[n]) >> (32 - n))
		next[n]++
		e := means[symbol]
		if e != notUsed {
			e += uint32(n) | uint32(n)<<extraShift
		}
		if n <= first {
			for i := turned; i < 1<<first; i += 1 << n {
				table[i] = e
			}
			continue
		}
		link := &table[turned&(1<<first-1)]
		if *link == 0 {
			*link = isLink | uint32(end)<<baseShift | uint32(part)<<extraShift
			clear(table[end : end+1<<part])
			end += 1 << part
		}
		begin := uint(*link >> baseShift & baseMask)
		for i := turned >> first; i < 1<<part; i += 1 << (n - first) {
			table[begin+i] = e
		}
	}
	return true
}

// fixed has the codes of blocks that bring none.
func (c *codes) fixed() {
	var l [maxLiterals + 2]uint8
	for i := range l {
		switch {
		case i < 144 || i >= 280:
			l[i] = 8
		case i < 256:
			l[i] = 9
		default:
			l[i] = 7
		}
	}
	build(c.literals[:], literalBits, l[:], literalMeans[:])
	var d [maxDistances + 2]uint8
	for i := range d {
		d[i] = 5
	}
	build(c.distances[:], distanceBits, d[:], distanceMeans[:])
}

// order is that in which the lengths of the codes of lengths stand (RFC 1951, 3.2.7).
var order = [19]uint8{16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15}

// Symbols of the code of lengths from here on repeat some.
const repeats = 16

// lengthMeans are the symbols of the code of lengths themselves, marked so that none is 0.
var lengthMeans = func() (m [19]uint32) {
	for i := range m {
		m[i] = isLiteral | uint32(i)<<baseShift
	}
	return m
}()

// lengthBits is enough for the code of lengths, whose codes have 7 bits at most.
const lengthBits = 7

// dynamic reads the codes of a block that brings them. They have 316 lengths at most, of
// 14 bits each: where the input at hand ends before they do all of it is read again.
func (r *Reader) dynamic() error {
	for {
		bits, count, at := r.bits, r.count, r.at
		err := r.readCodes()
		if err != errMore {
			return err
		}
		r.bits, r.count, r.at = bits, count, at
		if r.to > r.from { // what is there is handed out first
			return errMore
		}
		if err := r.fill(); err != nil {
			return err
		}
	}
}

func (r *Reader) readCodes() error {
	if err := r.need(17); err != nil {
		return err
	}
	last := r.take(3)&1 == 1
	literals, distances, given := int(r.take(5))+257, int(r.take(5))+1, int(r.take(4))+4
	if literals > maxLiterals || distances > maxDistances {
		return ErrCorrupt
	}
	var lengths [19]uint8
	for _, symbol := range order[:given] {
		if err := r.need(3); err != nil {
			return err
		}
		lengths[symbol] = uint8(r.take(3))
	}
	var table [1 << lengthBits]uint32
	if !build(table[:], lengthBits, lengths[:], lengthMeans[:]) {
		return ErrCorrupt
	}
	all := r.codes.lengths[:literals+distances]
	for i := 0; i < len(all); {
		r.refill()
		e := table[r.bits&(1<<min(r.count, lengthBits)-1)]
		n := uint(e & dropMask)
		if n > r.count || n == 0 && r.count < lengthBits {
			return errMore
		}
		symbol := e >> baseShift & baseMask
		if n == 0 {
			return ErrCorrupt
		}
		extra, least, of := uint(0), 1, uint8(symbol)
		switch symbol {
		case repeats:
			if i == 0 {
				return ErrCorrupt
			}
			extra, least, of = 2, 3, all[i-1]
		case repeats + 1:
			extra, least, of = 3, 3, 0
		case repeats + 2:
			extra, least, of = 7, 11, 0
		}
		if r.count < n+extra {
			return errMore
		}
		r.take(n)
		times := least + int(r.take(extra))
		if times > len(all)-i {
			return ErrCorrupt
		}
		for ; times > 0; times-- {
			all[i] = of
			i++
		}
	}
	if !build(r.codes.literals[:], literalBits, all[:literals], literalMeans[:]) ||
		!build(r.codes.distances[:], distanceBits, all[literals:], distanceMeans[:]) {
		return ErrCorrupt
	}
	r.last, r.state = last, inCodes
	return nil
}
