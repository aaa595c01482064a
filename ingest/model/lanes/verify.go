package lanes

import (
	"math"

	"ashlar/ingest/model/column"
)

// VerifyShape checks an unpacked lane except for the contents of its columns. It panics
// like [column.Must].
func (l *Lane) VerifyShape() {
	for k := range l.levels {
		nodes := l.n >> (LeafBits + k*FanBits)
		if k == 0 && l.squeezed {
			nodes = 0
		}
		column.Must(l.levels[k].Len() == nodes, "a lane's detail levels have the wrong length")
	}
	last := -1
	for _, i := range l.unfinished {
		column.Must(i > last && i < l.n, "an unfinished span is not in its lane")
		last = i
	}
	column.Must(l.long.Len() <= l.n && l.args.Fits(l.n), "a lane's column has more entries than the lane has spans")
}

// Verify checks the columns of a lane, given the recording's number of calls, the time
// range, and whether there are texts for arguments.
func (l *Lane) Verify(calls int, from, to int64, args bool) {
	for k := range l.dense {
		l.dense[k].Check()
	}
	long := 0
	for k := range l.chunks {
		first := (len(l.dense) + k) << column.ChunkBits
		for i, d := range l.chunks[k].durs[:min(column.ChunkLen, l.n-first)] {
			if d == isLong {
				column.Must(long < l.long.Len() && l.long.At(long).index == first+i, "a long span has no end")
				long++
			}
		}
	}
	column.Must(long == l.long.Len(), "ends of long spans belong to no span")
	var room Room
	end := int64(math.MinInt64)
	for i := 0; i < l.n; {
		starts, ends, in := l.Columns(i, l.n, &room)
		for k, start := range starts {
			if start < end || ends[k] < start || int(in[k]) >= calls {
				column.Must(false, "span %d is out of order, or refers to a missing call", i+k)
			}
			end = ends[k]
		}
		i += len(starts)
	}
	column.Must(l.n == 0 || l.Start(0) >= from && end <= to, "spans lie outside of the recording")
	for k := range l.levels {
		lv := &l.levels[k]
		size := 1 << (LeafBits + k*FanBits)
		for i := range lv.Len() {
			nd := lv.At(i)
			column.Must(nd.Start == l.Start(i*size) && nd.End == l.End((i+1)*size-1) && int(nd.Call) < calls && nd.Busy >= 0, "a lane's detail levels do not match its spans")
		}
	}
	l.args.Check(l.n)
	for i := 0; !args && i < l.args.Values().Len(); i++ {
		column.Must(l.args.Values().At(i) == 0, "a span refers to arguments that are not stored")
	}
}
