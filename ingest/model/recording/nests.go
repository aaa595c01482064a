package recording

import (
	"cmp"
	"math"
	"slices"

	"ashlar/ingest/model/column"
	"ashlar/ingest/model/heap"
	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/unordered"
)

// nest is a stack of lanes with properly nested spans, with the ends of its open spans,
// innermost last.
type nest struct {
	ends   []int64
	calls  []CallID
	lanes  []lanes.Lane
	groups []uint32           // groups of the open spans
	slots  []int              // slots of the open spans, see innermost
	marks  []column.Vec[mark] // parallel to lanes; nil if there are no groups
	slack  int64              // see Builder.Slack
	cuts   [][]cut            // by lane, in order
}

// cut records a span that was cut to end with its parent, and by how much.
type cut struct{ span, by uint32 }

// needs returns the earliest time at which a span that contains x may end: up to half of
// x may be cut off as slack.
func needs(x *unordered.Span, slack int64) int64 {
	return x.End - min(slack, (x.End-x.Start)/2)
}

// mark is the group of a span in a lane, and its turn: its position in the order of
// layout. Equal spans nest in that order.
type mark struct{ group, turn uint32 }

// takes drops the open spans that have ended when x starts, and reports whether x fits
// inside the remaining ones.
func (n *nest) takes(x *unordered.Span, group uint32) bool {
	for len(n.ends) > 0 && n.over(len(n.ends)-1, x) {
		n.ends = n.ends[:len(n.ends)-1]
		n.calls = n.calls[:len(n.calls)-1]
		n.groups = n.groups[:len(n.groups)-1]
	}
	n.slots = n.slots[:min(len(n.slots), len(n.ends))]
	k := len(n.ends) - 1
	return k < 0 || needs(x, n.slack) <= n.ends[k] && group == n.groups[k]
}

// over reports whether the open span at depth d has ended when x starts. A zero-length
// span at the very end of another still belongs to it.
func (n *nest) over(d int, x *unordered.Span) bool {
	end := n.ends[d]
	return end < x.Start || end == x.Start && (x.End > x.Start || n.lanes[d].LastStart() == end)
}

// drop removes open spans that ended before a time.
func (n *nest) drop(before int64) {
	k := len(n.ends)
	for k > 0 && n.ends[k-1] < before {
		k--
	}
	n.ends, n.calls, n.groups = n.ends[:k], n.calls[:k], n.groups[:k]
	n.slots = n.slots[:min(len(n.slots), k)]
}

func (n *nest) add(b *Builder, x *unordered.Span, group uint32, args uint64) CallID {
	parent := NoCall
	d := len(n.ends)
	if d > 0 {
		parent = n.calls[d-1]
	}
	call := b.Call(parent, FrameID(x.Frame&^looseUnfinished))
	end := x.End
	if d > 0 && end > n.ends[d-1] {
		end = n.ends[d-1]
		n.cut(d, uint32(x.End-end))
	}
	n.ends = append(n.ends, end)
	n.calls = append(n.calls, call)
	n.groups = append(n.groups, group)
	if d == len(n.lanes) {
		n.lanes = append(n.lanes, lanes.New(b.shelf, false))
	}
	l := &n.lanes[d]
	l.Append(x.Start, end, call, args, x.Frame&looseUnfinished != 0)
	b.countSpan(call, end-x.Start)
	return call
}

// cut records that the next span of a lane is made to end earlier than in the file.
func (n *nest) cut(lane int, by uint32) {
	for lane >= len(n.cuts) {
		n.cuts = append(n.cuts, nil)
	}
	at := 0
	if lane < len(n.lanes) {
		at = n.lanes[lane].Len()
	}
	n.cuts[lane] = append(n.cuts[lane], cut{uint32(at), by})
}

// cutsFrom returns the cuts of a lane's spans from span i on.
func (n *nest) cutsFrom(lane, i int) []cut {
	if lane >= len(n.cuts) {
		return nil
	}
	k, _ := slices.BinarySearchFunc(n.cuts[lane], uint32(i), func(c cut, i uint32) int { return cmp.Compare(c.span, i) })
	return n.cuts[lane][k:]
}

// label stores the mark of the span added last.
func (n *nest) label(m mark) {
	d := len(n.ends) - 1
	for d >= len(n.marks) {
		n.marks = append(n.marks, column.Vec[mark]{})
	}
	for n.marks[d].Len() < n.lanes[d].Len()-1 {
		n.marks[d].Append(mark{}) // spans added before there were groups
	}
	n.marks[d].Append(m)
}

// markOf returns the mark of span i of a lane.
func (n *nest) markOf(lane, i int) mark {
	if lane < len(n.marks) && i < n.marks[lane].Len() {
		return n.marks[lane].At(i)
	}
	return mark{}
}

// keep cuts a lane to its first spans, together with their cuts and marks.
func (n *nest) keep(lane, spans int, shown bool) {
	n.lanes[lane].Cut(spans, shown)
	if lane < len(n.cuts) {
		n.cuts[lane] = n.cuts[lane][:len(n.cuts[lane])-len(n.cutsFrom(lane, spans))]
	}
	if lane < len(n.marks) {
		n.marks[lane].Cut(min(spans, n.marks[lane].Len()), false) // snapshots have no marks
	}
}

// reopen restores the open spans at the time when the last remaining span was added. It
// returns that span and its turn.
func (n *nest) reopen() (last unordered.Span, turn uint32) {
	for len(n.lanes) > 0 && n.lanes[len(n.lanes)-1].Len() == 0 {
		n.lanes = n.lanes[:len(n.lanes)-1]
	}
	n.marks = n.marks[:min(len(n.marks), len(n.lanes))]
	n.ends, n.calls, n.groups = n.ends[:0], n.calls[:0], n.groups[:0]
	depth := -1
	for d := range n.lanes {
		l := &n.lanes[d]
		i := l.Len() - 1
		x := unordered.Span{Start: l.Start(i), End: l.End(i)}
		if depth < 0 || !x.Before(&last) {
			depth, last = d, x
		}
	}
	for d := range depth + 1 {
		l := &n.lanes[d]
		i := l.Len() - 1
		m := n.markOf(d, i)
		n.ends, n.calls, n.groups = append(n.ends, l.End(i)), append(n.calls, l.Call(i)), append(n.groups, m.group)
		turn = m.turn
	}
	return last, turn
}

// nests are the nests of a track. A span without a group lies in the open span that began last
// among those that contain it, and otherwise begins in the first nest without open spans. With
// two nests or more, indices find that nest, because spans that all overlap make as many nests as
// there are spans.
type nests struct {
	all   []*nest
	seen  map[uint32]placed // where each group was last seen
	turn  uint32            // number of spans added since there were groups
	torn  []overlap         // in order of their starts
	again int64             // the time of those that are outermost
	// grouped means that some span has a group.
	grouped bool
	slack   int64
	touch   touch
	were    []seenBefore // earlier values of seen, for reopen

	inner innermost
	// room is a binary tree over the nests. Its second half holds whether each nest has no
	// open span; each element of the first half is set if one of its two children is.
	room []bool
	now  int64 // the start of the latest span
	ends heap.Heap[openEnd]
	// tied are the nests with an open span that ends now, and flat those with a
	// zero-length span at that time. Whether such a span is over depends on the next span
	// (see over). So this is checked only once the next span comes. A span with a group
	// checks only the nests before the one found for it.
	tied, flat heap.Heap[int]
}

// placed is the place of a group's spans. nest is the nest in which the group was last
// seen; home is the nest with the span that encloses them, if they had to go to another
// nest. -1 means none.
type placed struct{ nest, home int32 }

// seenBefore is the place that a group had before the span with the given turn was added.
type seenBefore struct {
	turn, group uint32
	placed
}

type openEnd struct {
	at   int64
	nest int
}

// add adds a span. Spans must come in order of their starts.
func (ns *nests) add(b *Builder, x *unordered.Span, group uint32, args uint64) CallID {
	if len(ns.all) > 1 {
		ns.advance(x.Start)
	}
	k := ns.place(x, group)
	if k == len(ns.all) {
		ns.all = append(ns.all, &nest{slack: ns.slack})
		if k > 0 {
			ns.index(x.Start)
		}
	}
	call := ns.all[k].add(b, x, group, args)
	if ns.grouped {
		ns.turn++
		ns.all[k].label(mark{group, ns.turn})
	}
	if len(ns.all) > 1 {
		ns.fits(k)
		if x.End > x.Start {
			ns.ends.Push(openEnd{x.End, k})
		} else {
			ns.flat.Push(k)
		}
	}
	return call
}

// count returns the number of lanes.
func (ns *nests) count() (lanes int) {
	for _, n := range ns.all {
		lanes += len(n.lanes)
	}
	return lanes
}

// lanes returns the lanes of all nests, one nest after another.
func (ns *nests) lanes() (all []lanes.Lane) {
	for _, n := range ns.all {
		all = append(all, n.lanes...)
	}
	return all
}

// since counts the spans that begin at a time or later.
func (ns *nests) since(at int64) (count int) {
	for _, n := range ns.all {
		for d := range n.lanes {
			count += n.lanes[d].Len() - n.lanes[d].From(at)
		}
	}
	return count
}

// reopen restores the state after the last span that the lanes still have was added.
func (ns *nests) reopen() {
	ns.now, ns.turn = math.MinInt64, 0
	for k, n := range ns.all {
		last, turn := n.reopen()
		if len(n.lanes) == 0 { // later nests have no lanes either
			ns.all = ns.all[:k]
			break
		}
		ns.now, ns.turn = max(ns.now, last.Start), max(ns.turn, turn)
	}
	for k := len(ns.were) - 1; k >= 0 && ns.were[k].turn > ns.turn; k-- {
		if w := ns.were[k]; w.nest < 0 {
			delete(ns.seen, w.group)
		} else {
			ns.seen[w.group] = w.placed
		}
		ns.were = ns.were[:k]
	}
	ns.room, ns.ends.Items, ns.tied.Items, ns.flat.Items = nil, nil, nil, nil
	ns.inner = innermost{}
	if len(ns.all) < 2 {
		return
	}
	for _, n := range ns.all {
		n.drop(ns.now)
	}
	ns.inner.restart(ns.all)
	for k := range ns.all {
		ns.open(k)
	}
}

// open adds the open spans of a nest to the heaps.
func (ns *nests) open(k int) {
	ns.ends.Before = func(a, b openEnd) bool { return a.at < b.at }
	ns.tied.Before, ns.flat.Before = cmp.Less[int], cmp.Less[int]
	n := ns.all[k]
	for d, end := range n.ends {
		if end == ns.now && n.lanes[d].LastStart() == end {
			ns.flat.Push(k)
		} else {
			ns.ends.Push(openEnd{end, k})
		}
	}
	ns.fits(k)
}

// mostTorn is the maximum number of nests in which a span without a group is subtracted from
// the open spans that contain it: the first ones. It bounds the time for spans that all overlap.
const mostTorn = 8

// place returns the nest for a span. A span of a group goes to the nest where its group was
// last seen or to the home of the group, if spans are open there and it fits, and otherwise to
// the first nest without open spans.
func (ns *nests) place(x *unordered.Span, group uint32) int {
	if group == 0 {
		k := ns.first(x, group)
		outermost := k == len(ns.all) || len(ns.all[k].ends) == 0
		for j := range min(len(ns.all), mostTorn) {
			if j == k {
				continue
			}
			ns.takes(j, x, group)
			if ns.all[j].holds(group) && ns.tear(j, x, outermost) {
				outermost = false // its time counts once
			}
		}
		return k
	}
	was, ok := ns.seen[group]
	if !ok {
		was = placed{-1, -1}
	}
	for _, k := range [2]int32{was.nest, was.home} {
		if k >= 0 && ns.takes(int(k), x, group) && len(ns.all[k].ends) > 0 {
			return int(k)
		}
	}
	now := was
	for _, k := range [2]int32{was.home, was.nest} {
		if k >= 0 && ns.all[k].holds(group) && ns.tear(int(k), x, true) {
			now.home = k
			break
		}
	}
	now.nest = int32(ns.first(x, group))
	if now != was {
		ns.were = append(ns.were, seenBefore{ns.turn + 1, group, was})
		ns.seen[group] = now
	}
	return int(now.nest)
}

// takes is nest.takes, and updates the index.
func (ns *nests) takes(k int, x *unordered.Span, group uint32) bool {
	ok := ns.all[k].takes(x, group)
	if len(ns.all) > 1 {
		ns.fits(k)
	}
	return ok
}

func (ns *nests) first(x *unordered.Span, group uint32) int {
	switch {
	case len(ns.all) == 0:
		return 0
	case len(ns.all) == 1 && ns.all[0].takes(x, group) && (group == 0 || len(ns.all[0].ends) == 0):
		return 0
	case len(ns.all) == 1:
		return 1
	}
	undecided := &ns.flat
	if x.End > x.Start {
		undecided = &ns.tied
		for ns.ends.Len() > 0 && ns.ends.Min().at == x.Start {
			ns.tied.Push(ns.ends.Pop().nest)
		}
	}
	decide := func() {
		k := undecided.Pop()
		ns.all[k].takes(x, group)
		ns.fits(k)
	}
	if group == 0 {
		for undecided.Len() > 0 {
			decide()
		}
		if k, ok := ns.inner.find(needs(x, ns.slack)); ok {
			return k
		}
	}
	for {
		k := ns.find()
		if undecided.Len() == 0 || undecided.Min() > k {
			return k
		}
		decide()
	}
}

// index starts the index when a second nest is added.
func (ns *nests) index(now int64) {
	if len(ns.all) > 2 {
		return
	}
	ns.now = now
	ns.inner.restart(ns.all)
	ns.open(0)
}

// advance drops spans that ended before a time.
func (ns *nests) advance(to int64) {
	if to == ns.now {
		return
	}
	ns.now = to
	drop := func(k int) {
		ns.all[k].drop(to)
		ns.fits(k)
	}
	for ns.tied.Len() > 0 {
		drop(ns.tied.Pop())
	}
	for ns.flat.Len() > 0 {
		drop(ns.flat.Pop())
	}
	for ns.ends.Len() > 0 && ns.ends.Min().at < to {
		drop(ns.ends.Pop().nest)
	}
}

// fits updates the indices for nest k.
func (ns *nests) fits(k int) {
	ns.inner.update(ns.all, k)
	half := len(ns.room) / 2
	if k >= half {
		old := ns.room[half:]
		half = max(8, 2*half)
		ns.room = make([]bool, 2*half)
		copy(ns.room[half:], old)
		for i := half - 1; i > 0; i-- {
			ns.room[i] = ns.room[2*i] || ns.room[2*i+1]
		}
	}
	room := len(ns.all[k].ends) == 0
	for i := half + k; i > 0; i /= 2 {
		ns.room[i] = room
		room = room || ns.room[i^1]
	}
}

// find returns the first nest without open spans, or a new one.
func (ns *nests) find() int {
	half := len(ns.room) / 2
	if !ns.room[1] {
		return len(ns.all)
	}
	i := 1
	for i < half {
		if i *= 2; !ns.room[i] {
			i++
		}
	}
	return i - half
}
