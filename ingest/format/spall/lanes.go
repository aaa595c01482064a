package spall

import (
	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
)

// sorter groups spans by lane. Lanes are numbered in the order in which they first occur.
type sorter struct {
	of    [][]uint32 // lane numbers, by thread and depth
	all   []lane
	used  []uint32     // lanes with spans in the current batch
	spans []lanes.Span // spans of the current batch, lane by lane
}

// lane is a depth of a thread.
type lane struct {
	thread, depth uint32
	// n is the number of the lane's spans in a batch. Later it is the index in
	// sorter.spans of the lane's next span.
	n uint32
}

// number returns the number of a lane, adding the lane if it is new.
func (l *sorter) number(thread, depth uint32) uint32 {
	for int(thread) >= len(l.of) {
		l.of = append(l.of, nil)
	}
	of := &l.of[thread]
	for int(depth) >= len(*of) {
		*of = append(*of, uint32(len(l.all)))
		l.all = append(l.all, lane{thread, uint32(len(*of) - 1), 0})
	}
	return (*of)[depth]
}

// byLane adds the spans of a batch lane by lane, because lanes are far apart in memory
// and each is then visited once. Ends of earlier batches' spans are added first, because
// those spans precede all others in their lanes.
func (s *sink) byLane(bt *batch) {
	l := &s.sorter
	l.used = l.used[:0]
	for i := range bt.events {
		e := &bt.events[i]
		thread := e.what >> kindBits
		if e.what&(1<<kindBits-1) > evNestedArgs {
			s.moment(s.tracks[thread], e)
			continue
		}
		if int(thread) < len(l.of) && int(e.depth) < len(l.of[thread]) {
			e.depth = l.of[thread][e.depth]
		} else {
			e.depth = l.number(thread, e.depth)
		}
		at := &l.all[e.depth]
		if at.n == 0 {
			l.used = append(l.used, e.depth)
		}
		at.n++
	}
	sum := uint32(0)
	for _, k := range l.used {
		at := &l.all[k]
		at.n, sum = sum, sum+at.n
	}
	l.sort(bt, s.calls, int(sum))
	from := uint32(0)
	for _, k := range l.used {
		at := &l.all[k]
		s.tracks[at.thread].Nested(int(at.depth), l.spans[from:at.n])
		from, at.n = at.n, 0
	}
}

// sort groups the n spans of a batch by lane.
func (l *sorter) sort(bt *batch, calls []recording.CallID, n int) {
	if n > cap(l.spans) {
		l.spans = make([]lanes.Span, max(n, batchLen))
	}
	l.spans = l.spans[:n]
	extra := bt.extra
	for i := range bt.events {
		e := &bt.events[i]
		kind := e.what & (1<<kindBits - 1)
		if kind > evNestedArgs {
			continue
		}
		at := &l.all[e.depth]
		x := &l.spans[at.n]
		at.n++
		x.Start, x.End, x.Call, x.Args = e.at, e.end, calls[e.id], 0
		if kind == evNestedArgs {
			x.Args = extra[0]
			extra = extra[1:]
		}
	}
}
