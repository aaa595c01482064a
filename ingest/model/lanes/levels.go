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
	Pixel      int // number of whole pixels between from and Start; -1 if Start is before from
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
	w := walk{from: from, to: to, res: res, pixel: from, bar: Bar{Pixel: -1}, visit: visit}
	var room leaf
	for k := -1; i < n; {
		done := 0
		if k = l.group(i, k, res); k < 0 {
			done = l.spans(i, &w, &room)
		} else {
			done = l.nodes(i, k, &w)
		}
		if w.ended {
			return
		}
		i += done
	}
	if w.bar.N > 0 {
		visit(&w.bar)
	}
}

// A walk collects neighbouring spans and nodes within a pixel in a bar.
type walk struct {
	from, to, res int64
	bar           Bar
	most          uint32 // bits of the busy time of the span or node whose call leads the bar
	pixel         int64  // end of the pixel in which the bar began; from at first
	ended         bool   // all of the range was visited, or visit returned false
	visit         func(*Bar) bool
}

// begin reports the bar and begins another. It reports whether the walk goes on.
func (w *walk) begin(start, end int64, busy float32, call CallID, index, n int) bool {
	b := &w.bar
	if b.N > 0 && !w.visit(b) || start >= w.to {
		w.ended = true
		return false
	}
	// Field by field: Go would build a whole Bar elsewhere and copy it.
	b.Start, b.End, b.Call, b.Busy, b.Index, b.N = start, end, call, busy, index, n
	w.most = math.Float32bits(busy)
	switch next := w.pixel + w.res; {
	case start < w.pixel:
		return true
	case start < next:
		b.Pixel++
		w.pixel = next
	default: // there are pixels between the bars, or next is out of range
		k := (start - w.from) / w.res
		b.Pixel = int(k)
		if w.pixel = w.from + (k+1)*w.res; w.pixel <= start {
			w.pixel = math.MaxInt64
		}
	}
	return true
}

// more adds neighbouring spans or a node to the bar.
func (w *walk) more(end int64, busy float32, call CallID, n int) {
	w.bar.End = end
	w.bar.Busy += busy
	w.bar.N += n
	// Which of two neighbours is longer is unpredictable. Comparing the bits as whole numbers
	// takes no branch; times are not negative, so their bits have the same order.
	most, lead := w.most, w.bar.Call
	if bits := math.Float32bits(busy); bits >= most {
		most, lead = bits, call
	}
	w.most, w.bar.Call = most, lead
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

// nodes visits nodes of level k from span i on, which begins one, up to the first that is too
// wide and at most to the end of the node above. It returns the number of spans visited.
func (l *Lane) nodes(i, k int, w *walk) int {
	shift := LeafBits + k*FanBits
	at := i >> shift
	nodes := l.levels[k].Chunk(at)
	nodes = nodes[:min(len(nodes), fan-at&(fan-1))]
	for j := range nodes {
		nd := &nodes[j]
		if nd.End-nd.Start > w.res {
			return j << shift
		}
		if nd.End <= w.pixel && nd.Start < w.pixel && w.bar.N > 0 {
			w.more(nd.End, nd.Busy, nd.Call, 1<<shift)
		} else if !w.begin(nd.Start, nd.End, nd.Busy, nd.Call, i+j<<shift, 1<<shift) {
			break
		}
	}
	return len(nodes) << shift
}

// spans visits the spans from span i on up to where a node may begin, and returns their
// number.
func (l *Lane) spans(i int, w *walk, room *leaf) int {
	n := min(leafSpans-i&(leafSpans-1), l.n-i)
	starts, durs, calls := l.leaf(i, n, room)
	for j, start := range starts {
		d := int64(durs[j])
		if d == isLong {
			d = l.End(i+j) - start
		}
		if start+d <= w.pixel && start < w.pixel && w.bar.N > 0 {
			w.more(start+d, float32(d), calls[j], 1)
		} else if !w.begin(start, start+d, float32(d), calls[j], i+j, 1) {
			break
		}
	}
	return n
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
