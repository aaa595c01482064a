package lanes

import (
	"cmp"
	"math"
	"unsafe"

	"ashlar/ingest/model/column"
)

// Pack implements [column.Packer].
func (l *Lane) Pack(a *column.Archive) {
	n, dense := int(a.Signed(int64(l.n))), int(a.Signed(int64(len(l.dense))))
	column.Pack(a, &l.squeezed)
	column.Pack(a, &l.woken)
	if a.Reading() {
		all := a.Chunks(n, unsafe.Sizeof(laneChunk{}))
		column.Must(n >= 0 && n <= math.MaxInt64/64 && dense >= 0 && dense <= all, "a lane has too many spans")
		l.n, l.shelf = n, a.Shelf()
		if l.chunks = make([]laneChunk, all-dense); dense > 0 {
			l.dense = make([]column.Spans, dense)
		}
	}
	for k := range l.dense {
		l.dense[k].Pack(a)
		column.Must(l.dense[k].Len() == min(column.ChunkLen, n-k<<column.ChunkBits), "a lane lacks some of its spans")
	}
	for k := range l.chunks {
		c, of := &l.chunks[k], min(column.ChunkLen, n-(dense+k)<<column.ChunkBits)
		column.PackChunk(a, &c.starts, of)
		column.PackChunk(a, &c.durs, of)
		column.PackChunk(a, &c.calls, of)
		if l.woken {
			column.PackChunk(a, &c.wakers, of)
		}
	}
	more := l.laneMore
	if more == &noMore {
		more = nil
	}
	if column.Pack(a, &more); a.Reading() {
		l.laneMore = cmp.Or(more, &noMore)
	}
}

// argColumn holds the arguments of those spans of a lane that have any.
type argColumn struct{ column.Sparse }

// Pack converts the references, because the texts have moved.
func (c *argColumn) Pack(a *column.Archive) { c.PackAs(a, a.References) }
