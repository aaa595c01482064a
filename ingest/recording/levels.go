package recording

import (
	"math"
	"math/bits"

	"ashlar/ingest/column"
)

// Detail levels: a pyramid over a lane, so that a picture costs by its pixels
// and not by the spans behind them. Level 0 has a node for every 16 spans, each
// level above one for every 8 nodes below. At 24 bytes a node that is 1.7
// bytes a span, a twelfth of what the columns hold. A level only covers whole
// groups; what is left over at the end is found on the level below.
const (
	leafBits  = 4
	leafSpans = 1 << leafBits
	fanBits   = 3
	fan       = 1 << fanBits
)

// Node sums up a group of neighbouring spans of a lane.
type Node struct {
	Start, End int64   // extent, in picoseconds
	Busy       float32 // time covered by spans, in picoseconds
	Call       CallID  // the leading call: of the longest span, or near it
}

// levelUp adds the node for the last 16 spans, of which the last is element last
// of c and ends at end, and those it completes above.
func (l *Lane) levelUp(c *laneChunk, last int, end int64) {
	first := last + 1 - leafSpans
	// Which is the longest is not to be foreseen: without branches, since a wrong
	// guess costs as much as ten spans. Of those alike it is the first.
	var busy, most uint64
	durs := (*[leafSpans]uint32)(c.durs[first:])
	for i, d := range durs {
		busy += uint64(d)
		most = max(most, uint64(d)<<leafBits|uint64(leafSpans-1-i))
	}
	at := leafSpans - 1 - int(most&(leafSpans-1))
	if most>>leafBits == isLong {
		at, busy = l.longest(c.starts[first : last+1])
	}
	node := Node{Start: c.starts[first], End: end, Call: c.calls[first+at]}
	node.Busy = float32(busy)
	more := l.more()
	for k := 0; ; k++ {
		if k == len(more.levels) {
			more.levels = append(more.levels, column.On[Node](l.shelf))
		}
		lv := &more.levels[k]
		lv.Append(node)
		m := lv.Len()
		if m&(fan-1) != 0 {
			return
		}
		node = Node{Start: lv.At(m - fan).Start, End: node.End}
		var most float32 = -1
		for i := m - fan; i < m; i++ {
			c := lv.At(i)
			node.Busy += c.Busy
			if c.Busy > most {
				most, node.Call = c.Busy, c.Call
			}
		}
	}
}

// longest is the longest of the last spans, which start at starts, where the column
// does not have how long they are, and how long they are together.
func (l *Lane) longest(starts []int64) (at int, busy uint64) {
	most := int64(-1)
	for i, start := range starts {
		d := l.End(l.n-len(starts)+i) - start
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

// Walk reports, in order of time, what a picture of from..to needs whose
// pixels are res picoseconds wide: every span at least that wide, and groups
// for the rest, none wider than a pixel unless it is a single span. It stops
// when visit returns false.
func (l *Lane) Walk(from, to, res int64, visit func(*Bar) bool) {
	n := l.Len()
	if n == 0 || to <= from {
		return
	}
	i := l.Search(from)
	if i > 0 && l.End(i-1) == from {
		i-- // a span of no length, or one that ends just here
	}
	var bar Bar
	k := -1
	pixel := from // where the pixel ends that was looked at last
	for i < n {
		k = l.group(i, k, res)
		if k < 0 {
			pixel = l.narrow(&bar, i, from, res, pixel)
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

// pixelEnd is where the pixel ends that a time lies in, which is not before from;
// pixel is the end of one that began no later.
func pixelEnd(at, from, res, pixel int64) int64 {
	if at < pixel {
		return pixel
	}
	if pixel = at + (res - (at-from)%res); pixel < at {
		return math.MaxInt64
	}
	return pixel
}

// nodes is the bar of the node at span i on level k, with those that follow it
// on the level within the same pixel. It returns where that ends.
func (l *Lane) nodes(bar *Bar, i, k int, from, res, pixel int64) int64 {
	lv := &l.levels[k]
	shift := leafBits + k*fanBits
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
		if nd.End > pixel {
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

// narrow is the bar of span i, with those that follow it within the same pixel,
// up to where a node may begin. It returns where the pixel ends, if it had to
// know: pixel is one that began no later.
func (l *Lane) narrow(bar *Bar, i int, from, res, pixel int64) int64 {
	c := &l.chunks[i>>column.ChunkBits]
	off := i & (column.ChunkLen - 1)
	n := min(leafSpans-i&(leafSpans-1), l.n-i)
	starts, durs := c.starts[off:off+n], c.durs[off:off+n]
	start, call := starts[0], c.calls[off] // read at once: each is far away
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
			if e > pixel {
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
		call = c.calls[off+at]
	}
	*bar = Bar{Start: start, End: end, Call: call, Busy: float32(busy), Index: i, N: last}
	return pixel
}

// group returns the highest level on which a node begins at span i and is no
// wider than res, or -1. Neighbours are mostly on the same level: it looks from
// one above the last one's downwards, since each look is at memory that may be
// far away.
func (l *Lane) group(i, last int, res int64) int {
	most := len(l.levels) - 1
	if i != 0 {
		most = min(most, (bits.TrailingZeros(uint(i))-leafBits)/fanBits)
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
	lv := &l.levels[k]
	at := i >> (leafBits + k*fanBits)
	if at >= lv.Len() {
		return false
	}
	nd := lv.Ref(at)
	return nd.End-nd.Start <= res
}
