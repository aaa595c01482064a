package lanes

import (
	"math"
	"math/bits"

	"ashlar/ingest/model/column"
)

// Detail levels form a pyramid over a lane, so that the cost of a picture depends on its
// pixels and not on the number of spans. Level 0 has a node for every 16 spans, each
// higher level one for every 8 nodes below. At 24 bytes a node that is 1.7 bytes a span,
// a twelfth of the columns' size. A level only covers whole groups; the remainder at the
// end is found on the level below.
//
// LeafBits and FanBits are the base-2 logarithms of 16 and 8.
const (
	LeafBits  = 4
	leafSpans = 1 << LeafBits
	FanBits   = 3
	fan       = 1 << FanBits
)

// Node sums up a group of neighbouring spans of a lane.
type Node struct {
	Start, End int64   // extent, in picoseconds
	Busy       float32 // time covered by spans, in picoseconds
	Call       CallID  // the leading call: of the longest span, or near it
}

// levelUp adds the node for the last 16 spans, which end with element last of c, and the
// nodes it completes on higher levels. Squeezed lanes have no level 0, because it would
// take a third of the memory of the spans.
func (l *Lane) levelUp(c *laneChunk, last int) {
	if !l.squeezed {
		l.addNode(0, l.leafNode(c, last+1-leafSpans))
		return
	}
	if l.n&(leafSpans*fan-1) != 0 {
		return
	}
	var leaves [fan]Node
	for i := range leaves {
		leaves[i] = l.leafNode(c, last+1-(fan-i)*leafSpans)
	}
	l.addNode(1, above(leaves[:]))
}

// leafNode sums up the spans of c from element first on.
func (l *Lane) leafNode(c *laneChunk, first int) Node {
	// The position of the longest span is unpredictable, so the loop has no branches: a
	// misprediction costs as much as ten spans. Of equally long spans the first is taken.
	var busy, most uint64
	durs := (*[leafSpans]uint32)(c.durs[first:])
	for i, d := range durs {
		busy += uint64(d)
		most = max(most, uint64(d)<<LeafBits|uint64(leafSpans-1-i))
	}
	at := leafSpans - 1 - int(most&(leafSpans-1))
	i := (l.n-1)&^(column.ChunkLen-1) + first
	if most>>LeafBits == isLong {
		at, busy = l.longest(c.starts[first:first+leafSpans], i)
	}
	return Node{Start: c.starts[first], End: l.End(i + leafSpans - 1), Call: c.calls[first+at], Busy: float32(busy)}
}

// above returns the node above neighbouring nodes.
func above(nodes []Node) Node {
	node := Node{Start: nodes[0].Start, End: nodes[len(nodes)-1].End}
	var most float32 = -1
	for i := range nodes {
		c := &nodes[i]
		node.Busy += c.Busy
		if c.Busy > most {
			most, node.Call = c.Busy, c.Call
		}
	}
	return node
}

// addNode adds a node on level k, and the nodes it completes on higher levels.
func (l *Lane) addNode(k int, node Node) {
	more := l.more()
	for ; ; k++ {
		for k >= len(more.levels) {
			more.levels = append(more.levels, column.On[Node](l.shelf))
		}
		lv := &more.levels[k]
		lv.Append(node)
		m := lv.Len()
		if m&(fan-1) != 0 {
			return
		}
		node = above(lv.Chunk(m - fan))
	}
}

// longest returns the longest of the spans from index first on, which start at starts,
// and their total duration. It is for spans with durations that do not fit the column.
func (l *Lane) longest(starts []int64, first int) (at int, busy uint64) {
	most := int64(-1)
	for i, start := range starts {
		d := l.End(first+i) - start
		busy += uint64(d)
		if d > most {
			most, at = d, i
		}
	}
	return at, busy
}

// Bar is one result of Walk: one span (N is 1, Index its place in the lane), or
// a group of N neighbouring spans that is too narrow to tell apart.
type Bar struct {
	Start, End int64
	Call       CallID
	Busy       float32 // time covered within Start..End
	Index, N   int
}

// Walk reports, in order of time, the bars for a picture of from..to with pixels res
// picoseconds wide: every span at least that wide, and groups for the rest, none wider
// than a pixel unless it is a single span. It stops when visit returns false.
//
// A bar that begins in the range is the same in every range shifted by whole pixels, so a
// scrolling picture can reuse the bars it still shows. A bar that begins before the range
// may differ, but is just as exact within the range.
func (l *Lane) Walk(from, to, res int64, visit func(*Bar) bool) {
	n := l.Len()
	if n == 0 || to <= from {
		return
	}
	// Begin with the first span that ends at from or later: it may have no length.
	i := l.whole(l.Search(max(from, math.MinInt64+1)-1), res)
	var bar Bar
	var room leaf
	k := -1
	pixel := from // end of the last pixel visited
	for i < n {
		k = l.group(i, k, res)
		if k < 0 {
			pixel = l.narrow(&bar, i, from, res, pixel, &room)
		} else {
			pixel = l.nodes(&bar, i, k, from, res, pixel)
		}
		if bar.Start >= to {
			return
		}
		if !visit(&bar) {
			return
		}
		i += bar.N
	}
}

// whole returns the first span of the highest node that contains span i and is no wider
// than res; i if there is none.
func (l *Lane) whole(i int, res int64) int {
	for k := len(l.levels) - 1; k >= 0; k-- {
		if first := i &^ (leafSpans<<(k*FanBits) - 1); l.fits(first, k, res) {
			return first
		}
	}
	return i
}

// pixelEnd returns the end of the pixel that contains time at, which is not before from.
// pixel is the end of a pixel that began no later than at.
func pixelEnd(at, from, res, pixel int64) int64 {
	if at < pixel {
		return pixel
	}
	if pixel = at + (res - (at-from)%res); pixel < at {
		return math.MaxInt64
	}
	return pixel
}

// nodes sets bar to the node at span i on level k and the next nodes of the level within
// the same pixel, up to a node of the level above that fits, even if that one extends
// beyond the pixel. It returns the end of the pixel.
func (l *Lane) nodes(bar *Bar, i, k int, from, res, pixel int64) int64 {
	lv := &l.levels[k]
	shift := LeafBits + k*FanBits
	at := i >> shift
	nd := lv.Ref(at)
	*bar = Bar{Start: nd.Start, End: nd.End, Call: nd.Call, Busy: nd.Busy, Index: i, N: 1 << shift}
	if nd.Start < from {
		return pixel
	}
	pixel = pixelEnd(nd.Start, from, res, pixel)
	most := nd.Busy
	for at++; at < lv.Len(); at++ {
		nd := lv.Ref(at)
		if nd.End > pixel || nd.Start >= pixel || at&(fan-1) == 0 && k+1 < len(l.levels) && l.fits(at<<shift, k+1, res) {
			break
		}
		bar.End = nd.End
		bar.Busy += nd.Busy
		bar.N += 1 << shift
		if nd.Busy >= most {
			most, bar.Call = nd.Busy, nd.Call
		}
	}
	return pixel
}

// narrow sets bar to span i and the next spans within the same pixel, up to where a node
// may begin. It returns the end of the pixel if it had to compute it; otherwise it
// returns its argument pixel, the end of a pixel that began no later.
func (l *Lane) narrow(bar *Bar, i int, from, res, pixel int64, room *leaf) int64 {
	n := min(leafSpans-i&(leafSpans-1), l.n-i)
	starts, durs, calls := l.leaf(i, n, room)
	start, call := starts[0], calls[0] // both at once, to overlap their cache misses
	busy := int64(durs[0])
	if durs[0] == isLong {
		busy = l.End(i) - start
	}
	end, longest, at, last := start+busy, busy, 0, 1
	if busy < res && start >= from {
		pixel = pixelEnd(start, from, res, pixel)
		for ; last < n; last++ {
			d := int64(durs[last])
			if durs[last] == isLong {
				d = l.End(i+last) - starts[last]
			}
			e := starts[last] + d
			if e > pixel || starts[last] >= pixel {
				break
			}
			busy += d
			end = e
			if d >= longest {
				longest, at = d, last
			}
		}
	}
	if at > 0 {
		call = calls[at]
	}
	*bar = Bar{Start: start, End: end, Call: call, Busy: float32(busy), Index: i, N: last}
	return pixel
}

// group returns the highest level on which a node begins at span i and is no wider than
// res, or -1. Neighbours are mostly on the same level, so the search starts one level
// above last and goes down: each step may miss the cache.
func (l *Lane) group(i, last int, res int64) int {
	k := l.level(i, last, res)
	if k == 0 && l.squeezed {
		return -1 // squeezed lanes have no level 0
	}
	return k
}

// level returns the result of group, for lanes that have nodes on all levels.
func (l *Lane) level(i, last int, res int64) int {
	most := len(l.levels) - 1
	if i != 0 {
		most = min(most, (bits.TrailingZeros(uint(i))-LeafBits)/FanBits)
	}
	if i&(leafSpans-1) != 0 {
		return -1
	}
	k := min(most, last+1)
	for ; k >= 0 && !l.fits(i, k, res); k-- {
	}
	if k < last+1 {
		return k
	}
	for k < most && l.fits(i, k+1, res) {
		k++
	}
	return k
}

// fits reports whether there is a node on level k at span i, where one may begin,
// and it is no wider than res.
func (l *Lane) fits(i, k int, res int64) bool {
	if k == 0 && l.squeezed {
		return i+leafSpans <= l.n && l.End(i+leafSpans-1)-l.Start(i) <= res
	}
	lv := &l.levels[k]
	at := i >> (LeafBits + k*FanBits)
	if at >= lv.Len() {
		return false
	}
	nd := lv.Ref(at)
	return nd.End-nd.Start <= res
}
