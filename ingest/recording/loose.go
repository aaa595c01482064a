package recording

import (
	"cmp"
	"runtime"
	"slices"
)

// looseSpans are whole spans of a track that came in any order. They are kept
// as they came and laid out by containment when a snapshot is wanted.
//
// Files mostly have them almost in order. So they are sorted in runs, as each
// fills up, and the runs are merged by the layout.
type looseSpans struct {
	runs []looseRun
	n    int
	args Vec[uint64]
	// groups go with args: every span has args where any has a group.
	groups Vec[uint32]
	// time and count are the totals by call of the last layout.
	time, count []int64
}

// looseRun is some neighbouring spans, in order when sorted is set. Only the
// last run of a track is not full.
type looseRun struct {
	spans  []looseSpan
	sorted bool
}

// looseSpan is a span of 24 bytes: there are as many as a file has, beside the
// lanes that are made of them.
type looseSpan struct {
	start, end int64
	frame      uint32 // and looseUnfinished
	args       uint32 // 1 + the index in looseSpans.args; 0 for none
}

const (
	runSpans        = 1 << 13
	looseUnfinished = 1 << 31
)

// order is by start, longest first.
func (x *looseSpan) order(y *looseSpan) int {
	if c := cmp.Compare(x.start, y.start); c != 0 {
		return c
	}
	return cmp.Compare(y.end, x.end)
}

func (s *looseSpans) add(start, end int64, frame FrameID, group uint32, args uint64, unfinished bool) {
	x := looseSpan{start: start, end: end, frame: uint32(frame)}
	if unfinished {
		x.frame |= looseUnfinished
	}
	if args != 0 || group != 0 {
		s.args.Append(args)
		s.groups.Append(group)
		x.args = uint32(s.args.Len())
	}
	k := len(s.runs) - 1
	if k < 0 || len(s.runs[k].spans) == runSpans {
		s.runs = append(s.runs, looseRun{})
		k++
	}
	r := &s.runs[k]
	if len(r.spans) == cap(r.spans) && len(r.spans) >= runSpans/8 {
		r.spans = append(make([]looseSpan, 0, runSpans), r.spans...) // and no more than that
	}
	r.spans = append(r.spans, x)
	r.sorted = false
	s.n++
	if len(r.spans) == runSpans {
		r.sort()
	}
}

func (s *looseSpans) len() int { return s.n }

func (r *looseRun) sort() {
	if !r.sorted {
		slices.SortStableFunc(r.spans, func(a, b looseSpan) int { return a.order(&b) })
		r.sorted = true
	}
}

// merge gives the spans of all runs in order, those that are alike as they
// came. With drain runs are given up once they have been used.
func (s *looseSpans) merge(drain bool, visit func(*looseSpan)) {
	for k := range s.runs {
		s.runs[k].sort()
	}
	type cursor struct{ run, at int }
	head := func(c cursor) *looseSpan { return &s.runs[c.run].spans[c.at] }
	before := func(a, b cursor) bool {
		c := head(a).order(head(b))
		return c < 0 || c == 0 && a.run < b.run
	}
	// waiting are the runs by their first spans. Those under way are in open,
	// the next one last: few, since runs hardly overlap.
	waiting := make([]cursor, len(s.runs))
	for k := range waiting {
		waiting[k].run = k
	}
	slices.SortFunc(waiting, func(a, b cursor) int {
		if before(a, b) {
			return -1
		}
		return 1
	})
	var open []cursor
	given := 0
	for len(waiting) > 0 || len(open) > 0 {
		if len(waiting) > 0 && (len(open) == 0 || before(waiting[0], open[len(open)-1])) {
			open, waiting = append(open, waiting[0]), waiting[1:]
		}
		c := open[len(open)-1]
		open = open[:len(open)-1]
		spans := s.runs[c.run].spans
		for c.at < len(spans) {
			visit(&spans[c.at])
			c.at++
			if c.at < len(spans) && (len(waiting) > 0 && before(waiting[0], c) || len(open) > 0 && before(open[len(open)-1], c)) {
				break
			}
		}
		if c.at < len(spans) {
			i := len(open)
			for open = append(open, c); i > 0 && before(open[i-1], c); i-- {
				open[i] = open[i-1]
			}
			open[i] = c
			continue
		}
		if drain {
			s.runs[c.run].spans = nil
			if given++; given%drainRuns == 0 {
				runtime.GC() // what is given up is what lanes are made of
			}
		}
	}
	if drain {
		s.runs = nil
	}
}

// drainRuns is how many runs, of 200 kB, make collecting them worth it.
const drainRuns = 256

// nest is one column of properly nested spans: its open ends, innermost last,
// and the lanes it fills.
type nest struct {
	ends   []int64
	calls  []CallID
	lanes  []Lane
	groups []uint32 // of the open spans
}

// layout sorts the spans by start, longest first, and nests them by
// containment within their group. A span that overlaps another without containing
// it or being contained, or one of another group, goes to the next nest, where it
// is an outermost call; the nests' lanes follow each other. With last the spans
// are given up.
func (s *looseSpans) layout(b *Builder, last bool) []Lane {
	s.time, s.count = nil, nil
	var nests []*nest
	seen := map[uint32]int{} // nests by group
	s.merge(last, func(x *looseSpan) {
		var args uint64
		var group uint32
		if x.args != 0 {
			args, group = s.args.At(int(x.args)-1), s.groups.At(int(x.args)-1)
		}
		k := place(nests, seen, x, group)
		if k == len(nests) {
			nests = append(nests, new(nest))
		}
		call := nests[k].add(b, x, group, args)
		if int(call) >= len(s.time) {
			s.count, s.time = grown(s.count, int(call)), grown(s.time, int(call))
		}
		s.time[call] += x.end - x.start
		s.count[call]++
	})
	var lanes []Lane
	for _, n := range nests {
		lanes = append(lanes, n.lanes...)
	}
	return lanes
}

// place finds the nest for a span: the first that takes it; for one of a group
// that where its group was last seen, if it goes on there, else the first that is
// free.
func place(nests []*nest, last map[uint32]int, x *looseSpan, group uint32) int {
	if k, ok := last[group]; ok && nests[k].takes(x, group) && len(nests[k].ends) > 0 {
		return k
	}
	k := 0
	for k < len(nests) && (!nests[k].takes(x, group) || group != 0 && len(nests[k].ends) > 0) {
		k++
	}
	if group != 0 {
		last[group] = k
	}
	return k
}

// takes drops what has ended by the span's start and reports whether the span
// fits inside what is left.
func (n *nest) takes(x *looseSpan, group uint32) bool {
	for len(n.ends) > 0 && n.over(len(n.ends)-1, x) {
		n.ends = n.ends[:len(n.ends)-1]
		n.calls = n.calls[:len(n.calls)-1]
		n.groups = n.groups[:len(n.groups)-1]
	}
	k := len(n.ends) - 1
	return k < 0 || x.end <= n.ends[k] && group == n.groups[k]
}

// over reports whether the open span at depth d is past when x starts. A span
// of no length at the very end of another still belongs to it.
func (n *nest) over(d int, x *looseSpan) bool {
	end := n.ends[d]
	return end < x.start || end == x.start && (x.end > x.start || n.lanes[d].lastStart() == end)
}

func (l *Lane) lastStart() int64 { return l.Start(l.n - 1) }

func (n *nest) add(b *Builder, x *looseSpan, group uint32, args uint64) CallID {
	parent := NoCall
	d := len(n.ends)
	if d > 0 {
		parent = n.calls[d-1]
	}
	call := b.Call(parent, FrameID(x.frame&^looseUnfinished))
	n.ends = append(n.ends, x.end)
	n.calls = append(n.calls, call)
	n.groups = append(n.groups, group)
	if d == len(n.lanes) {
		n.lanes = append(n.lanes, Lane{})
	}
	l := &n.lanes[d]
	l.append(x.start, x.end, call, args)
	if x.frame&looseUnfinished != 0 {
		l.unfinished = append(l.unfinished, l.Len()-1)
	}
	return call
}

func grown(s []int64, i int) []int64 {
	if i >= len(s) {
		s = append(s, make([]int64, max(64, 2*len(s), i+1)-len(s))...)
	}
	return s
}
