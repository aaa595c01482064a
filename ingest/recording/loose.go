package recording

import (
	"cmp"
	"slices"
)

// looseSpans are whole spans of a track that came in any order. They are kept
// as they came and laid out by containment when a snapshot is wanted.
type looseSpans struct {
	spans  []looseSpan
	sorted bool
	// time and count are the totals by call of the last layout.
	time, count []int64
}

type looseSpan struct {
	start, end int64
	frame      FrameID
	unfinished bool
	args       uint64
}

func (s *looseSpans) add(x looseSpan) {
	s.spans = append(s.spans, x)
	s.sorted = false
}

func (s *looseSpans) len() int { return len(s.spans) }

// nest is one column of properly nested spans: its open ends, innermost last,
// and the lanes it fills.
type nest struct {
	ends  []int64
	calls []CallID
	lanes []Lane
}

// layout sorts the spans by start, longest first, and nests them by
// containment. A span that overlaps another without containing it or being
// contained goes to the next nest, where it is an outermost call; the nests'
// lanes follow each other.
func (s *looseSpans) layout(b *Builder) []Lane {
	if !s.sorted {
		slices.SortStableFunc(s.spans, func(a, b looseSpan) int {
			if c := cmp.Compare(a.start, b.start); c != 0 {
				return c
			}
			return cmp.Compare(b.end, a.end)
		})
		s.sorted = true
	}
	s.time, s.count = nil, nil
	var nests []*nest
	for i := range s.spans {
		x := &s.spans[i]
		k := 0
		for k < len(nests) && !nests[k].takes(x) {
			k++
		}
		if k == len(nests) {
			nests = append(nests, new(nest))
		}
		call := nests[k].add(b, x)
		s.count, s.time = grown(s.count, int(call)), grown(s.time, int(call))
		s.time[call] += x.end - x.start
		s.count[call]++
	}
	var lanes []Lane
	for _, n := range nests {
		lanes = append(lanes, n.lanes...)
	}
	return lanes
}

// takes drops what has ended by the span's start and reports whether the span
// fits inside what is left.
func (n *nest) takes(x *looseSpan) bool {
	for len(n.ends) > 0 && n.over(len(n.ends)-1, x) {
		n.ends = n.ends[:len(n.ends)-1]
		n.calls = n.calls[:len(n.calls)-1]
	}
	return len(n.ends) == 0 || x.end <= n.ends[len(n.ends)-1]
}

// over reports whether the open span at depth d is past when x starts. A span
// of no length at the very end of another still belongs to it.
func (n *nest) over(d int, x *looseSpan) bool {
	end := n.ends[d]
	return end < x.start || end == x.start && (x.end > x.start || n.lanes[d].lastStart() == end)
}

func (l *Lane) lastStart() int64 { return l.Start(l.n - 1) }

func (n *nest) add(b *Builder, x *looseSpan) CallID {
	parent := NoCall
	d := len(n.ends)
	if d > 0 {
		parent = n.calls[d-1]
	}
	call := b.Call(parent, x.frame)
	n.ends = append(n.ends, x.end)
	n.calls = append(n.calls, call)
	if d == len(n.lanes) {
		n.lanes = append(n.lanes, Lane{})
	}
	l := &n.lanes[d]
	l.append(x.start, x.end, call, x.args)
	if x.unfinished {
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
