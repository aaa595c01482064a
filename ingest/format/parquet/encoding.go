package parquet

import (
	"encoding/binary"
	"fmt"
	"math"
)

// Encodings of values.
const (
	encodingPlain           = 0
	encodingPlainDictionary = 2
	encodingRLE             = 3
	encodingDelta           = 5
	encodingDeltaLength     = 6
	encodingDeltaBytes      = 7
	encodingDictionary      = 8
	encodingSplit           = 9
)

func errEncoding(encoding int) error {
	return fmt.Errorf("its encoding (number %d) is not supported", encoding)
}

// decoder decodes the values of a page one by one; false if there are no more.
type decoder interface{ next(v *value) bool }

// newDecoder returns the decoder of a page with n values, some of which may be NULL.
func newDecoder(l *leaf, encoding int, data []byte, n int, dict *plain) (decoder, error) {
	integers := l.physical == physicalInt32 || l.physical == physicalInt64
	switch {
	case encoding == encodingPlain:
		return &plain{leaf: l, data: data}, nil
	case encoding == encodingDictionary || encoding == encodingPlainDictionary:
		if dict == nil {
			return nil, fmt.Errorf("the dictionary is missing")
		}
		if len(data) == 0 { // all values are NULL
			return &indexed{dict: dict}, nil
		}
		if data[0] > 32 {
			return nil, errPage
		}
		return &indexed{dict: dict, h: newHybrid(data[1:], int(data[0]))}, nil
	case encoding == encodingRLE && l.physical == physicalBool:
		h, _, err := levels(data, encodingRLE, 1)
		return &booleans{h}, err
	case encoding == encodingDelta && integers:
		d, err := newDelta(data, l.physical == physicalInt32)
		return &d, err
	case encoding == encodingDeltaLength && l.physical == physicalBytes:
		lengths, rest, err := deltas(data, n)
		return &deltaLength{lengths, rest}, err
	case encoding == encodingDeltaBytes && (l.physical == physicalBytes || l.physical == physicalFixed):
		prefixes, rest, err := deltas(data, n)
		if err != nil {
			return nil, err
		}
		lengths, rest, err := deltas(rest, n)
		return &deltaBytes{prefixes: prefixes, suffixes: deltaLength{lengths, rest}}, err
	case encoding == encodingSplit && l.width > 0:
		return &split{leaf: l, data: data, n: len(data) / l.width, one: make([]byte, l.width)}, nil
	}
	return nil, errEncoding(encoding)
}

// plain reads values one after the other. As a dictionary, it returns any of them.
type plain struct {
	leaf    *leaf
	data    []byte
	at      int
	offsets []uint32 // of a dictionary whose values have no fixed width
	n       int
}

func (p *plain) next(v *value) bool {
	switch {
	case p.leaf.physical == physicalBool:
		if p.at>>3 >= len(p.data) {
			return false
		}
		v.i = int64(p.data[p.at>>3] >> (p.at & 7) & 1)
		p.at++
		return true
	case p.leaf.width > 0:
		if len(p.data)-p.at < p.leaf.width {
			return false
		}
		p.leaf.fixed(v, p.data[p.at:p.at+p.leaf.width])
		p.at += p.leaf.width
		return true
	}
	if len(p.data)-p.at < 4 {
		return false
	}
	n := uint64(binary.LittleEndian.Uint32(p.data[p.at:]))
	if n > uint64(len(p.data)-p.at-4) {
		return false
	}
	p.at += 4
	v.b = p.data[p.at : p.at+int(n) : p.at+int(n)]
	p.at += int(n)
	return true
}

// fixed sets a value of a fixed width.
func (l *leaf) fixed(v *value, b []byte) {
	switch l.physical {
	case physicalInt32:
		v.i = int64(int32(binary.LittleEndian.Uint32(b)))
	case physicalInt64:
		v.i = int64(binary.LittleEndian.Uint64(b))
	case physicalFloat:
		v.f = float32At(binary.LittleEndian.Uint32(b))
	case physicalDouble:
		v.f = math.Float64frombits(binary.LittleEndian.Uint64(b))
	default:
		v.b = b
	}
}

// newDictionary returns a dictionary of n values.
func newDictionary(l *leaf, data []byte, n int) (*plain, error) {
	p := &plain{leaf: l, data: data, n: n}
	switch {
	case l.physical == physicalBool:
		return nil, errPage
	case l.width > 0:
		if n > len(data)/l.width {
			return nil, errPage
		}
	default:
		if n > len(data)/4 {
			return nil, errPage
		}
		p.offsets = make([]uint32, n)
		var v value
		for i := range p.offsets {
			p.offsets[i] = uint32(p.at)
			if !p.next(&v) {
				return nil, errPage
			}
		}
	}
	return p, nil
}

// get returns value i of a dictionary.
func (p *plain) get(i int, v *value) bool {
	if i >= p.n {
		return false
	}
	if p.leaf.width > 0 {
		p.leaf.fixed(v, p.data[i*p.leaf.width:][:p.leaf.width])
		return true
	}
	p.at = int(p.offsets[i])
	return p.next(v)
}

// indexed reads indices of a dictionary.
type indexed struct {
	dict *plain
	h    hybrid
}

func (x *indexed) next(v *value) bool {
	i, ok := x.h.next()
	return ok && x.dict.get(i, v)
}

type booleans struct{ h hybrid }

func (x *booleans) next(v *value) bool {
	i, ok := x.h.next()
	v.i = int64(i)
	return ok
}

// split reads values whose first bytes come first, then all second bytes, and so on.
type split struct {
	leaf  *leaf
	data  []byte
	n, at int
	one   []byte
}

func (s *split) next(v *value) bool {
	if s.at >= s.n {
		return false
	}
	if s.leaf.physical == physicalFixed {
		s.one = make([]byte, len(s.one))
	}
	for k := range s.one {
		s.one[k] = s.data[k*s.n+s.at]
	}
	s.at++
	s.leaf.fixed(v, s.one)
	return true
}

// hybrid reads small numbers stored as runs of one number and as bits.
type hybrid struct {
	b     []byte
	width int
	run   int  // numbers left in the run
	bits  bool // the run is of bits
	at    int  // the next bit
	same  int
	ahead int // the next number plus 1 if it was peeked at
}

func newHybrid(b []byte, width int) hybrid { return hybrid{b: b, width: width} }

func (h *hybrid) peek() int {
	if h.ahead == 0 {
		n, ok := h.next()
		if !ok {
			return 0
		}
		h.ahead = n + 1
	}
	return h.ahead - 1
}

func (h *hybrid) next() (int, bool) {
	if h.ahead > 0 {
		n := h.ahead - 1
		h.ahead = 0
		return n, true
	}
	if h.width == 0 {
		return 0, true
	}
	for h.run == 0 {
		if !h.begin() {
			return 0, false
		}
	}
	h.run--
	if !h.bits {
		return h.same, true
	}
	n := unpackBits(h.b, h.at, h.width)
	if h.at += h.width; h.run == 0 {
		h.b, h.at = h.b[(h.at+7)/8:], 0
	}
	return int(n), true
}

// begin begins the next run.
func (h *hybrid) begin() bool {
	u, n := binary.Uvarint(h.b)
	if n <= 0 {
		return false
	}
	h.b = h.b[n:]
	if h.bits = u&1 == 1; h.bits {
		// A last run may lack the bits that fill it up.
		groups := min(u>>1, uint64(len(h.b)))
		h.run, h.at = min(int(groups)*8, len(h.b)*8/h.width), 0
		return h.run > 0
	}
	wide := (h.width + 7) / 8
	if len(h.b) < wide {
		return false
	}
	h.same = 0
	for k := range wide {
		h.same |= int(h.b[k]) << (8 * k)
	}
	h.b = h.b[wide:]
	h.run = int(min(u>>1, math.MaxInt32))
	return true
}

// unpackBits returns the number in width bits from bit at on, which lie in b.
func unpackBits(b []byte, at, width int) uint64 {
	if width == 0 {
		return 0
	}
	first := at >> 3
	var u uint64
	if len(b)-first >= 8 {
		u = binary.LittleEndian.Uint64(b[first:])
	} else {
		for k := 0; k < len(b)-first; k++ {
			u |= uint64(b[first+k]) << (8 * k)
		}
	}
	u >>= at & 7
	if at&7+width > 64 {
		u |= uint64(b[first+8]) << (64 - at&7)
	}
	if width < 64 {
		u &= 1<<width - 1
	}
	return u
}

// delta reads integers stored as differences, in blocks of several miniblocks.
type delta struct {
	c        compact
	narrow   bool // 32 bits
	per      int  // values of a miniblock
	minis    int
	left     int // values left
	last     int64
	first    bool
	smallest int64
	widths   []byte
	mini     []byte // the bits of the miniblock
	width    int
	at, in   int // the next bit, and the values left in the miniblock
}

func newDelta(data []byte, narrow bool) (delta, error) {
	d := delta{c: compact{b: data}, narrow: narrow, first: true}
	size, minis, total := d.c.uvarint(), d.c.uvarint(), d.c.uvarint()
	d.last = d.c.int()
	if d.c.bad || size == 0 || size > 1<<20 || size%128 != 0 || minis == 0 || minis > size/32 || size%minis != 0 || size/minis%32 != 0 || total > math.MaxInt32 {
		return d, errPage
	}
	d.per, d.minis, d.left = int(size/minis), int(minis), int(total)
	return d, nil
}

func (d *delta) next(v *value) (ok bool) {
	v.i, ok = d.integer()
	return ok
}

func (d *delta) integer() (int64, bool) {
	if d.left == 0 {
		return 0, false
	}
	d.left--
	if d.first {
		d.first = false
		return d.last, true
	}
	if d.in == 0 && !d.begin() {
		d.left = 0
		return 0, false
	}
	d.last += d.smallest + int64(unpackBits(d.mini, d.at, d.width))
	d.at, d.in = d.at+d.width, d.in-1
	if d.narrow {
		d.last = int64(int32(d.last))
	}
	return d.last, true
}

// begin begins the next miniblock.
func (d *delta) begin() bool {
	if len(d.widths) == 0 {
		d.smallest = d.c.int()
		if d.c.bad || d.c.rest() < d.minis {
			return false
		}
		d.widths = d.c.b[d.c.at : d.c.at+d.minis]
		d.c.at += d.minis
	}
	d.width, d.widths = int(d.widths[0]), d.widths[1:]
	n := d.per * d.width / 8
	if d.width > 64 {
		return false
	}
	if n > d.c.rest() { // a last miniblock may lack the bits that fill it up
		n = d.c.rest()
	}
	if min(d.per, d.left+1)*d.width > n*8 {
		return false
	}
	d.mini = d.c.b[d.c.at : d.c.at+n]
	d.c.at += n
	d.at, d.in = 0, d.per
	return true
}

// deltas returns the reader of at most n differences, and the data after them.
func deltas(data []byte, n int) (delta, []byte, error) {
	d, err := newDelta(data, false)
	if err != nil {
		return d, nil, err
	}
	if d.left > n {
		return d, nil, errPage
	}
	end := d
	for end.left > 0 {
		// Whole miniblocks are skipped, without reading what they hold.
		if end.first {
			end.first = false
			end.left--
			continue
		}
		end.left--
		if !end.begin() {
			return d, nil, errPage
		}
		end.left -= min(end.in-1, end.left)
	}
	return d, data[end.c.at:], nil
}

// deltaLength reads texts whose lengths come first.
type deltaLength struct {
	lengths delta
	data    []byte
}

func (x *deltaLength) next(v *value) bool {
	n, ok := x.lengths.integer()
	if !ok || n < 0 || n > int64(len(x.data)) {
		return false
	}
	v.b, x.data = x.data[:n:n], x.data[n:]
	return true
}

// deltaBytes reads texts that share their beginning with the one before.
type deltaBytes struct {
	prefixes delta
	suffixes deltaLength
	last     []byte
}

func (x *deltaBytes) next(v *value) bool {
	n, ok := x.prefixes.integer()
	if !ok || n < 0 || n > int64(len(x.last)) || !x.suffixes.next(v) {
		return false
	}
	if len(v.b)+int(n) > 1<<20 && len(v.b) < int(n)/16 { // a bomb: megabytes from few bytes
		return false
	}
	text := make([]byte, 0, int(n)+len(v.b))
	v.b = append(append(text, x.last[:n]...), v.b...)
	x.last = v.b
	return true
}
