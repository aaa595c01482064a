package search

import (
	"cmp"
	"context"

	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
)

// NameHits are the hits of one function.
type NameHits struct {
	Func recording.FuncID
	// Count is the number of matching spans and samples. Total is their time in
	// picoseconds, without spans inside other spans of the function; a sample lasts as
	// long as it is drawn.
	Count, Total int64
	// First is the earliest hit, Longest the longest one, which lasts LongestTime. Of
	// samples, a hit is a run of them.
	First, Longest Hit
	LongestTime    int64
}

// Names returns the hits by function, the largest total first. A sample counts for the
// outermost matching function of its stack.
func (h *Hits) Names(ctx context.Context) ([]NameHits, error) {
	n := &naming{h: h, at: make([]int32, h.rec.Functions.Len()), outer: make([]recording.CallID, h.rec.Calls.Len()), nested: make([]bool, h.rec.Calls.Len())}
	n.mark()
	for row := range h.rows {
		r := &h.rows[row]
		if r.lane == nil {
			n.samples(row, r)
			continue
		}
		for i, k := r.next(0), 0; i >= 0; i, k = r.next(i+1), k+1 {
			if k%(1<<16) == 0 && ctx.Err() != nil {
				return nil, ctx.Err()
			}
			n.span(row, r, i)
		}
	}
	order.By(n.names, func(a, b NameHits) int {
		return cmp.Or(cmp.Compare(b.Total, a.Total), cmp.Compare(b.Count, a.Count), cmp.Compare(a.First.Time, b.First.Time))
	})
	return n.names, ctx.Err()
}

// naming sums up hits by function.
type naming struct {
	h     *Hits
	names []NameHits
	at    []int32 // by function: 1 + its index in names, 0 for none yet
	// outer is, by call, the outermost call above it or itself whose function matches.
	// nested reports whether a call is inside another call of its function.
	outer  []recording.CallID
	nested []bool
}

// mark fills outer and nested. The parent of a call has a smaller number.
func (n *naming) mark() {
	calls := &n.h.rec.Calls
	for c := 1; c < len(n.outer); c++ {
		call := recording.CallID(c)
		up, f := calls.Parent(call), n.h.rec.Func(call)
		if n.outer[c] = n.outer[up]; n.outer[c] == recording.NoCall && n.h.Matches(f) {
			n.outer[c] = call
		}
		if !n.h.Matches(f) {
			continue
		}
		for ; up != recording.NoCall && !n.nested[c]; up = calls.Parent(up) {
			n.nested[c] = n.h.rec.Func(up) == f
		}
	}
}

// of returns the entry of a function.
func (n *naming) of(f recording.FuncID) *NameHits {
	if n.at[f] == 0 {
		n.names = append(n.names, NameHits{Func: f, LongestTime: -1})
		n.at[f] = int32(len(n.names))
	}
	return &n.names[n.at[f]-1]
}

// add adds a hit of a function: count spans or samples from row's element i on.
func (n *naming) add(f recording.FuncID, row, i int, count, lasts int64, nested bool) {
	e := n.of(f)
	at := n.h.hit(row, i)
	if e.Count == 0 || at.Time < e.First.Time {
		e.First = at
	}
	if e.Count += count; !nested {
		recording.Add(&e.Total, lasts)
	}
	if lasts > e.LongestTime {
		e.Longest, e.LongestTime = at, lasts
	}
}

func (n *naming) span(row int, r *hitRow, i int) {
	call := r.lane.Call(i)
	n.add(n.h.rec.Func(call), row, i, 1, r.lane.End(i)-r.lane.Start(i), n.nested[call])
}

// samples adds the runs of samples with the same outermost matching call.
func (n *naming) samples(row int, r *hitRow) {
	for i := 0; i < r.len(); {
		call, first := n.outer[r.samples.Call(i)], i
		for i++; i < r.len() && n.outer[r.samples.Call(i)] == call && r.samples.End(i-1) >= r.samples.Time(i); i++ {
		}
		if call != recording.NoCall {
			n.add(n.h.rec.Func(call), row, first, int64(i-first), r.samples.End(i-1)-r.samples.Time(first), false)
		}
	}
}
