package recording

import "sort"

// Lane is one row of spans on a track: sorted by start, never overlapping. Its
// columns are parallel.
type Lane struct {
	chunks []laneChunk
	n      int
	args   argColumn
	// unfinished lists spans that the recording never ended, in order.
	unfinished []int
	levels     []Vec[Node]
}

// laneChunk are the columns of chunkLen neighbouring spans. As with Vec, only
// the first chunk of a lane is ever reallocated.
type laneChunk struct {
	starts, ends []int64
	calls        []CallID
}

func newChunk(n int) laneChunk {
	return laneChunk{make([]int64, n), make([]int64, n), make([]CallID, n)}
}

// Len is the number of spans.
func (l *Lane) Len() int { return l.n }

// Start and End are the times of span i in picoseconds.
func (l *Lane) Start(i int) int64 { return l.chunks[i>>chunkBits].starts[i&(chunkLen-1)] }

// End is the time in picoseconds at which span i ended.
func (l *Lane) End(i int) int64 { return l.chunks[i>>chunkBits].ends[i&(chunkLen-1)] }

// Call is the call of span i.
func (l *Lane) Call(i int) CallID { return l.chunks[i>>chunkBits].calls[i&(chunkLen-1)] }

// Args refers to span i's arguments (see [Recording.Args]); 0 for none.
func (l *Lane) Args(i int) uint64 { return l.args.at(i) }

// HasArgs reports whether any span has arguments.
func (l *Lane) HasArgs() bool { return l.args.refs.Len() > 0 }

// Unfinished reports whether span i began but never ended in the recording.
func (l *Lane) Unfinished(i int) bool {
	k := sort.SearchInts(l.unfinished, i)
	return k < len(l.unfinished) && l.unfinished[k] == i
}

// Columns returns the longest contiguous run of starts, ends and calls from
// span i on, for loops over all spans. The caller must not write to them.
func (l *Lane) Columns(i int) (starts, ends []int64, calls []CallID) {
	c := &l.chunks[i>>chunkBits]
	from := i & (chunkLen - 1)
	to := min(len(c.starts), from+l.n-i)
	return c.starts[from:to], c.ends[from:to], c.calls[from:to]
}

// Search returns the first span that ends after t.
func (l *Lane) Search(t int64) int {
	return sort.Search(l.n, func(i int) bool { return l.End(i) > t })
}

// append adds a span that starts no earlier than the last one ended.
func (l *Lane) append(start, end int64, call CallID, args uint64) {
	k, off := l.n>>chunkBits, l.n&(chunkLen-1)
	if k == len(l.chunks) || off == len(l.chunks[k].starts) {
		l.grow(k)
	}
	c := &l.chunks[k]
	c.starts[off], c.ends[off], c.calls[off] = start, end, call
	if args != 0 {
		l.args.set(l.n, args)
	}
	l.n++
	if l.n&(leafSpans-1) == 0 {
		l.levelUp(c, off)
	}
}

// grow makes room for the next span in chunk k. The first chunk grows by
// steps, and then the table with it, because a snapshot may be reading it.
func (l *Lane) grow(k int) {
	if k > 0 {
		l.chunks = append(l.chunks, newChunk(chunkLen))
		return
	}
	size := firstLen
	if len(l.chunks) > 0 {
		size = min(chunkLen, 4*len(l.chunks[0].starts))
	}
	c := newChunk(size)
	if len(l.chunks) > 0 {
		copy(c.starts, l.chunks[0].starts)
		copy(c.ends, l.chunks[0].ends)
		copy(c.calls, l.chunks[0].calls)
	}
	l.chunks = []laneChunk{c}
}

// snapshot copies the lane for readers.
func (l *Lane) snapshot() Lane {
	s := *l
	s.levels = append([]Vec[Node](nil), l.levels...)
	return s
}
