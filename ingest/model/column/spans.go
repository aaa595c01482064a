package column

import (
	"math/bits"
	"sync"
)

// Spans stores up to [ChunkLen] time spans in order, each with two small numbers, in as
// few bits as they need. They are written once.
//
// In each group of 64, times count from the start of the group in the largest unit that
// divides all of them, and a column is as wide as its largest number. If each span ends
// where the next begins, ends take no space.
type Spans struct {
	tick  int64
	n     int
	words []uint64
}

// A group has a head of three words: the start of its first span, the end of its last,
// and the place of its columns (32 bits) with their widths (8 bits each). The heads of
// all groups come first. Each column begins at a word.
const (
	groupSpans = 64
	headWords  = 3
	joined     = 255 // the width of lengths if each span ends where the next begins
)

// The columns of a group.
const (
	spanStart = iota
	spanLength
	spanFirst
	spanSecond
	spanColumns
)

// spanGroup is the decoded head of a group.
type spanGroup struct {
	start, end int64
	n          int
	at         [spanColumns]int // the first word of a column
	width      [spanColumns]uint
}

// SpansOf packs columns of the same length; second is nil if all are 0. Spans are in
// order, and none overlaps the next.
func SpansOf[C ~uint32](shelf *Shelf, starts, ends []int64, first []C, second []uint32) Spans {
	s := Spans{n: len(starts)}
	p := packing.Get().(*packer)
	defer packing.Put(p)
	s.tick = p.times(starts, ends)
	at := headWords * ((s.n + groupSpans - 1) / groupSpans)
	words := append(p.words[:0], make([]uint64, at)...)
	for from := 0; from < s.n; from += groupSpans {
		to := min(s.n, from+groupSpans)
		head := uint64(len(words))
		column := func(c int, values []uint64) {
			all := uint64(0)
			for _, v := range values {
				all |= v
			}
			width := uint(bits.Len64(all))
			head |= uint64(width) << (32 + 8*c)
			words = appendColumn(words, width, values)
		}
		base := p.starts[from]
		for i, v := range p.starts[from:to] {
			p.values[i] = v - base
		}
		column(spanStart, p.values[:to-from])
		if chained(starts[from:to], ends[from:to]) {
			head |= joined << (32 + 8*spanLength)
		} else {
			column(spanLength, p.lengths[from:to])
		}
		for i, v := range first[from:to] {
			p.values[i] = uint64(v)
		}
		column(spanFirst, p.values[:to-from])
		if second != nil {
			for i, v := range second[from:to] {
				p.values[i] = uint64(v)
			}
			column(spanSecond, p.values[:to-from])
		}
		copy(words[headWords*(from/groupSpans):], []uint64{uint64(starts[from]), uint64(ends[to-1]), head})
	}
	s.words = Run[uint64](shelf, len(words))
	copy(s.words, words)
	p.words = words
	return s
}

// packer is scratch memory for packing spans.
type packer struct {
	starts, lengths [ChunkLen]uint64 // in ticks, starts relative to the first
	values          [groupSpans]uint64
	words           []uint64
}

var packing = sync.Pool{New: func() any { return new(packer) }}

// times converts times to the largest unit that divides all of them, and returns that
// unit.
func (p *packer) times(starts, ends []int64) int64 {
	tick := uint64(0)
	for i := range min(len(starts), groupSpans) {
		tick = common(common(tick, uint64(starts[i]-starts[0])), uint64(ends[i]-starts[i]))
	}
	tick = max(1, tick)
	for i := 0; i < len(starts); i++ {
		start, length := uint64(starts[i]-starts[0]), uint64(ends[i]-starts[i])
		var a, b uint64
		switch tick {
		case 1:
			a, b = start, length
		case 1000: // ns: dividing by a constant takes a fifth of the time
			a, b = start/1000, length/1000
		default:
			a, b = start/tick, length/tick
		}
		if a*tick != start || b*tick != length {
			tick = common(common(tick, start), length)
			i = -1 // start over
			continue
		}
		p.starts[i], p.lengths[i] = a, b
	}
	return int64(tick)
}

// appendColumn appends numbers of width bits each without gaps, beginning at a new word.
func appendColumn(words []uint64, width uint, values []uint64) []uint64 {
	if width == 0 {
		return words
	}
	var word uint64
	used := uint(0)
	for _, v := range values {
		word |= v << used
		if used += width; used >= 64 {
			words = append(words, word)
			used -= 64
			word = v >> (width - used) // 0 if v fitted
		}
	}
	if used > 0 {
		words = append(words, word)
	}
	return words
}

// common returns the greatest common divisor of a and b.
func common(a, b uint64) uint64 {
	if a == 1 || a != 0 && b%a == 0 {
		return a
	}
	for b != 0 {
		a, b = b, a%b
	}
	return a
}

// chained reports whether each span ends at the time at which the next one starts.
func chained(starts, ends []int64) bool {
	for i := range len(starts) - 1 {
		if ends[i] != starts[i+1] {
			return false
		}
	}
	return true
}

// columnWords returns the number of words that n numbers of a width take.
func columnWords(n int, width uint) int {
	if width == joined {
		return 0
	}
	return (n*int(width) + 63) / 64
}

// get reads number i of a column.
func get(words []uint64, i int, width uint) uint64 {
	if width == 0 {
		return 0
	}
	bit := uint(i) * width
	v := words[bit/64] >> (bit % 64)
	if bit%64+width > 64 {
		v |= words[bit/64+1] << (64 - bit%64)
	}
	return v & (1<<width - 1)
}

// group returns the group of span i.
func (s *Spans) group(i int) (g spanGroup) {
	head := s.words[headWords*(i/groupSpans):][:headWords]
	g.start, g.end = int64(head[0]), int64(head[1])
	g.n = min(groupSpans, s.n-i&^(groupSpans-1))
	at := int(uint32(head[2]))
	for c := range spanColumns {
		g.at[c], g.width[c] = at, uint(uint8(head[2]>>(32+8*c)))
		at += columnWords(g.n, g.width[c])
	}
	return g
}

func (s *Spans) startIn(g *spanGroup, i int) int64 {
	return g.start + int64(get(s.words[g.at[spanStart]:], i, g.width[spanStart]))*s.tick
}

func (s *Spans) endIn(g *spanGroup, i int) int64 {
	switch {
	case g.width[spanLength] != joined:
		return s.startIn(g, i) + int64(get(s.words[g.at[spanLength]:], i, g.width[spanLength]))*s.tick
	case i+1 < g.n:
		return s.startIn(g, i+1)
	}
	return g.end
}

// Len returns the number of spans.
func (s *Spans) Len() int { return s.n }

// Start returns the start of span i.
func (s *Spans) Start(i int) int64 {
	head := s.words[headWords*(i/groupSpans):][:headWords]
	return int64(head[0]) + int64(get(s.words[uint32(head[2]):], i%groupSpans, uint(uint8(head[2]>>32))))*s.tick
}

// End returns the end of span i.
func (s *Spans) End(i int) int64 {
	g := s.group(i)
	return s.endIn(&g, i%groupSpans)
}

// First returns the first number of span i.
func (s *Spans) First(i int) uint32 { return s.number(i, spanFirst) }

// Second returns the second number of span i.
func (s *Spans) Second(i int) uint32 { return s.number(i, spanSecond) }

func (s *Spans) number(i, column int) uint32 {
	g := s.group(i)
	return uint32(get(s.words[g.at[column]:], i%groupSpans, g.width[column]))
}

// ReadSpans unpacks len(starts) spans from span i on, and the first len(first) of their
// first numbers.
func ReadSpans[C ~uint32](s *Spans, i int, starts, ends []int64, first []C) {
	for k := 0; k < len(starts); {
		g, at := s.group(i+k), (i+k)%groupSpans
		n := min(g.n-at, len(starts)-k)
		words := s.words[g.at[spanStart]:]
		for j := range n {
			starts[k+j] = g.start + int64(get(words, at+j, g.width[spanStart]))*s.tick
		}
		if g.width[spanLength] == joined {
			copy(ends[k:k+n-1], starts[k+1:k+n])
			ends[k+n-1] = s.endIn(&g, at+n-1)
		} else {
			words = s.words[g.at[spanLength]:]
			for j := range n {
				ends[k+j] = starts[k+j] + int64(get(words, at+j, g.width[spanLength]))*s.tick
			}
		}
		k += n
	}
	ReadFirst(s, i, first)
}

// ReadFirst unpacks the first numbers of len(first) spans from span i on.
func ReadFirst[C ~uint32](s *Spans, i int, first []C) {
	for k := 0; k < len(first); {
		g := s.group(i + k)
		words, at := s.words[g.at[spanFirst]:], (i+k)%groupSpans
		n := min(g.n-at, len(first)-k)
		for j := range n {
			first[k+j] = C(get(words, at+j, g.width[spanFirst]))
		}
		k += n
	}
}

// Pack implements [Packer].
func (s *Spans) Pack(a *Archive) {
	s.tick = a.Signed(s.tick)
	s.n = int(a.Signed(int64(s.n)))
	size := int(a.Signed(int64(len(s.words))))
	if a.reading {
		Must(s.tick > 0 && s.n > 0 && s.n <= ChunkLen && size > 0 && size <= 4*ChunkLen+2*headWords*groupSpans, "a column of spans is too long")
	}
	PackChunk(a, &s.words, size)
}

// Check panics (see [Fail]) if a column would reach beyond the data. It does not check the
// order of times; that is up to the caller.
func (s *Spans) Check() {
	heads := headWords * ((s.n + groupSpans - 1) / groupSpans)
	Must(s.n > 0 && s.tick > 0 && heads <= len(s.words), "a column of spans is truncated")
	for i := 0; i < s.n; i += groupSpans {
		g := s.group(i)
		end := g.at[spanSecond] + columnWords(g.n, g.width[spanSecond])
		Must(g.width[spanStart] <= 64 && (g.width[spanLength] <= 64 || g.width[spanLength] == joined), "spans are too wide")
		Must(g.width[spanFirst] <= 32 && g.width[spanSecond] <= 32, "numbers of spans are too wide")
		Must(g.at[0] >= heads && end <= len(s.words), "a column of spans is truncated")
	}
}
