package recording

import (
	"cmp"
	"runtime"
	"slices"

	"ashlar/ingest/column"
)

// looseSpans are whole spans of a track that came in any order. They are kept
// as they came, and laid out by containment when a snapshot is wanted, or when
// there are many.
//
// Files mostly have them almost in order. So they are sorted in runs, as each
// fills up, and the runs are merged by the layout. What was laid out before stays
// as far as no new span comes before it: the rest of the lanes is taken off again
// and merged with what is new. So the outcome is that of laying all out at once.
type looseSpans struct {
	runs []looseRun // what is to be laid out
	n    int        // spans in runs
	args column.Vec[uint64]
	// groups go with args, as far as any span has one.
	groups column.Vec[uint32]
	nests  nests // what has been
	next   int   // compact looks again when there are so many spans in runs
	shown  bool  // snapshots have the lanes
}

// looseRun is some neighbouring spans, in order when sorted is set.
type looseRun struct {
	spans  []looseSpan
	sorted bool
}

// looseSpan is a span of 24 bytes.
type looseSpan struct {
	start, end int64
	frame      uint32 // and looseUnfinished
	args       uint32 // 1 + the index in looseSpans.args; 0 for none
}

const (
	runSpans        = 1 << 13
	looseUnfinished = 1 << 31
	// compactSpans is how many spans are worth laying out before all are there.
	compactSpans = 16 * runSpans
)

// order is by start, longest first.
func (x *looseSpan) order(y *looseSpan) int {
	if c := cmp.Compare(x.start, y.start); c != 0 {
		return c
	}
	return cmp.Compare(y.end, x.end)
}

// before reports whether x comes first.
func (x *looseSpan) before(y *looseSpan) bool {
	return x.start < y.start || x.start == y.start && x.end > y.end
}

func (s *looseSpans) add(start, end int64, frame FrameID, group uint32, args uint64, unfinished bool) {
	k := len(s.runs) - 1
	if k < 0 || len(s.runs[k].spans) >= runSpans {
		s.runs = append(s.runs, looseRun{})
		k++
	}
	r := &s.runs[k]
	if len(r.spans) == cap(r.spans) && len(r.spans) >= runSpans/8 {
		r.spans = append(make([]looseSpan, 0, runSpans), r.spans...) // and no more than that
	}
	r.spans = append(r.spans, s.loose(start, end, frame, group, args, unfinished))
	r.sorted = false
	s.n++
	if len(r.spans) == runSpans {
		r.sort()
	}
}

// loose makes a span.
func (s *looseSpans) loose(start, end int64, frame FrameID, group uint32, args uint64, unfinished bool) looseSpan {
	x := looseSpan{start: start, end: end, frame: uint32(frame)}
	if unfinished {
		x.frame |= looseUnfinished
	}
	if args != 0 || group != 0 {
		for group != 0 && s.groups.Len() < s.args.Len() {
			s.groups.Append(0)
		}
		if group != 0 {
			s.groups.Append(group)
		}
		s.args.Append(args)
		x.args = uint32(s.args.Len())
	}
	return x
}

// extra returns what a span has beside its times and frame.
func (s *looseSpans) extra(x *looseSpan) (args uint64, group uint32) {
	if x.args == 0 {
		return 0, 0
	}
	i := int(x.args) - 1
	if i < s.groups.Len() {
		group = s.groups.At(i)
	}
	return s.args.At(i), group
}

func (r *looseRun) sort() {
	if !r.sorted {
		sortLoose(r.spans)
		r.sorted = true
	}
}

// sortLoose sorts spans; those alike stay as they came. What is in order, or nearly,
// is hardly touched.
func sortLoose(all []looseSpan) {
	const block = 16
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

// cursor is where the merge is in a run.
type cursor struct {
	spans []looseSpan
	run   int
}

func (a cursor) before(b cursor) bool {
	x, y := &a.spans[0], &b.spans[0]
	return x.start < y.start || x.start == y.start && (x.end > y.end || x.end == y.end && a.run < b.run)
}

// merge gives the spans of all runs in order, those that are alike as they
// came, until visit returns false. Runs are given up once they have been used; what
// was not visited is kept.
func (s *looseSpans) merge(visit func(*looseSpan) bool) {
	next := heap[cursor]{before: cursor.before}
	for k := range s.runs {
		s.runs[k].sort()
		next.push(cursor{s.runs[k].spans, k})
	}
	defer func() { // a builder that is halted panics
		slices.SortFunc(next.items, func(a, b cursor) int { return cmp.Compare(a.run, b.run) })
		s.runs, s.n = nil, 0
		for _, c := range next.items {
			s.runs = append(s.runs, looseRun{c.spans, true})
			s.n += len(c.spans)
		}
	}()
	given := 0
	for next.len() > 0 {
		c := &next.items[0]
		second := cursor{run: -1}
		if n := next.len(); n > 1 {
			second = next.items[1]
			if n > 2 && next.items[2].before(second) {
				second = next.items[2]
			}
		}
		for {
			if !visit(&c.spans[0]) {
				return
			}
			if c.spans = c.spans[1:]; len(c.spans) == 0 || second.run >= 0 && second.before(*c) {
				break
			}
		}
		if len(c.spans) > 0 {
			next.fix()
			continue
		}
		s.runs[c.run].spans = nil
		next.pop()
		if given++; given%drainRuns == 0 {
			runtime.GC() // lanes are made of what is given up
		}
	}
}

// drainRuns is how many runs, of 200 kB, make collecting them worth it.
const drainRuns = 256

// layout nests the spans by containment within their group, in order. A span that
// overlaps another without containing it or being contained, or one of another
// group, goes to the next nest, where it is an outermost call; the nests' lanes
// follow each other. It reports false when the builder was stopped before all were
// laid out; with last the others are given up then.
func (s *looseSpans) layout(b *Builder, last bool) (whole bool) {
	lanes, pending := s.nests.count(), s.n
	s.takeBack(b)
	n := 0
	defer func() {
		if s.n == 0 || last {
			s.runs, s.n, s.args, s.groups = nil, 0, column.Vec[uint64]{}, column.Vec[uint32]{}
		}
		s.next = 0
		b.held.loose += int64(s.n - pending)
		b.held.lanes += int64(s.nests.count() - lanes)
	}()
	s.nests.grouped = s.nests.grouped || s.groups.Len() > 0
	s.merge(func(x *looseSpan) bool {
		if n%runSpans == runSpans-1 && b.Stopped() {
			return false
		}
		n++
		args, group := s.extra(x)
		s.nests.add(b, x, group, args)
		return true
	})
	return s.n == 0
}

// takeBack takes what was laid out off its lanes again from the time on at which the
// first of the spans that are to be begins: where a span of no length belongs that
// stands at the end of another depends on what else begins there.
func (s *looseSpans) takeBack(b *Builder) {
	ns := &s.nests
	if ns.seen == nil {
		ns.seen = map[uint32]int{}
	}
	first := s.first()
	if first == nil {
		return
	}
	var old []looseRun
	type turned struct {
		looseSpan
		turn uint32
	}
	var grouped []turned
	for _, n := range ns.all {
		for d := range n.lanes {
			l := &n.lanes[d]
			from := l.from(first.start)
			if from == l.Len() {
				continue
			}
			b.uncount(l, from)
			spans := make([]looseSpan, 0, l.Len()-from)
			for i := from; i < l.Len(); i++ {
				m := n.markOf(d, i)
				x := s.loose(l.Start(i), l.End(i), b.rec.Calls.Frame(l.Call(i)), m.group, l.Args(i), l.Unfinished(i))
				if ns.grouped {
					grouped = append(grouped, turned{x, m.turn})
				} else {
					spans = append(spans, x)
				}
			}
			if len(spans) > 0 {
				old = append(old, looseRun{spans, true})
			}
			n.keep(d, from, s.shown)
			s.n += l.Len() - from
		}
	}
	if len(grouped) > 0 {
		slices.SortFunc(grouped, func(x, y turned) int {
			return cmp.Or(x.order(&y.looseSpan), cmp.Compare(x.turn, y.turn))
		})
		r := looseRun{sorted: true}
		for i := range grouped {
			r.spans = append(r.spans, grouped[i].looseSpan)
		}
		old = append(old, r)
	}
	s.runs = append(old, s.runs...)
	ns.reopen()
}

// first is the first of the spans that are to be laid out, nil when there are none.
func (s *looseSpans) first() (first *looseSpan) {
	for k := range s.runs {
		r := &s.runs[k]
		r.sort()
		if len(r.spans) > 0 && (first == nil || r.spans[0].before(first)) {
			first = &r.spans[0]
		}
	}
	return first
}

// compact lays out what came so far when there is much of it and it hardly changes
// what is laid out: lanes take less room than spans, and less is left for the end.
func (s *looseSpans) compact(b *Builder) {
	if s.n < max(compactSpans, s.next) {
		return
	}
	if s.next = 2 * s.n; 4*s.nests.since(s.first().start) < s.n {
		s.layout(b, false)
	}
}
