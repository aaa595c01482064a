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

// A Hit is one place on the timeline that a search found: a span, or the start of a run
// of samples with a match in their stacks.
type Hit struct {
	// Time is the start, in picoseconds.
	Time  int64
	Track int
	// Lane and Index identify the span. For samples Lane is -1, and Samples and Index
	// identify the first sample.
	Lane, Index int
	Samples     *recording.Samples
	Call        recording.CallID

	row int
}

// Hits are all places of a recording that a search found, in order of time. They are
// valid for the snapshot that was searched.
type Hits struct {
	Pattern *Pattern
	// Spans is the number of matching spans, Samples the number of samples with a match
	// in their stacks. Neighbouring samples form one hit, so Len may be less than the sum
	// of both.
	Spans, Samples int64
	// Functions are the matching functions.
	Functions []recording.FuncID
	// Partial is set while the search may find more; see FindWithPreview.
	Partial bool

	rec *recording.Recording
	is  []bool // by function
	// onTrack reports, by track, whether the thread matches.
	onTrack []bool
	rows    []hitRow
	n       int64
}

// hitRow is a column of spans or samples that contains hits.
type hitRow struct {
	id            int // the same in all results of one search
	track, laneAt int
	lane          *lanes.Lane
	samples       *recording.Samples
	hit           []uint8 // by call: 1 for a match, to be added up without a branch
	// own, used instead of hit, has one bit per element of the column.
	own []uint64
	// before is, for each block of the column, the number of hits in earlier blocks; the
	// last element is the number of all hits.
	before []int64
	// members is the number of spans or samples in the hits.
	members int64
	late    bool // its hits are ordered after those of other rows; see Behind
}

// hitBlock is the number of spans or samples counted together: scanning a block is quick,
// and one count per block costs almost no memory.
const hitBlock = 1 << 10

// Find searches for a pattern in the names, modules and files of functions, and counts
// and locates the spans and samples with matching functions. It looks at each span's call
// once, on all cores. For a matching thread, the hit is its first span or sample.
func Find(ctx context.Context, rec *recording.Recording, p *Pattern) (*Hits, error) {
	return FindWithPreview(ctx, rec, p, nil)
}

// FindWithPreview is Find, but if the search takes long, it calls soon with the hits
// found so far. It calls soon at most once, with at least one hit, from another
// goroutine, before it returns. Row numbers are the same in both results, so that a hit
// of the preview is valid in the final result.
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

// uncounted finds the functions, and the rows that may contain them.
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
	depths := map[int]bool{} // depths with a match
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
			// All spans of a lane have the same depth, so most lanes can be skipped if
			// matches are rare.
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

// countBlock counts the hits of a block, and the spans or samples in them.
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

// next returns the index of the first hit from i on, or -1.
func (r *hitRow) next(i int) int {
	n := r.len()
	for i < n {
		b := i / hitBlock
		if r.before[b] == r.before[b+1] { // no hit in this block: skip to the next block with a hit
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

// prev returns the index of the last hit up to i, or -1.
func (r *hitRow) prev(i int) int {
	for i >= 0 {
		b := i / hitBlock
		if r.before[b] == r.before[b+1] { // no hit in this block: skip to the previous block with a hit
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

// upTo counts the hits among the row's first i elements.
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

// search returns the first index in the row at or after time t.
func (r *hitRow) search(t int64) int {
	return sort.Search(r.len(), func(i int) bool { return r.time(i) >= t })
}

// Matches reports whether a function matched.
func (h *Hits) Matches(f recording.FuncID) bool { return int(f) < len(h.is) && h.is[f] }

// Of reports whether the hits belong to a snapshot of a recording.
func (h *Hits) Of(rec *recording.Recording) bool { return h.rec == rec }

// Len returns the number of hits.
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

// Behind returns the same hits, but the hits on some tracks come after all others.
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

// late reports whether a hit is one of those that Behind moved to the end.
func (h *Hits) late(at Hit) bool {
	return slices.ContainsFunc(h.rows, func(r hitRow) bool { return r.late && r.id == at.row })
}

// Hits with the same start are ordered by row, then by index.

// From returns the first hit that starts at time t or later. Hits moved to the end by
// Behind come second. It returns false if there is none.
func (h *Hits) From(t int64) (Hit, bool) {
	return h.first(func(r *hitRow) int { return r.search(t) })
}

// Before returns the last hit that starts before time t. Hits moved to the end by Behind
// come second.
func (h *Hits) Before(t int64) (Hit, bool) {
	for _, late := range []bool{false, true} {
		if hit, ok := h.part(late).last(func(r *hitRow) int { return r.search(t) - 1 }); ok {
			return hit, true
		}
	}
	return Hit{}, false
}

// Next returns the hit after another one.
func (h *Hits) Next(at Hit) (Hit, bool) {
	late := h.late(at)
	return h.first(func(r *hitRow) int { return r.after(at, late) })
}

// Prev returns the hit before another one.
func (h *Hits) Prev(at Hit) (Hit, bool) {
	late := h.late(at)
	return h.last(func(r *hitRow) int {
		if r.id == at.row {
			return at.Index - 1
		}
		return r.after(at, late) - 1
	})
}

// after returns the first index in a row that comes after a hit; late reports whether
// that hit is one that Behind moved to the end.
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

// Number returns the position of a hit among all, from 1 to Len.
func (h *Hits) Number(at Hit) int64 {
	var n int64
	late := h.late(at)
	for k := range h.rows {
		r := &h.rows[k]
		n += r.upTo(r.after(at, late))
	}
	return n
}

// part returns the hits that Behind moved to the end, or all others.
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

// Marks divides from..to into n equal parts and reports for each whether a hit starts in
// it, for marking hits in a picture. track limits the hits to one track, unless it is
// recording.NoTrack. The time depends on n, not on the number of hits.
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
			// Go on to the next part that has no mark, by at least one index.
			part := from + int64(float64(m)*width)
			i = r.next(r.skip(i+1, part))
		}
	}
	return marks
}

// skip returns the first index from i on at or after time t. It is fast if that is close
// to i.
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
