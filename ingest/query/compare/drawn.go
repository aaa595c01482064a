package compare

import (
	"cmp"
	"math"
	"math/bits"
	"slices"

	"ashlar/ingest/model/durations"
	"ashlar/ingest/query/compare/stats"
)

// Limits on the spans kept of a row per side: enough to find a shift of a tenth of their
// spread. Tables with very many rows keep fewer, so that all rows together take some ten
// megabytes at most. Nodes keep fewer still: there are many, and their confidence is
// shown only as a colour.
const (
	mostSpans      = 2048
	leastSpans     = 128
	mostNodeSpans  = 256
	leastNodeSpans = 64
	keptSpans      = 2 << 20
)

// mostOf returns how many spans to keep per row, given the number of rows. It is a power
// of two, so that a recording and the one it is compared with mostly get the same number.
func mostOf(rows int) int {
	fit := max(leastSpans, min(mostSpans, keptSpans/max(1, rows)))
	return 1 << (bits.Len(uint(fit)) - 1)
}

// length is the duration of a span in picoseconds, rounded to 24 bits. Lengths sort like
// the durations.
type length uint32

func newLength(ps float64) length { return length(math.Float32bits(float32(max(0, ps)))) }

// ps returns the duration in picoseconds.
func (l length) ps() float64 { return float64(math.Float32frombits(uint32(l))) }

// durationsOf converts sorted lengths to picoseconds.
func durationsOf(ls []length) []float64 {
	out := make([]float64, len(ls))
	for i, l := range ls {
		out[i] = l.ps()
	}
	return out
}

// drawn summarizes the durations of spans and keeps a sample of them.
type drawn struct {
	n         int64
	sum, sum2 float64 // in picoseconds
	kept      []length
}

func (d *drawn) variance() float64 {
	if d.n < 2 {
		return math.NaN()
	}
	n := float64(d.n)
	return math.Max(0, (d.sum2-d.sum*d.sum/n)/(n-1))
}

// A part sums up spans and keeps a random sample of them. Each span of a recording has a
// random number, its dice, that depends only on its place; the spans with the lowest dice
// are kept. So both sides, and repeated runs, keep the same kind of sample, and parts
// without common spans can be joined.
type part struct {
	n                          int64
	total, total2, self, self2 durations.Wide
	limit                      uint32 // spans with higher dice are not kept
	kept                       []durations.Draw
}

func (p *part) add(dice uint32, total, self int64) {
	p.n++
	p.total.Add(uint64(total))
	p.total2.AddSquare(uint64(total))
	p.self.Add(uint64(self))
	p.self2.AddSquare(uint64(self))
	if dice <= p.limit {
		p.kept = append(p.kept, durations.Draw{Dice: dice, Total: float32(total), Self: float32(self)})
	}
}

// join adds the spans of another part.
func (p *part) join(o *part) {
	p.n += o.n
	p.total.AddWide(o.total)
	p.total2.AddWide(o.total2)
	p.self.AddWide(o.self)
	p.self2.AddWide(o.self2)
	p.kept = append(p.kept, o.kept...)
}

// lowest returns the draws with the lowest dice, at most this many and unordered. It
// reorders draws.
func lowest(draws []durations.Draw, most int) []durations.Draw {
	if len(draws) <= most {
		return draws
	}
	top := uint32(0)
	for i := range draws {
		top = max(top, draws[i].Dice)
	}
	const digits = 10
	shift := max(0, bits.Len32(top)-digits)
	var counts [1 << digits]int
	for i := range draws {
		counts[draws[i].Dice>>shift]++
	}
	// last is the leading digits of the highest dice to keep. Not all draws that begin
	// with them can be kept.
	n, last := 0, uint32(0)
	for ; n+counts[last] <= most; last++ {
		n += counts[last]
	}
	edge := make([]durations.Draw, 0, counts[last])
	kept := draws[:0]
	for _, d := range draws {
		switch k := d.Dice >> shift; {
		case k < last:
			kept = append(kept, d)
		case k == last:
			edge = append(edge, d)
		}
	}
	slices.SortFunc(edge, byDice)
	return append(kept, edge[:most-n]...)
}

func byDice(a, b durations.Draw) int {
	if a.Dice != b.Dice {
		return cmp.Compare(a.Dice, b.Dice)
	}
	return cmp.Or(cmp.Compare(a.Total, b.Total), cmp.Compare(a.Self, b.Self))
}

// margin returns how many spans of a part to draw in addition to those to keep. The
// number drawn is random; this allows for six standard deviations.
var margin = func(most int) float64 { return 6*math.Sqrt(float64(most)) + 32 }

// limitOf returns the highest dice to draw. Of n spans, about wider*(most+margin(most))
// have lower dice.
func limitOf(n int64, most int, wider float64) uint32 {
	if share := wider * (float64(most) + margin(most)) / float64(n); share < 1 {
		return uint32(share * (1 << 32))
	}
	return math.MaxUint32
}

// rollDice computes the dice of neighbouring spans of a lane, beginning with span first.
func rollDice(track, lane, first int, dice []uint32) {
	seed := mix(uint64(track)<<32 ^ uint64(lane))
	for i := range dice {
		dice[i] = uint32(mix(seed+uint64(first+i)) >> 32)
	}
}

// mix scrambles a number: each bit of the result depends on all bits of x.
func mix(x uint64) uint64 {
	x = (x + 0x9E3779B97F4A7C15) * 0xBF58476D1CE4E5B9
	x = (x ^ x>>32) * 0x94D049BB133111EB
	return x ^ x>>29
}

// source holds parts of one recording and the factor for their durations.
type source struct {
	parts []part
	long  float64
}

// draw sums up parts, by duration or by self time, and keeps the spans with the lowest
// dice of all.
func draw(sources []source, most int, self bool, room *drawRoom) (d drawn) {
	all := 0
	for _, s := range sources {
		var n int64
		var sum, sum2 durations.Wide
		for i := range s.parts {
			p := &s.parts[i]
			n, all = n+p.n, all+len(p.kept)
			if self {
				sum.AddWide(p.self)
				sum2.AddWide(p.self2)
			} else {
				sum.AddWide(p.total)
				sum2.AddWide(p.total2)
			}
		}
		d.n += n
		d.sum += sum.Float() * s.long
		d.sum2 += sum2.Float() * s.long * s.long
	}
	if all == 0 {
		return d
	}
	draws := room.draws[:0]
	for _, s := range sources {
		for i := range s.parts {
			for _, x := range s.parts[i].kept {
				x.Total, x.Self = float32(float64(x.Total)*s.long), float32(float64(x.Self)*s.long)
				draws = append(draws, x)
			}
		}
	}
	room.draws = draws
	draws = lowest(draws, most)
	d.kept = make([]length, len(draws))
	for i, x := range draws {
		ps := x.Total
		if self {
			ps = x.Self
		}
		d.kept[i] = newLength(float64(ps))
	}
	room.lengths = slices.Grow(room.lengths[:0], len(d.kept))
	sortLengths(d.kept, room.lengths[:len(d.kept)])
	return d
}

// drawRoom holds scratch columns of draw for reuse in successive calls.
type drawRoom struct {
	draws   []durations.Draw
	lengths []length
}

// childless reports whether no span in the parts has children.
func childless(sources []source) bool {
	for _, s := range sources {
		for i := range s.parts {
			if s.parts[i].self != s.parts[i].total {
				return false
			}
		}
	}
	return true
}

// shift returns how two sets of sorted lengths differ, nil if one is empty.
func shift(a, b []length) *Shift {
	if len(a) == 0 || len(b) == 0 {
		return nil
	}
	x, y := durationsOf(a), durationsOf(b)
	s := &Shift{MedianA: stats.Quantile(x, .5), MedianB: stats.Quantile(y, .5)}
	s.By, s.Low, s.High = stats.Shift(x, y)
	return s
}

// sortLengths sorts ls. room is scratch space and at least as long. There are millions of
// lengths in all, so long lists are sorted by a radix sort, lowest byte first. The two
// highest bytes are mostly the same in the whole row, and passes over such bytes are
// skipped.
func sortLengths(ls, room []length) {
	const few = 128
	if len(ls) < few {
		slices.Sort(ls)
		return
	}
	var counts [4][256]uint32
	for _, l := range ls {
		counts[0][l&255]++
		counts[1][l>>8&255]++
		counts[2][l>>16&255]++
		counts[3][l>>24]++
	}
	from, to := ls, room[:len(ls)]
	for digit := range counts {
		of, shift := &counts[digit], 8*digit
		if of[from[0]>>shift&255] == uint32(len(ls)) {
			continue // all bytes equal: nothing to sort
		}
		sum := uint32(0)
		for i, n := range of {
			of[i], sum = sum, sum+n
		}
		for _, l := range from {
			at := &of[l>>shift&255]
			to[*at] = l
			*at++
		}
		from, to = to, from
	}
	copy(ls, from) // no-op if the result is in ls already
}
