package unordered

import (
	"cmp"
	"runtime"
	"slices"

	"ashlar/ingest/model/heap"
)

// cursor is the position of the merge in a run.
type cursor struct {
	spans []Span
	run   int
}

func (a cursor) before(b cursor) bool {
	x, y := &a.spans[0], &b.spans[0]
	return x.Start < y.Start || x.Start == y.Start && (x.End > y.End || x.End == y.End && a.run < b.run)
}

// merging is a merge of sorted runs.
type merging struct {
	of    *Runs
	next  heap.Heap[cursor]
	visit func(*Span) bool
	held  []Span // spans taken from several runs, in order; all spans left in runs come after them
	given int    // runs released so far
}

// Merge visits the spans of all runs in order, equal ones in order of arrival, until
// visit returns false. Runs are released once used; spans that were not visited are kept.
func (s *Runs) Merge(visit func(*Span) bool) {
	m := &merging{of: s, visit: visit, next: heap.Heap[cursor]{Before: cursor.before}}
	for k := range s.runs {
		s.runs[k].sort()
		m.next.Push(cursor{s.runs[k].spans, k})
	}
	defer m.keep() // also if a halted builder panics
	for m.next.Len() > 0 && m.choose() && m.together() {
	}
}

// keep puts the spans that were not visited back.
func (m *merging) keep() {
	s := m.of
	slices.SortFunc(m.next.Items, func(a, b cursor) int { return cmp.Compare(a.run, b.run) })
	s.runs, s.n = nil, len(m.held)
	if len(m.held) > 0 {
		s.runs = append(s.runs, run{m.held, true})
	}
	for _, c := range m.next.Items {
		s.runs = append(s.runs, run{c.spans, true})
		s.n += len(c.spans)
	}
}

const (
	// fewRuns is the number of runs up to which choosing the next span one by one is
	// best: usually it is in the same run as the last.
	fewRuns = 4
	// turnsLooked is the number of changes of run after which choose decides: if there
	// were fewer than four spans between changes on average, many runs overlap in time.
	turnsLooked = 256
)

// choose visits the spans in order, comparing the first of each run, as long as runs
// mostly follow each other. It returns false once visit does.
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

// giveUp releases a run that has been used up.
func (m *merging) giveUp(c cursor) {
	m.of.runs[c.run].spans = nil
	if m.given++; m.given%drainRuns == 0 {
		runtime.GC() // free discarded buffers, so that lanes reuse their memory
	}
}

// drainRuns is the number of released runs, of 200 kB each, that makes a garbage
// collection worthwhile.
const drainRuns = 256

// together visits spans like choose, for many runs that overlap in time: it takes the
// next spans of all runs and sorts them, which costs less than choosing a run for each
// span. It returns false once visit does.
func (m *merging) together() bool {
	slices.SortFunc(m.next.Items, func(a, b cursor) int { return cmp.Compare(a.run, b.run) })
	var room []Span
	for runs := len(m.next.Items); runs > fewRuns && len(m.next.Items) > 0; {
		room, runs = m.take(room[:0])
		m.held = room
		if len(room) >= manySpans {
			sortRoughly(room)
		}
		sortSpans(m.held)
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

// take takes spans from the runs, which must be in order: those that start before a time
// chosen so that no run contributes many. It also returns the number of runs they came
// from.
func (m *merging) take(into []Span) (taken []Span, runs int) {
	const least = 16
	all := m.next.Items
	most := max(least, RunSpans/len(all))
	var until int64
	bounded := false
	for i := range all {
		if c := all[i].spans; len(c) > most && (!bounded || c[most].Start < until) {
			until, bounded = c[most].Start, true
		}
	}
	left := all[:0]
	for _, c := range all {
		n := 0
		for n < len(c.spans) && (!bounded || c.spans[n].Start < until) {
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
