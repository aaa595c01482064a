package lanes

import (
	"sync"

	"ashlar/ingest/model/column"
)

// With millions of short states, plain columns take several times the size of the file.
// So full chunks of states are squeezed to a third (see column.Spans), and full chunks of
// spans if the decoder asks for it. Squeezing costs little compared with decoding such a
// format. Unpacking the chunks costs about as much again each time they are read.

// Unsqueezed reports whether some spans of a squeezed lane are not squeezed yet.
func (l *Lane) Unsqueezed() bool { return len(l.chunks) > 0 }

// Settled reports whether the lane is short and completely squeezed, so that it stays as
// it is if nothing is added.
func (l *Lane) Settled() bool { return l.squeezed && len(l.dense) <= 1 && len(l.chunks) == 0 }

// squeezing holds scratch memory for the ends of a chunk's spans.
var squeezing = sync.Pool{New: func() any { return new([column.ChunkLen]int64) }}

// squeeze packs the chunk that is not packed yet. Snapshots keep their own columns.
func (l *Lane) squeeze() {
	if len(l.chunks) == 0 {
		return
	}
	c := &l.chunks[0]
	from := len(l.dense) << column.ChunkBits
	n := l.n - from
	room := squeezing.Get().(*[column.ChunkLen]int64)
	defer squeezing.Put(room)
	ends := room[:n]
	long := -1
	for i, d := range c.durs[:n] {
		if d != isLong {
			ends[i] = c.starts[i] + int64(d)
			continue
		}
		if long < 0 {
			long = l.longFrom(from + i)
		}
		ends[i] = l.long.At(long).end
		long++
	}
	wakers := c.wakers
	if wakers != nil {
		wakers = wakers[:n]
	}
	l.dense = append(l.dense, column.SpansOf(l.shelf, c.starts[:n], ends, c.calls[:n], wakers))
	l.drop()
	if l.laneMore != &noMore {
		if l.long = column.On[longSpan](l.shelf); !l.HasArgs() && len(l.unfinished)+len(l.levels) == 0 {
			l.laneMore = &noMore
		}
	}
}

// loosen unpacks the last chunk, which is not full, so that more can be appended.
func (l *Lane) loosen() {
	k := len(l.dense) - 1
	d := &l.dense[k]
	size := 2 * d.Len()
	for size&(size-1) != 0 {
		size += size & -size
	}
	c := l.newChunk(min(column.ChunkLen, max(column.FirstLen, size)))
	for i := range d.Len() {
		start, end := d.Start(i), d.End(i)
		c.starts[i], c.durs[i], c.calls[i] = start, isLong, CallID(d.First(i))
		if dur := uint64(end - start); dur < isLong {
			c.durs[i] = uint32(dur)
		} else {
			l.more().long.Append(longSpan{k<<column.ChunkBits + i, end})
		}
		if l.woken {
			c.wakers[i] = d.Second(i)
		}
	}
	l.dense = l.dense[:k:k]
	l.chunks = []laneChunk{c}
	l.setTail(c, len(c.starts)-d.Len())
}

// leaf holds the data of one node of a detail level.
type leaf struct {
	starts, ends [leafSpans]int64
	durs         [leafSpans]uint32
	calls        [leafSpans]CallID
}

// leaf returns the columns of n spans from span i on, all within one leaf.
func (l *Lane) leaf(i, n int, room *leaf) (starts []int64, durs []uint32, calls []CallID) {
	k, off := i>>column.ChunkBits-len(l.dense), i&(column.ChunkLen-1)
	if k >= 0 {
		c := &l.chunks[k]
		return c.starts[off : off+n], c.durs[off : off+n], c.calls[off : off+n]
	}
	starts, durs, calls = room.starts[:n], room.durs[:n], room.calls[:n]
	column.ReadSpans(&l.dense[i>>column.ChunkBits], off, starts, room.ends[:n], calls)
	for j := range starts {
		durs[j] = uint32(min(uint64(room.ends[j]-starts[j]), isLong))
	}
	return starts, durs, calls
}
