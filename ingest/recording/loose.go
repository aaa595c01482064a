package recording

import (
	"cmp"
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
