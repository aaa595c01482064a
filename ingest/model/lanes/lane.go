// Package lanes stores spans in rows with detail levels for drawing, so that the cost of a
// picture depends on its pixels.
//
// A [Lane] is written by one goroutine. Any number of others may read a [Lane.Snapshot] at
// the same time, because columns are append-only.
package lanes

import (
	"math"
	"slices"
	"sort"
	"sync"

	"ashlar/ingest/model/column"
)

// CallID identifies a node of a call tree (see package recording). NoCall is the root,
// above every outermost call.
type CallID uint32

// NoCall is the root of the call tree: no frame, no parent.
const NoCall CallID = 0

// Span is a span of a lane, in picoseconds; Args may be 0.
type Span struct {
	Start, End int64
	Args       uint64
	Call       CallID
}

// Lane is one row of spans on a track: sorted by start, never overlapping. Its
// columns are parallel.
type Lane struct {
	n      int
	tail   *laneTail // the end of a lane that is still growing
	chunks []laneChunk
	// dense are the squeezed chunks, which precede chunks.
	dense    []column.Spans
	squeezed bool
	woken    bool // spans have wakers, as states do
	shown    bool // snapshots share the columns
	shelf    *column.Shelf
	*laneMore
}

// laneMore holds the fields that most short lanes, of which there may be a million, do
// not need.
type laneMore struct {
	// long are the spans too long for a chunk's durs column.
	long column.Vec[longSpan]
	args argColumn
	// unfinished lists spans that the recording never ended, in order.
	unfinished []int
	levels     []column.Vec[Node]
}

// noMore is shared by all lanes without optional data.
var noMore laneMore

// laneTail is the state for Append: the last chunk, the number of spans that still fit
// into it, and memory for the lane's first spans.
type laneTail struct {
	room int
	laneChunk
	first struct {
		table        [1]laneChunk
		starts       [column.FirstLen]int64
		durs, wakers [column.FirstLen]uint32
		calls        [column.FirstLen]CallID
	}
}

// noTail is the tail of lanes that must grow first. tails reuses the tails of short,
// finished lanes, of which there may be a million.
var (
	noTail laneTail
	tails  = sync.Pool{New: func() any { return new(laneTail) }}
)

func (l *Lane) setTail(c laneChunk, room int) {
	if l.tail == &noTail {
		l.tail = tails.Get().(*laneTail)
	}
	l.tail.room, l.tail.laneChunk = room, c
}

// begin makes room for the first spans.
func (l *Lane) begin() {
	t := tails.Get().(*laneTail)
	f := &t.first
	c := laneChunk{starts: f.starts[:], durs: f.durs[:], calls: f.calls[:]}
	if l.woken {
		c.wakers = f.wakers[:]
	}
	t.room, t.laneChunk, f.table[0] = column.FirstLen, c, c
	l.tail, l.chunks = t, f.table[:]
}

// drop removes the chunks after they were packed.
func (l *Lane) drop() {
	if t := l.tail; t != &noTail && !l.shown && &l.chunks[0].starts[0] == &t.first.starts[0] {
		tails.Put(t)
	}
	l.chunks, l.tail = nil, &noTail
}

// New returns an empty lane with its chunks on a shelf. A squeezed lane takes less
// memory; see squeeze.
func New(s *column.Shelf, squeezed bool) Lane {
	return Lane{squeezed: squeezed, shelf: s, tail: &noTail, laneMore: &noMore}
}

// NewStates returns an empty, squeezed lane for the states of a thread, which have
// wakers.
func NewStates(s *column.Shelf) Lane {
	l := New(s, true)
	l.woken = true
	return l
}

// more returns the optional data, to be written to.
func (l *Lane) more() *laneMore {
	if l.laneMore == &noMore {
		l.laneMore = &laneMore{long: column.On[longSpan](l.shelf), args: argColumn{column.SparseOn(l.shelf)}}
	}
	return l.laneMore
}

// laneChunk holds the columns of column.ChunkLen neighbouring spans. As with Vec, only
// the first chunk of a lane is ever reallocated.
//
// Most spans are short, so a column of durations takes half the memory of a column of
// ends.
type laneChunk struct {
	starts []int64
	durs   []uint32 // in picoseconds; isLong for spans in Lane.long
	calls  []CallID
	wakers []uint32 // 1 + the track; nil if the lane has none
}

func (l *Lane) newChunk(n int) laneChunk {
	c := laneChunk{column.Chunk[int64](l.shelf, n), column.Chunk[uint32](l.shelf, n), column.Chunk[CallID](l.shelf, n), nil}
	if l.woken {
		c.wakers = column.Chunk[uint32](l.shelf, n)
	}
	return c
}

// copyTo copies the first n spans.
func (c *laneChunk) copyTo(to *laneChunk, n int) {
	copy(to.starts, c.starts[:n])
	copy(to.durs, c.durs[:n])
	copy(to.calls, c.calls[:n])
	if c.wakers != nil {
		copy(to.wakers, c.wakers[:n])
	}
}

// isLong stands for a length of 4.3 ms or more.
const isLong = math.MaxUint32

// longSpan is the index of a long span in the lane, and its end.
type longSpan struct {
	index int
	end   int64
}

// Len returns the number of spans.
func (l *Lane) Len() int { return l.n }

// Start returns the time in picoseconds at which span i starts.
func (l *Lane) Start(i int) int64 {
	k := i>>column.ChunkBits - len(l.dense)
	if k < 0 {
		return l.dense[i>>column.ChunkBits].Start(i & (column.ChunkLen - 1))
	}
	return l.chunks[k].starts[i&(column.ChunkLen-1)]
}

// End returns the time in picoseconds at which span i ends.
func (l *Lane) End(i int) int64 {
	k, off := i>>column.ChunkBits-len(l.dense), i&(column.ChunkLen-1)
	if k < 0 {
		return l.dense[i>>column.ChunkBits].End(off)
	}
	c := &l.chunks[k]
	if d := c.durs[off]; d != isLong {
		return c.starts[off] + int64(d)
	}
	return l.long.At(l.longFrom(i)).end
}

// LastStart returns the start of the last span. The lane must not be empty.
func (l *Lane) LastStart() int64 { return l.Start(l.n - 1) }

// LastEnd returns the end of the last span. The lane must not be empty. If that span is
// long, it is also the last of the long spans.
func (l *Lane) LastEnd() int64 {
	if len(l.chunks) == 0 {
		return l.End(l.n - 1)
	}
	c, off := &l.chunks[len(l.chunks)-1], (l.n-1)&(column.ChunkLen-1)
	if d := c.durs[off]; d != isLong {
		return c.starts[off] + int64(d)
	}
	return l.long.At(l.long.Len() - 1).end
}

// Duration returns End minus Start. It usually reads just one column, which is faster
// when only a few of many spans are read.
func (l *Lane) Duration(i int) int64 {
	if k := i>>column.ChunkBits - len(l.dense); k >= 0 {
		if d := l.chunks[k].durs[i&(column.ChunkLen-1)]; d != isLong {
			return int64(d)
		}
	}
	return l.End(i) - l.Start(i)
}

// longFrom returns the index in long of the first span at or after i.
func (l *Lane) longFrom(i int) int {
	return sort.Search(l.long.Len(), func(k int) bool { return l.long.At(k).index >= i })
}

// Call returns the call of span i.
func (l *Lane) Call(i int) CallID {
	k := i>>column.ChunkBits - len(l.dense)
	if k < 0 {
		return CallID(l.dense[i>>column.ChunkBits].First(i & (column.ChunkLen - 1)))
	}
	return l.chunks[k].calls[i&(column.ChunkLen-1)]
}

// HasWakers reports whether the lane holds states.
func (l *Lane) HasWakers() bool { return l.woken }

// Waker returns the waker passed to [Lane.AppendState] for state i.
func (l *Lane) Waker(i int) uint32 {
	k := i>>column.ChunkBits - len(l.dense)
	if k < 0 {
		return l.dense[i>>column.ChunkBits].Second(i & (column.ChunkLen - 1))
	}
	return l.chunks[k].wakers[i&(column.ChunkLen-1)]
}

// Args returns the reference to the arguments of span i (see [Recording.Args]), 0 if it
// has none.
func (l *Lane) Args(i int) uint64 { return l.args.At(i) }

// HasArgs reports whether any span has arguments.
func (l *Lane) HasArgs() bool { return l.args.Values().Len() > 0 }

// Unfinished reports whether span i began but never ended in the recording.
func (l *Lane) Unfinished(i int) bool {
	k := sort.SearchInts(l.unfinished, i)
	return k < len(l.unfinished) && l.unfinished[k] == i
}

// UnfinishedIn returns those of n spans from span i on that never ended in the recording.
func (l *Lane) UnfinishedIn(i, n int) []int {
	k := sort.SearchInts(l.unfinished, i)
	return l.unfinished[k : k+sort.SearchInts(l.unfinished[k:], i+n)]
}

// UnfinishedCount returns the number of unfinished spans.
func (l *Lane) UnfinishedCount() int { return len(l.unfinished) }

// Room is scratch memory for Columns, for up to RoomLen spans.
type Room struct {
	starts, ends [RoomLen]int64
	calls        [RoomLen]CallID
}

// RoomLen is the largest number of spans that Columns returns at once.
const RoomLen = 512

// Columns returns starts, ends and calls of up to most spans from span i on, for loops
// over many spans: as many as lie contiguously in memory and fit into room. The caller
// must not write to them; they are valid until room is used again.
func (l *Lane) Columns(i, most int, room *Room) (starts, ends []int64, calls []CallID) {
	k, from := i>>column.ChunkBits-len(l.dense), i&(column.ChunkLen-1)
	if k < 0 {
		d := &l.dense[i>>column.ChunkBits]
		n := min(d.Len()-from, most, RoomLen)
		column.ReadSpans(d, from, room.starts[:n], room.ends[:n], room.calls[:n])
		return room.starts[:n], room.ends[:n], room.calls[:n]
	}
	c := &l.chunks[k]
	to := min(len(c.starts), from+min(most, l.n-i, RoomLen))
	starts, ends = c.starts[from:to], room.ends[:to-from]
	long := -1
	for k, d := range c.durs[from:to] {
		if d == isLong {
			if long < 0 {
				long = l.longFrom(i + k)
			}
			ends[k] = l.long.At(long).end
			long++
			continue
		}
		ends[k] = starts[k] + int64(d)
	}
	return starts, ends, c.calls[from:to]
}

// Calls returns the calls of some spans from span i on: the longest run that is
// contiguously in memory.
func (l *Lane) Calls(i int) []CallID {
	k, from := i>>column.ChunkBits-len(l.dense), i&(column.ChunkLen-1)
	if k < 0 {
		d := &l.dense[i>>column.ChunkBits]
		calls := make([]CallID, min(d.Len()-from, RoomLen))
		column.ReadFirst(d, from, calls)
		return calls
	}
	c := &l.chunks[k]
	return c.calls[from:min(len(c.calls), from+l.n-i)]
}

// AppendState adds a state, which must not start before the last one ended. waker is 1 +
// the track of the thread that woke this one, or 0.
func (l *Lane) AppendState(start, end int64, call CallID, waker uint32) {
	l.Append(start, end, call, 0, false)
	l.tail.wakers[(l.n-1)&(column.ChunkLen-1)] = waker
}

// Append adds a span that starts no earlier than the last one ended.
func (l *Lane) Append(start, end int64, call CallID, args uint64, unfinished bool) {
	if l.tail.room == 0 {
		l.grow()
	}
	t := l.tail
	t.room--
	c, off := &t.laneChunk, l.n&(column.ChunkLen-1)
	c.starts[off], c.calls[off] = start, call
	if d := uint64(end - start); d < isLong {
		c.durs[off] = uint32(d)
	} else {
		c.durs[off] = isLong
		l.more().long.Append(longSpan{l.n, end})
	}
	if args != 0 {
		l.more().args.Set(l.n, args)
	}
	if unfinished {
		l.more().unfinished = append(l.unfinished, l.n)
	}
	l.n++
	if l.n&(leafSpans-1) == 0 {
		l.levelUp(c, off)
	}
}

// AppendAll is like Append, for several spans, each of which starts no earlier than the
// previous one ended.
func (l *Lane) AppendAll(spans []Span) {
	for len(spans) > 0 {
		if l.tail.room == 0 {
			l.grow()
		}
		c, off := l.tail, l.n&(column.ChunkLen-1)
		n := min(len(spans), c.room, leafSpans-off&(leafSpans-1))
		starts, durs, calls := c.starts[off:off+n], c.durs[off:off+n], c.calls[off:off+n]
		for i := range starts {
			s := &spans[i]
			starts[i], calls[i] = s.Start, s.Call
			d := uint64(s.End - s.Start)
			if d >= isLong {
				d = isLong
				l.more().long.Append(longSpan{l.n + i, s.End})
			}
			durs[i] = uint32(d)
			if s.Args != 0 {
				l.more().args.Set(l.n+i, s.Args)
			}
		}
		l.n += n
		c.room -= n
		if l.n&(leafSpans-1) == 0 {
			l.levelUp(&c.laneChunk, off+n-1)
		}
		spans = spans[n:]
	}
}

// grow makes room for the next span. The first chunk grows in steps, and the table of
// chunks is then copied too, because a snapshot may be reading it.
func (l *Lane) grow() {
	off := l.n & (column.ChunkLen - 1)
	switch {
	case len(l.dense) > 0 && off > 0 && len(l.chunks) == 0:
		l.loosen()
		return
	case off == 0 && l.n > 0:
		if l.squeezed {
			l.squeeze()
		}
		c := l.newChunk(column.ChunkLen)
		l.setTail(c, column.ChunkLen)
		l.chunks = append(l.chunks, c)
		return
	}
	if len(l.chunks) == 0 {
		l.begin()
		return
	}
	size := min(column.ChunkLen, 4*len(l.chunks[0].starts))
	c := l.newChunk(size)
	l.chunks[0].copyTo(&c, off)
	l.chunks = []laneChunk{c}
	l.setTail(c, size-off)
}

// Cut removes all but the first n spans of a lane without squeezed spans. Set shown if
// there are snapshots; they keep their spans.
func (l *Lane) Cut(n int, shown bool) {
	k, off := n>>column.ChunkBits, n&(column.ChunkLen-1)
	switch {
	case n == l.n:
		return
	case n == 0:
		woken := l.woken
		*l = New(l.shelf, l.squeezed)
		l.woken = woken
		return
	case off == 0:
		l.chunks, l.tail = l.chunks[:k:k], &noTail
	default:
		c := l.chunks[k]
		if shown {
			c = l.newChunk(len(c.starts))
			l.chunks[k].copyTo(&c, off)
		}
		l.chunks = append(l.chunks[:k:k], c)
		l.setTail(c, len(c.starts)-off)
	}
	if l.n = n; l.laneMore == &noMore {
		return
	}
	if l.long.Len() > 0 {
		l.long.Cut(l.longFrom(n), shown)
	}
	l.args.Cut(n, shown)
	if k := sort.SearchInts(l.unfinished, n); k < len(l.unfinished) {
		l.unfinished = l.unfinished[:k:k]
	}
	for k := range l.levels {
		m := n >> (LeafBits + k*FanBits)
		if m == 0 {
			l.levels = l.levels[:k:k]
			break
		}
		l.levels[k].Cut(m, shown)
	}
}

// Snapshot returns a copy of the lane for readers; the lane may go on growing.
func (l *Lane) Snapshot() Lane {
	l.shown = true
	return l.Copy()
}

// Copy is like Snapshot, for a lane that no longer grows.
func (l *Lane) Copy() Lane {
	s := *l
	s.shown = true
	if l.laneMore != &noMore {
		more := *l.laneMore
		more.levels = slices.Clone(l.levels)
		s.laneMore = &more
	}
	return s
}
