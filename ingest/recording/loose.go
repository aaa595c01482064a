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

func (r *looseRun) sort() {
	if !r.sorted {
		slices.SortStableFunc(r.spans, func(a, b looseSpan) int { return a.order(&b) })
		r.sorted = true
	}
}

// merge gives the spans of all runs in order, those that are alike as they
// came, until visit returns false. With drain runs are given up once they have
// been used.
func (s *looseSpans) merge(drain bool, visit func(*looseSpan) bool) {
	type cursor struct{ run, at int }
	head := func(c cursor) *looseSpan { return &s.runs[c.run].spans[c.at] }
	before := func(a, b cursor) bool {
		c := head(a).order(head(b))
		return c < 0 || c == 0 && a.run < b.run
	}
	next := heap[cursor]{before: before}
	for k := range s.runs {
		s.runs[k].sort()
		next.push(cursor{run: k})
	}
	given := 0
	for next.len() > 0 {
		c := next.pop()
		spans := s.runs[c.run].spans
		for c.at < len(spans) && (next.len() == 0 || before(c, next.min())) {
			if !visit(&spans[c.at]) {
				return
			}
			c.at++
		}
		if c.at < len(spans) {
			next.push(c)
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

// layout sorts the spans by start, longest first, and nests them by
// containment within their group. A span that overlaps another without containing
// it or being contained, or one of another group, goes to the next nest, where it
// is an outermost call; the nests' lanes follow each other. With last the spans
// are given up. It reports false when the builder was stopped before all were laid
// out.
func (s *looseSpans) layout(b *Builder, last bool) (lanes []Lane, whole bool) {
	s.time, s.count = nil, nil
	nests := nests{seen: map[uint32]int{}}
	n := 0
	s.merge(last, func(x *looseSpan) bool {
		if n%runSpans == runSpans-1 && b.stopped() {
			return false
		}
		n++
		var args uint64
		var group uint32
		if x.args != 0 {
			args, group = s.args.At(int(x.args)-1), s.groups.At(int(x.args)-1)
		}
		call := nests.add(b, x, group, args)
		if int(call) >= len(s.time) {
			s.count, s.time = grown(s.count, int(call)), grown(s.time, int(call))
		}
		s.time[call] = b.time(s.time[call], x.end-x.start)
		s.count[call]++
		return true
	})
	for _, n := range nests.all {
		lanes = append(lanes, n.lanes...)
	}
	return lanes, n == s.n
}

func grown(s []int64, i int) []int64 {
	if i >= len(s) {
		s = append(s, make([]int64, max(64, 2*len(s), i+1)-len(s))...)
	}
	return s
}
