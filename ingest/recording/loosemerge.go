package recording

import (
	"cmp"
	"math/bits"
	"runtime"
	"slices"

	"ashlar/ingest/heap"
)

// sortLoose sorts spans; those alike stay as they came. What is in order, or nearly,
// is hardly touched.
func sortLoose(all []looseSpan) {
	const block = 16
	if scattered(all) {
		sortRoughly(all)
	}
	for from := 0; from < len(all); from += block {
		b := all[from:min(from+block, len(all))]
		for i := 1; i < len(b); i++ {
			x, k := b[i], i
			for ; k > 0 && x.before(&b[k-1]); k-- {
				b[k] = b[k-1]
			}
			b[k] = x
		}
	}
	var room []looseSpan
	for size := block; size < len(all); size *= 2 {
		for from := 0; from+size < len(all); from += 2 * size {
			mid, end := from+size, min(from+2*size, len(all))
			if !all[mid].before(&all[mid-1]) {
				continue
			}
			room = mergeLoose(all[from:end], size, room)
		}
	}
}

// mergeLoose merges two sorted halves, the second of which begins at mid, in place.
func mergeLoose(all []looseSpan, mid int, room []looseSpan) []looseSpan {
	// What is in front of all of the second half stays.
	from, to := 0, mid
	for x := all[mid]; from < to; {
		if h := (from + to) / 2; x.before(&all[h]) {
			to = h
		} else {
			from = h + 1
		}
	}
	room = append(room[:0], all[from:mid]...)
	out, right := from, mid
	for i := 0; i < len(room); out++ {
		if right < len(all) && all[right].before(&room[i]) {
			all[out] = all[right]
			right++
		} else {
			all[out] = room[i]
			i++
		}
	}
	return room
}

// scattered reports whether spans are in no order at all, and so many that it matters:
// what is merely nested stands in order when one looks only at some.
func scattered(all []looseSpan) bool {
	const every = 16
	if len(all) < manySpans {
		return false
	}
	back := 0
	for i := every; i < len(all); i += every {
		if all[i].start < all[i-every].start {
			back++
		}
	}
	return back > len(all)/every/4
}

// roughBits is how much of a time sortRoughly looks at, twice; manySpans are worth it.
const (
	roughBits = 11
	manySpans = 1 << 10
)

// sortRoughly puts spans in order by the leading bits of their starts, without
// comparing: which of two comes first is not to be foreseen here. Hardly any are not
// in their places then. Those alike stay as they came.
func sortRoughly(all []looseSpan) {
	low, high := all[0].start, all[0].start
	for i := range all {
		low, high = min(low, all[i].start), max(high, all[i].start)
	}
	shift := max(0, bits.Len64(uint64(high)-uint64(low))-2*roughBits)
	var first, second [1 << roughBits]uint32
	of := func(x *looseSpan) uint64 { return (uint64(x.start) - uint64(low)) >> shift }
	for i := range all {
		k := of(&all[i])
		first[k&(1<<roughBits-1)]++
		second[k>>roughBits]++
	}
	var sums [2]uint32
	for k := range first {
		first[k], sums[0] = sums[0], sums[0]+first[k]
		second[k], sums[1] = sums[1], sums[1]+second[k]
	}
	room := make([]looseSpan, len(all))
	for i := range all {
		at := &first[of(&all[i])&(1<<roughBits-1)]
		room[*at] = all[i]
		*at++
	}
	for i := range room {
		at := &second[of(&room[i])>>roughBits]
		all[*at] = room[i]
		*at++
	}
}

// cursor is where the merge is in a run.
type cursor struct {
	spans []looseSpan
	run   int
}

func (a cursor) before(b cursor) bool {
	x, y := &a.spans[0], &b.spans[0]
	return x.start < y.start || x.start == y.start && (x.end > y.end || x.end == y.end && a.run < b.run)
}

// merging is a merge of sorted runs.
type merging struct {
	of    *looseSpans
	next  heap.Heap[cursor]
	visit func(*looseSpan) bool
	held  []looseSpan // taken from several runs, in order: all in runs comes behind it
	given int         // runs that were given up
}

// merge gives the spans of all runs in order, those that are alike as they
// came, until visit returns false. Runs are given up once they have been used; what
// was not visited is kept.
func (s *looseSpans) merge(visit func(*looseSpan) bool) {
	m := &merging{of: s, visit: visit, next: heap.Heap[cursor]{Before: cursor.before}}
	for k := range s.runs {
		s.runs[k].sort()
		m.next.Push(cursor{s.runs[k].spans, k})
	}
	defer m.keep() // a builder that is halted panics
	for m.next.Len() > 0 && m.choose() && m.together() {
	}
}

// keep puts what was not visited back.
func (m *merging) keep() {
	s := m.of
	slices.SortFunc(m.next.Items, func(a, b cursor) int { return cmp.Compare(a.run, b.run) })
	s.runs, s.n = nil, len(m.held)
	if len(m.held) > 0 {
		s.runs = append(s.runs, looseRun{m.held, true})
	}
	for _, c := range m.next.Items {
		s.runs = append(s.runs, looseRun{c.spans, true})
		s.n += len(c.spans)
	}
}

const (
	// fewRuns are merged by choosing the first again and again: mostly it goes on in
	// the same run.
	fewRuns = 4
	// Where it has gone to another run so often, for fewer than four spans each time,
	// many runs lie in the same time.
	turnsLooked = 256
)

// choose gives the first of all spans again and again, as long as runs mostly follow
// each other. It reports false once visit does.
func (m *merging) choose() bool {
	turns, seen := 0, 0
	for m.next.Len() > 0 {
		if turns == turnsLooked {
			if m.next.Len() > fewRuns && seen < 4*turns {
				return true
			}
			turns, seen = 0, 0
		}
		c := &m.next.Items[0]
		second := cursor{run: -1}
		if n := m.next.Len(); n > 1 {
			second = m.next.Items[1]
			if n > 2 && m.next.Items[2].before(second) {
				second = m.next.Items[2]
			}
		}
		turns++
		for {
			if !m.visit(&c.spans[0]) {
				return false
			}
			seen++
			if c.spans = c.spans[1:]; len(c.spans) == 0 || second.run >= 0 && second.before(*c) {
				break
			}
		}
		if len(c.spans) > 0 {
			m.next.Fix()
			continue
		}
		m.giveUp(*c)
		m.next.Pop()
	}
	return true
}

// giveUp lets a run go that has been used up.
func (m *merging) giveUp(c cursor) {
	m.of.runs[c.run].spans = nil
	if m.given++; m.given%drainRuns == 0 {
		runtime.GC() // lanes are made of what is given up
	}
}

// drainRuns is how many runs, of 200 kB, make collecting them worth it.
const drainRuns = 256

// together gives spans as choose does where many runs lie in the same time: it takes
// the next ones of all and sorts them, which costs less than choosing among the runs
// for each. It reports false once visit does.
func (m *merging) together() bool {
	slices.SortFunc(m.next.Items, func(a, b cursor) int { return cmp.Compare(a.run, b.run) })
	var room []looseSpan
	for runs := len(m.next.Items); runs > fewRuns && len(m.next.Items) > 0; {
		room, runs = m.take(room[:0])
		m.held = room
		if len(room) >= manySpans {
			sortRoughly(room)
		}
		sortLoose(m.held)
		for ; len(m.held) > 0; m.held = m.held[1:] {
			if !m.visit(&m.held[0]) {
				return false
			}
		}
	}
	left := m.next.Items
	m.next.Items = make([]cursor, 0, len(left))
	for _, c := range left {
		m.next.Push(c)
	}
	return true
}

// take takes from the runs, which are in order, what begins before a time until which
// none has many. It returns how many runs that was of.
func (m *merging) take(into []looseSpan) (taken []looseSpan, runs int) {
	const least = 16
	all := m.next.Items
	most := max(least, runSpans/len(all))
	var until int64
	bounded := false
	for i := range all {
		if c := all[i].spans; len(c) > most && (!bounded || c[most].start < until) {
			until, bounded = c[most].start, true
		}
	}
	left := all[:0]
	for _, c := range all {
		n := 0
		for n < len(c.spans) && (!bounded || c.spans[n].start < until) {
			n++
		}
		if n > 0 {
			runs++
		}
		into = append(into, c.spans[:n]...)
		if c.spans = c.spans[n:]; len(c.spans) > 0 {
			left = append(left, c)
		} else {
			m.giveUp(c)
		}
	}
	m.next.Items = left
	return into, runs
}
