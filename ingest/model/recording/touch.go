package recording

import (
	"math"

	"ashlar/ingest/model/unordered"
)

// Where start and duration of spans were rounded apart, a span may begin a last digit
// before the one before it ends. Such spans do not overlap: the later one is moved to
// begin where the other ends. Moved spans can change places with others, so nothing is
// moved until the final layout, which lays out a track again from the first such span on.

// touch moves spans that begin up to most picoseconds too early.
type touch struct {
	most     int64 // see Builder.Touch
	first    int64 // start of the first span to be moved, noTouch if there is none
	moved    int64 // spans moved
	furthest int64 // the largest move
}

const noTouch = math.MaxInt64

// late returns how much later x is to begin, because open spans end up to most after its
// start. At most half of x is cut off.
func (n *nest) late(x *unordered.Span, most int64) int64 {
	start, last := x.Start, x.Start+min(most, (x.End-x.Start)/2)
	for d := len(n.ends) - 1; d >= 0 && n.ends[d] <= last; d-- {
		if n.lanes[d].LastStart() < x.Start {
			start = max(start, n.ends[d])
		}
	}
	return start - x.Start
}

// early notes a span that is to be moved.
func (ns *nests) early(x *unordered.Span) {
	if t := &ns.touch; t.most > 0 && len(ns.all) > 0 && x.Start < t.first && ns.all[0].late(x, t.most) > 0 {
		t.first = x.Start
	}
}

// moveTouching lays out the spans from the first that is to be moved on again, and moves
// them. It is for the final layout of spans without groups.
func (s *looseSpans) moveTouching(b *Builder) {
	t := &s.nests.touch
	if t.first == noTouch || s.nests.grouped || b.Stopped() {
		return
	}
	s.takeBack(b, t.first)
	var waiting []unordered.Span // moved spans, in order
	add := func(x *unordered.Span) {
		args, group := s.extra(x)
		s.nests.add(b, x, group, args)
	}
	// until adds the moved spans that come before x, all if it is nil.
	until := func(x *unordered.Span) {
		for len(waiting) > 0 && (x == nil || !x.Before(&waiting[0])) {
			add(&waiting[0])
			waiting = waiting[1:]
		}
	}
	n := 0
	s.runs.Merge(func(x *unordered.Span) bool {
		if n%unordered.RunSpans == unordered.RunSpans-1 && b.Stopped() {
			return false
		}
		n++
		until(x)
		late := int64(0)
		if len(s.nests.all) > 0 {
			late = s.nests.all[0].late(x, t.most)
		}
		if late == 0 {
			add(x)
			return true
		}
		t.moved, t.furthest = t.moved+1, max(t.furthest, late)
		moved := *x
		moved.Start += late
		waiting = append(waiting, moved) // nearly always in order
		for i := len(waiting) - 1; i > 0 && moved.Before(&waiting[i-1]); i-- {
			waiting[i-1], waiting[i] = moved, waiting[i-1]
		}
		return true
	})
	until(nil)
}
