package lanes

import (
	"slices"

	"ashlar/ingest/model/column"
)

// Columns grow by chunks, the last of which is on average half empty. That is negligible
// for one lane of a million spans, but much for hundreds of short lanes. So once a
// recording is complete, the last chunks are cut to their contents.

// Trim releases the lane's unused capacity. Nothing can be appended afterwards, except as
// described at TrimShort. Snapshots keep their columns.
func (l *Lane) Trim() {
	if l.squeezed {
		l.squeeze()
	}
	l.tail = &noTail
	if k := len(l.chunks) - 1; k >= 0 {
		c := &l.chunks[k]
		if n := l.n - k*column.ChunkLen; n < len(c.starts) && !(len(c.starts) == column.ChunkLen && l.shelf.Extended()) {
			l.chunks = slices.Clone(l.chunks)
			l.chunks[k] = laneChunk{slices.Clone(c.starts[:n:n]), slices.Clone(c.durs[:n:n]), slices.Clone(c.calls[:n:n]), nil}
		}
	}
	if l.laneMore != &noMore {
		for i := range l.levels {
			l.levels[i].Trim()
		}
		l.long.Trim()
		l.args.Trim()
	}
}

// TrimShort is like Trim for a lane of less than a chunk, but spans can still be
// appended.
func (l *Lane) TrimShort() {
	if l.n < column.ChunkLen {
		l.Trim()
	}
}
