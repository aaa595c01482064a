package recording

import (
	"cmp"
	"slices"
	"sort"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/unordered"
)

// Some spans overlap their siblings: Read from 2 to 5 and Write from 3 to 7, both within
// Nested from 1 to 10. A lane holds only one of two spans that overlap, so Write becomes an
// outermost call in another nest. Still, the time from 5 to 7, which only Write covers,
// must not be self time of Nested: it becomes a span named Overlapping within Nested. So does
// the time of a span within Write, which lies in both.

// Overlapping is the name of spans that cover the part of another span in which only
// spans in other lanes ran. They are not in the file.
const Overlapping = "[overlapping spans]"

// Filled returns the number of spans named [Overlapping].
func (r *Recording) Filled() (n int64) {
	for c, count := range r.SpanCount {
		if count > 0 && r.FuncName(CallID(c)) == Overlapping {
			n += count
		}
	}
	return n
}

// overlap is a span that became an outermost call although another span contains it: span
// number index of a lane of a nest.
type overlap struct {
	start, end        int64
	nest, lane, index uint32
	outermost         bool // it is in no other span either
}

// holds reports whether the open spans of the nest are of a group.
func (n *nest) holds(group uint32) bool {
	k := len(n.groups)
	return k > 0 && n.groups[k-1] == group
}

// tear notes that x goes to another nest although an open span of nest k contains it. It
// reports whether there is such a span.
func (ns *nests) tear(k int, x *unordered.Span, outermost bool) bool {
	n := ns.all[k]
	until := needs(x, n.slack)
	d := sort.Search(len(n.ends), func(d int) bool { return n.ends[d] < until }) - 1
	if d < 0 {
		return false
	}
	if x.Start < x.End {
		ns.torn = append(ns.torn, overlap{x.Start, x.End, uint32(k), uint32(d), uint32(n.lanes[d].Len() - 1), outermost})
	}
	return true
}

// forget drops the overlaps of spans that begin at a time or later.
func (ns *nests) forget(from int64) {
	k, _ := slices.BinarySearchFunc(ns.torn, from, func(o overlap, from int64) int { return cmp.Compare(o.start, from) })
	ns.torn = ns.torn[:k]
}

// fill adds the spans named Overlapping, and returns their number.
func (ns *nests) fill(b *Builder) (added int64) {
	slices.SortFunc(ns.torn, func(x, y overlap) int {
		return cmp.Or(cmp.Compare(x.nest, y.nest), cmp.Compare(x.lane, y.lane), cmp.Compare(x.index, y.index), cmp.Compare(x.start, y.start))
	})
	for i := range ns.torn {
		if o := &ns.torn[i]; o.outermost {
			ns.again += o.end - o.start
		}
	}
	for len(ns.torn) > 0 {
		first := &ns.torn[0]
		n := slices.IndexFunc(ns.torn, func(o overlap) bool { return o.nest != first.nest || o.lane != first.lane })
		if n < 0 {
			n = len(ns.torn)
		}
		added += ns.all[first.nest].fill(b, int(first.lane), ns.torn[:n])
		ns.torn = ns.torn[n:]
	}
	ns.torn = nil
	return added
}

// fill adds the spans for the overlaps of one lane to the lane below.
func (n *nest) fill(b *Builder, lane int, torn []overlap) (added int64) {
	if lane+1 == len(n.lanes) {
		n.lanes = append(n.lanes, lanes.New(b.shelf, false))
	}
	above, old := &n.lanes[lane], n.lanes[lane+1]
	f := filler{b: b, old: &old, lane: lanes.New(b.shelf, false), frame: b.FunctionFrame(b.Function(Function{Name: Overlapping}))}
	for len(torn) > 0 {
		index := torn[0].index
		start, end, call := above.Start(int(index)), above.End(int(index)), above.Call(int(index))
		f.within(call, start)
		for ; len(torn) > 0 && torn[0].index == index; torn = torn[1:] {
			f.cover(torn[0].start, min(torn[0].end, end))
		}
	}
	f.until(old.Len())
	n.lanes[lane+1] = f.lane
	return int64(f.lane.Len() - old.Len())
}

// filler copies a lane, and adds spans where it has gaps.
type filler struct {
	b     *Builder
	old   *lanes.Lane
	at    int // the next span of old
	lane  lanes.Lane
	frame FrameID
	call  CallID // call of the spans to add
	end   int64  // everything before it is covered or stays a gap
}

// until copies the spans before span n.
func (f *filler) until(n int) {
	for ; f.at < n; f.at++ {
		l, i := f.old, f.at
		f.lane.Append(l.Start(i), l.End(i), l.Call(i), l.Args(i), l.Unfinished(i))
		f.end = max(f.end, l.End(i))
	}
}

// within begins the gaps within a span.
func (f *filler) within(parent CallID, start int64) {
	for f.at < f.old.Len() && f.old.Start(f.at) < start {
		f.until(f.at + 1)
	}
	f.call, f.end = f.b.Call(parent, f.frame), start
}

// cover adds spans for the gaps from start to end.
func (f *filler) cover(start, end int64) {
	f.end = max(f.end, start)
	for f.end < end {
		gap, next := end, f.at < f.old.Len() && f.old.Start(f.at) < end
		if next {
			gap = f.old.Start(f.at)
		}
		if f.end < gap {
			f.lane.Append(f.end, gap, f.call, 0, false)
			f.b.countSpan(f.call, gap-f.end)
			f.end = gap
		}
		if next {
			f.until(f.at + 1)
		}
	}
}
