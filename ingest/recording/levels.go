package recording

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

// levelUp adds the node for the last 16 spans, which end at element last of c,
// and those it completes above.
func (l *Lane) levelUp(c *laneChunk, last int) {
	first := last + 1 - leafSpans
	starts, ends := c.starts[first:last+1], c.ends[first:last+1]
	var longest int64 = -1
	var busy int64
	at := 0
	for i, end := range ends {
		d := end - starts[i]
		busy += d
		if d > longest {
			longest, at = d, i
		}
	}
	node := Node{Start: starts[0], End: ends[len(ends)-1], Call: c.calls[first+at]}
	node.Busy = float32(busy)
	for k := 0; ; k++ {
		if k == len(l.levels) {
			l.levels = append(l.levels, Vec[Node]{})
		}
		lv := &l.levels[k]
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

// Bar is what Walk reports: one span (N is 1, Index its place in the lane), or
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
	for i < n {
		// The largest whole group that begins at i and is no wider than a
		// pixel; each level up costs one look.
		k := l.group(i, res)
		if k < 0 {
			bar = Bar{Start: l.Start(i), End: l.End(i), Call: l.Call(i), Index: i, N: 1}
			bar.Busy = float32(bar.End - bar.Start)
		} else {
			shift := leafBits + k*fanBits
			node := l.levels[k].At(i >> shift)
			bar = Bar{Start: node.Start, End: node.End, Call: node.Call, Busy: node.Busy, Index: i, N: 1 << shift}
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

// group returns the highest level on which a node begins at span i and is no
// wider than res, or -1.
func (l *Lane) group(i int, res int64) int {
	best := -1
	for k := 0; k < len(l.levels); k++ {
		shift := leafBits + k*fanBits
		if i&(1<<shift-1) != 0 || i>>shift >= l.levels[k].Len() {
			break
		}
		node := &l.levels[k]
		at := i >> shift
		c := node.chunks[at>>chunkBits]
		nd := &c[at&(chunkLen-1)]
		if nd.End-nd.Start > res {
			break
		}
		best = k
	}
	return best
}
