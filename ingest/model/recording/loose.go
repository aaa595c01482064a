package recording

import (
	"cmp"
	"slices"

	"ashlar/ingest/model/column"
	"ashlar/ingest/model/unordered"
)

// looseSpans are complete spans of a track that arrive in any order. They are stored as
// they arrive, and laid out by containment for a snapshot, or when there are many.
//
// Spans laid out earlier stay in the lanes, except those that start at or after the first
// new span: these are taken off the lanes and merged with the new spans. The result is
// the same as laying out all spans at once.
type looseSpans struct {
	runs unordered.Runs // spans to be laid out
	args column.Vec[uint64]
	// groups is parallel to args, but empty until a span has a group.
	groups column.Vec[uint32]
	nests  nests // spans already laid out
	next   int   // compact waits until this many spans are to be laid out
	shown  bool  // snapshots share the lanes
}

const (
	looseUnfinished = 1 << 31 // flag in an unordered.Span's Frame, next to the FrameID
	// compactSpans is the number of spans from which an early layout is worthwhile.
	compactSpans = 16 * unordered.RunSpans
)

func (s *looseSpans) add(start, end int64, frame FrameID, group uint32, args uint64, unfinished bool) {
	s.runs.Add(s.loose(start, end, frame, group, args, unfinished))
}

// loose returns a span, and stores its args and group.
func (s *looseSpans) loose(start, end int64, frame FrameID, group uint32, args uint64, unfinished bool) unordered.Span {
	x := unordered.Span{Start: start, End: end, Frame: uint32(frame)}
	if unfinished {
		x.Frame |= looseUnfinished
	}
	if args != 0 || group != 0 {
		for group != 0 && s.groups.Len() < s.args.Len() {
			s.groups.Append(0)
		}
		if group != 0 {
			s.groups.Append(group)
		}
		s.args.Append(args)
		x.Args = uint32(s.args.Len())
	}
	return x
}

// extra returns the args and group of a span.
func (s *looseSpans) extra(x *unordered.Span) (args uint64, group uint32) {
	if x.Args == 0 {
		return 0, 0
	}
	i := int(x.Args) - 1
	if i < s.groups.Len() {
		group = s.groups.At(i)
	}
	return s.args.At(i), group
}

// layout nests the spans by containment within their group, in order. A span that ends at
// most Builder.Slack later than the span around it is cut to end with it. A span that
// partly overlaps another, or overlaps a span of another group, goes to the next nest, as
// an outermost call; with last set, a span that begins at most Builder.Touch too early is
// moved instead. The lanes of the nests follow each other. If the builder is stopped,
// layout returns false and keeps the remaining spans for later or, with last set, drops
// them.
func (s *looseSpans) layout(b *Builder, last bool) (whole bool) {
	lanes, pending := s.nests.count(), s.runs.Len()
	if s.nests.seen == nil {
		s.nests.seen = map[uint32]placed{}
		s.nests.touch = touch{most: b.touch, first: noTouch}
	}
	if first := s.runs.First(); first != nil {
		s.takeBack(b, first.Start)
	}
	n := 0
	defer func() {
		if s.runs.Len() == 0 || last {
			s.runs, s.args, s.groups = unordered.Runs{}, column.Vec[uint64]{}, column.Vec[uint32]{}
		}
		s.next = 0
		b.held.loose += int64(s.runs.Len() - pending)
		b.held.lanes += int64(s.nests.count() - lanes)
	}()
	s.nests.grouped, s.nests.slack = s.nests.grouped || s.groups.Len() > 0, b.slack
	s.runs.Merge(func(x *unordered.Span) bool {
		if n%unordered.RunSpans == unordered.RunSpans-1 && b.Stopped() {
			return false
		}
		n++
		args, group := s.extra(x)
		s.nests.early(x)
		s.nests.add(b, x, group, args)
		return true
	})
	if last {
		s.moveTouching(b)
	}
	return s.runs.Len() == 0
}

// takeBack removes from the lanes all spans that start at a time or later, the start of
// the first new span. Spans with the same start are included because the place of an empty
// span at the end of another depends on the other spans that start there.
func (s *looseSpans) takeBack(b *Builder, start int64) {
	ns := &s.nests
	ns.forget(start)
	var old [][]unordered.Span
	type turned struct {
		unordered.Span
		turn uint32
	}
	var grouped []turned
	for _, n := range ns.all {
		for d := range n.lanes {
			l := &n.lanes[d]
			from := l.From(start)
			if from == l.Len() {
				continue
			}
			b.uncount(l, from)
			spans, cuts := make([]unordered.Span, 0, l.Len()-from), n.cutsFrom(d, from)
			for i := from; i < l.Len(); i++ {
				m, end := n.markOf(d, i), l.End(i)
				if len(cuts) > 0 && int(cuts[0].span) == i {
					end += int64(cuts[0].by)
					cuts = cuts[1:]
				}
				x := s.loose(l.Start(i), end, b.rec.Calls.Frame(l.Call(i)), m.group, l.Args(i), l.Unfinished(i))
				if ns.grouped {
					grouped = append(grouped, turned{x, m.turn})
				} else {
					spans = append(spans, x)
				}
			}
			if len(spans) > 0 {
				old = append(old, spans)
			}
			n.keep(d, from, s.shown)
		}
	}
	if len(grouped) > 0 {
		slices.SortFunc(grouped, func(x, y turned) int {
			return cmp.Or(x.Order(&y.Span), cmp.Compare(x.turn, y.turn))
		})
		spans := make([]unordered.Span, len(grouped))
		for i := range grouped {
			spans[i] = grouped[i].Span
		}
		old = append(old, spans)
	}
	s.runs.Precede(old)
	ns.reopen()
}

// compact lays out the spans so far, if there are many and few spans already laid out
// must be moved for them: lanes take less memory than loose spans, and less work is left
// for the end.
func (s *looseSpans) compact(b *Builder) {
	if s.runs.Len() < max(compactSpans, s.next) {
		return
	}
	if s.next = 2 * s.runs.Len(); 4*s.nests.since(s.runs.First().Start) < s.runs.Len() {
		s.layout(b, false)
	}
}
