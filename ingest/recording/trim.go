package recording

import "slices"

// Columns grow by chunks, the last of which is on average half empty: nothing
// for one lane of a million spans, but much for hundreds of short ones. So once
// a recording is complete the last chunks are cut to what is in them.

// trim gives back the room that a lane has left; nothing can be appended after.
// Snapshots keep what they have.
func (l *Lane) trim() {
	l.tail, l.room = laneChunk{}, 0
	if k := len(l.chunks) - 1; k >= 0 {
		c := &l.chunks[k]
		if n := l.n - k*chunkLen; n < len(c.starts) && !(len(c.starts) == chunkLen && l.shelf.extended()) {
			l.chunks = slices.Clone(l.chunks)
			l.chunks[k] = laneChunk{slices.Clone(c.starts[:n:n]), slices.Clone(c.durs[:n:n]), slices.Clone(c.calls[:n:n])}
		}
	}
	for i := range l.levels {
		l.levels[i].trim()
	}
	l.long.trim()
	l.args.trim()
}

// trim gives back the room that a column has left; nothing can be appended
// after.
func (v *Vec[T]) trim() {
	v.room = nil
	if k := len(v.chunks) - 1; k >= 0 {
		if n := v.n - k*chunkLen; n < len(v.chunks[k]) && !(len(v.chunks[k]) == chunkLen && v.shelf.extended()) {
			last := slices.Clone(v.chunks[k][:n:n])
			v.chunks = slices.Clone(v.chunks)
			v.chunks[k] = last
		}
	}
}

func (a *sparse) trim() {
	a.groups.trim()
	a.refs.trim()
}
