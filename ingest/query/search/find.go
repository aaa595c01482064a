// Package search finds functions, threads and arguments by text, and their places on the
// timeline.
package search

import (
	"context"
	"math/bits"
	"slices"
	"sort"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
)

// Hit is one place on the timeline that a search found: a span, or where a run
// of samples begins that have a match in their stacks.
type Hit struct {
	// Time is when it starts, in picoseconds.
	Time  int64
	Track int
	// Lane and Index are the span's; for samples Lane is -1 and Samples and
	// Index say which.
	Lane, Index int
	Samples     *recording.Samples
	Call        recording.CallID

	row int
}

// Hits are all places of a recording that a search found, in order of time. The
// answer holds for the snapshot that was searched.
type Hits struct {
	Pattern *Pattern
	// Spans is how many spans match, Samples how many samples have a match in
	// their stacks; neighbouring samples are one hit, so that Len may be less
	// than the sum of both.
	Spans, Samples int64
	// Functions are the matching functions.
	Functions []recording.FuncID
	// Partial is set while more may be found: see FindWithPreview.
	Partial bool

	rec *recording.Recording
	is  []bool // by function
	// onTrack reports, by track, which threads match.
	onTrack []bool
	rows    []hitRow
	n       int64
}

// hitRow is a column of spans or samples that has hits.
type hitRow struct {
	id            int // the same in all answers to one search
	track, laneAt int
	lane          *lanes.Lane
	samples       *recording.Samples
	hit           []uint8 // by call: 1 for a match, to be added up without a branch
	// own has, instead of hit, a bit for each place of the column.
	own []uint64
	// before has, for each block of the column, the hits in the blocks before,
	// and at its end the hits in total.
	before []int64
	// members are the spans or samples that the hits are made of.
	members int64
	late    bool // its hits come after those of all others; see Behind
}

// hitBlock is how many spans or samples are counted together: looking for one
// among them is quick, and a count for each costs next to nothing.
const hitBlock = 1 << 10

// Find looks for a pattern in the names, modules and files of functions, and
// counts and places the spans and samples that have them. It looks at each span's
// call once, on all cores. Of threads that match, the first span or sample is
// the hit.
func Find(ctx context.Context, rec *recording.Recording, p *Pattern) (*Hits, error) {
	return FindWithPreview(ctx, rec, p, nil)
}

// FindWithPreview is Find that calls soon with what was found by then when it takes
// long: once, with at least one hit, from another goroutine and before it
// returns. Hits have the same numbers of rows in both answers, so that one of the
// first leads on in the last.
func FindWithPreview(ctx context.Context, rec *recording.Recording, p *Pattern, soon func(*Hits)) (*Hits, error) {
	h, err := uncounted(ctx, rec, p)
	if err != nil {
		return nil, err
	}
	if err := h.count(ctx, soon); err != nil {
		return nil, err
	}
	return h, nil
}

// uncounted finds the functions, and the rows in which they may be.
func uncounted(ctx context.Context, rec *recording.Recording, p *Pattern) (*Hits, error) {
	h := &Hits{Pattern: p, rec: rec, is: make([]bool, rec.Functions.Len())}
	switch p.Field() {
	case InThread:
		return h, h.threads(ctx)
	case InArgs:
		return h, h.args(ctx)
	}
	for i := 0; i < rec.Functions.Len(); {
		run := rec.Functions.Chunk(i)
		for k := range run {
			if p.MatchFunction(&run[k]) {
				h.is[i+k] = true
				h.Functions = append(h.Functions, recording.FuncID(i+k))
			}
		}
		i += len(run)
	}
	if len(h.Functions) == 0 {
		return h, nil
	}
	self, stack := make([]uint8, rec.Calls.Len()), make([]uint8, rec.Calls.Len())
	depths := map[int]bool{} // where any match is
	for c := 1; c < len(self); c++ {
		call := recording.CallID(c)
		if h.is[rec.Func(call)] {
			self[c] = 1
			depths[rec.Calls.Depth(call)] = true
		}
		stack[c] = self[c] | stack[rec.Calls.Parent(call)]
	}
	for ti, t := range rec.Tracks {
		for i := range t.Lanes {
			l := &t.Lanes[i]
			// All spans of a lane are equally deep, so most of them need no look
			// when what is searched for is rare.
			if l.Len() == 0 || !depths[rec.Calls.Depth(l.Call(0))] {
				continue
			}
			h.rows = append(h.rows, hitRow{id: len(h.rows), track: ti, laneAt: i, lane: l, hit: self, before: make([]int64, blocks(l.Len())+1)})
		}
		for _, s := range t.Samples {
			h.rows = append(h.rows, hitRow{id: len(h.rows), track: ti, laneAt: -1, samples: s, hit: stack, before: make([]int64, blocks(s.Len())+1)})
		}
	}
	return h, nil
}

func blocks(n int) int { return (n + hitBlock - 1) / hitBlock }

// countBlock counts a block's hits, and the spans or samples that they are made
// of.
func (r *hitRow) countBlock(b int) (hits, members int64) {
	first, last := b*hitBlock, min(r.len(), (b+1)*hitBlock)
	if r.own != nil {
		for _, w := range r.own[first/64 : (last+63)/64] {
			hits += int64(bits.OnesCount64(w))
		}
		return hits, hits
	}
	if r.samples != nil {
		for i := first; i < last; i++ {
			if r.hit[r.samples.Call(i)] != 0 {
				members++
				if r.is(i) {
					hits++
				}
			}
		}
		return hits, members
	}
	for i := first; i < last; {
		calls := r.lane.Calls(i)
		calls = calls[:min(len(calls), last-i)]
		for _, c := range calls {
			hits += int64(r.hit[c])
		}
		i += len(calls)
	}
	return hits, hits
}

func (r *hitRow) len() int {
	if r.lane != nil {
		return r.lane.Len()
	}
	return r.samples.Len()
}

func (r *hitRow) time(i int) int64 {
	if r.lane != nil {
		return r.lane.Start(i)
	}
	return r.samples.Time(i)
}

// is reports whether a hit begins at i.
func (r *hitRow) is(i int) bool {
	if r.own != nil {
		return r.own[i/64]>>(i%64)&1 != 0
	}
	if r.lane != nil {
		return r.hit[r.lane.Call(i)] != 0
	}
	return r.hit[r.samples.Call(i)] != 0 && (i == 0 || r.hit[r.samples.Call(i-1)] == 0)
}

// next is the first hit from i on, -1 when there is none.
func (r *hitRow) next(i int) int {
	n := r.len()
	for i < n {
		b := i / hitBlock
		if r.before[b] == r.before[b+1] { // none here: to the next block with any
			all := r.before[b]
			b += sort.Search(len(r.before)-1-b, func(k int) bool { return r.before[b+k+1] > all })
			i = b * hitBlock
			continue
		}
		for end := min(n, (b+1)*hitBlock); i < end; i++ {
			if r.is(i) {
				return i
			}
		}
	}
	return -1
}

// prev is the last hit up to i, -1 when there is none.
func (r *hitRow) prev(i int) int {
	for i >= 0 {
		b := i / hitBlock
		if r.before[b] == r.before[b+1] { // none here: to the block before with any
			all := r.before[b]
			b = sort.Search(b, func(k int) bool { return r.before[k+1] >= all })
			if all == 0 {
				return -1
			}
			i = min(i, (b+1)*hitBlock-1)
			continue
		}
		for ; i >= b*hitBlock; i-- {
			if r.is(i) {
				return i
			}
		}
	}
	return -1
}

// upTo counts the hits among the first i.
func (r *hitRow) upTo(i int) int64 {
	b := i / hitBlock
	if b == len(r.before)-1 {
		return r.before[b]
	}
	n := r.before[b]
	for k := b * hitBlock; k < i; k++ {
		if r.is(k) {
			n++
		}
	}
	return n
}

// search is the first place in the row that comes at or after time t.
func (r *hitRow) search(t int64) int {
	return sort.Search(r.len(), func(i int) bool { return r.time(i) >= t })
}

// Matches reports whether a function was found.
func (h *Hits) Matches(f recording.FuncID) bool { return int(f) < len(h.is) && h.is[f] }

// Of reports whether the answer is about a snapshot of a recording.
func (h *Hits) Of(rec *recording.Recording) bool { return h.rec == rec }

// Len is the number of hits there are to walk through.
func (h *Hits) Len() int64 { return h.n }

func (h *Hits) hit(row, i int) Hit {
	r := &h.rows[row]
	hit := Hit{Time: r.time(i), Track: r.track, Lane: r.laneAt, Index: i, Samples: r.samples, row: r.id}
	if r.lane != nil {
		hit.Call = r.lane.Call(i)
	} else {
		hit.Call = r.samples.Call(i)
	}
	return hit
}

// Behind is the same with the hits on some tracks behind all others.
func (h *Hits) Behind(tracks []int) *Hits {
	if len(tracks) == 0 {
		return h
	}
	o := *h
	o.rows = slices.Clone(h.rows)
	for k := range o.rows {
		o.rows[k].late = slices.Contains(tracks, o.rows[k].track)
	}
	return &o
}

// late reports whether a hit is one of those behind.
func (h *Hits) late(at Hit) bool {
	return slices.ContainsFunc(h.rows, func(r hitRow) bool { return r.late && r.id == at.row })
}

// Hits that start together come in order of their rows, then as in the row.

// From is the first hit that starts at time t or later; false when there is
// none, also behind.
func (h *Hits) From(t int64) (Hit, bool) {
	return h.first(func(r *hitRow) int { return r.search(t) })
}

// Before is the last hit that starts before time t, of those behind if there is no
// other.
func (h *Hits) Before(t int64) (Hit, bool) {
	for _, late := range []bool{false, true} {
		if hit, ok := h.part(late).last(func(r *hitRow) int { return r.search(t) - 1 }); ok {
			return hit, true
		}
	}
	return Hit{}, false
}

// Next is the hit after another one.
func (h *Hits) Next(at Hit) (Hit, bool) {
	late := h.late(at)
	return h.first(func(r *hitRow) int { return r.after(at, late) })
}

// Prev is the hit before another one.
func (h *Hits) Prev(at Hit) (Hit, bool) {
	late := h.late(at)
	return h.last(func(r *hitRow) int {
		if r.id == at.row {
			return at.Index - 1
		}
		return r.after(at, late) - 1
	})
}

// after is the first place in a row that comes after a hit, which is one of those behind
// or not.
func (r *hitRow) after(at Hit, late bool) int {
	switch {
	case r.late && !late:
		return 0
	case late && !r.late:
		return r.len()
	case r.id == at.row:
		return at.Index + 1
	case r.id < at.row:
		return r.search(at.Time + 1)
	}
	return r.search(at.Time)
}

// Number is a hit's place among all, from 1 to Len.
func (h *Hits) Number(at Hit) int64 {
	var n int64
	late := h.late(at)
	for k := range h.rows {
		r := &h.rows[k]
		n += r.upTo(r.after(at, late))
	}
	return n
}

// part is the hits that come behind, or all others.
func (h *Hits) part(late bool) *Hits {
	if !slices.ContainsFunc(h.rows, func(r hitRow) bool { return r.late != late }) {
		return h
	}
	o := *h
	o.n, o.rows = 0, nil
	for _, r := range h.rows {
		if r.late == late {
			o.rows = append(o.rows, r)
			o.n += r.before[len(r.before)-1]
		}
	}
	return &o
}

func (h *Hits) first(from func(r *hitRow) int) (Hit, bool) {
	for _, late := range []bool{false, true} {
		if hit, ok := h.part(late).earliest(from); ok {
			return hit, true
		}
	}
	return Hit{}, false
}

func (h *Hits) last(upTo func(r *hitRow) int) (Hit, bool) {
	for _, late := range []bool{true, false} {
		if hit, ok := h.part(late).latest(upTo); ok {
			return hit, true
		}
	}
	return Hit{}, false
}

func (h *Hits) earliest(from func(r *hitRow) int) (Hit, bool) {
	row, at, best := -1, 0, int64(0)
	for k := range h.rows {
		r := &h.rows[k]
		i := from(r)
		if i >= r.len() || row >= 0 && r.time(i) >= best {
			continue
		}
		if i = r.next(i); i >= 0 && (row < 0 || r.time(i) < best) {
			row, at, best = k, i, r.time(i)
		}
	}
	if row < 0 {
		return Hit{}, false
	}
	return h.hit(row, at), true
}

func (h *Hits) latest(upTo func(r *hitRow) int) (Hit, bool) {
	row, at, best := -1, 0, int64(0)
	for k := range h.rows {
		r := &h.rows[k]
		i := upTo(r)
		if i < 0 || row >= 0 && r.time(i) < best {
			continue
		}
		if i = r.prev(i); i >= 0 && (row < 0 || r.time(i) >= best) {
			row, at, best = k, i, r.time(i)
		}
	}
	if row < 0 {
		return Hit{}, false
	}
	return h.hit(row, at), true
}

// Marks says in which of n equal parts of from..to any hit starts, for marking
// them in a picture; of one track, or of all with recording.NoTrack. It costs by
// n and not by the hits.
func (h *Hits) Marks(track int, from, to int64, n int) []bool {
	marks := make([]bool, n)
	if n == 0 || to <= from {
		return marks
	}
	width := float64(to-from) / float64(n)
	for k := range h.rows {
		r := &h.rows[k]
		if track != recording.NoTrack && track != r.track {
			continue
		}
		for i := r.next(r.search(from)); i >= 0 && r.time(i) < to; {
			m := min(n-1, int(float64(r.time(i)-from)/width))
			marks[m] = true
			for m < n && marks[m] {
				m++
			}
			// On to the next part without a mark, but always on.
			part := from + int64(float64(m)*width)
			i = r.next(r.skip(i+1, part))
		}
	}
	return marks
}

// skip is the first place from i on that comes at or after time t; it is mostly
// near.
func (r *hitRow) skip(i int, t int64) int {
	n, step := r.len(), 1
	lo := i
	for i < n && r.time(i) < t {
		lo = i + 1
		i += step
		step *= 2
	}
	hi := min(i, n)
	return lo + sort.Search(hi-lo, func(k int) bool { return r.time(lo+k) >= t })
}
