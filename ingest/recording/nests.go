package recording

import (
	"cmp"
	"math"
)

// nest is one column of properly nested spans: its open ends, innermost last,
// and the lanes it fills.
type nest struct {
	ends   []int64
	calls  []CallID
	lanes  []Lane
	groups []uint32 // of the open spans
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

// drop takes away what has ended before a time.
func (n *nest) drop(before int64) {
	k := len(n.ends)
	for k > 0 && n.ends[k-1] < before {
		k--
	}
	n.ends, n.calls, n.groups = n.ends[:k], n.calls[:k], n.groups[:k]
}

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

// nests are those of a track. A span belongs to the first that takes it. As soon
// as there are two they are looked up rather than asked one after the other: spans
// that all overlap make as many nests as there are spans.
type nests struct {
	all  []*nest
	seen map[uint32]int // where a group was last

	// room is a tree over the nests: in its second half what each takes, and
	// before that the greater of any two. A nest takes what ends by its innermost
	// open span's end, anything where none is open, and only its own group's
	// spans where that is not 0.
	room []int64
	now  int64 // the latest span's start
	ends heap[openEnd]
	// tied are nests with a span that ends now, and flat those with a span of no
	// length there: whether it is over depends on the next span (see over), and is
	// only looked into in nests that come before that span's.
	tied, flat heap[int]
}

type openEnd struct {
	at   int64
	nest int
}

const anything = math.MaxInt64

// add adds a span, which starts no earlier than the one before.
func (ns *nests) add(b *Builder, x *looseSpan, group uint32, args uint64) CallID {
	if len(ns.all) > 1 {
		ns.advance(x.start)
	}
	k := ns.place(x, group)
	if k == len(ns.all) {
		ns.all = append(ns.all, new(nest))
		if k > 0 {
			ns.index(x.start)
		}
	}
	call := ns.all[k].add(b, x, group, args)
	if len(ns.all) > 1 {
		ns.fits(k)
		if x.end > x.start {
			ns.ends.push(openEnd{x.end, k})
		} else {
			ns.flat.push(k)
		}
	}
	return call
}

// place finds the nest for a span: the first that takes it; for one of a group
// that where its group was last seen, if it goes on there, else the first that is
// free.
func (ns *nests) place(x *looseSpan, group uint32) int {
	if group == 0 {
		return ns.first(x, group)
	}
	if k, ok := ns.seen[group]; ok {
		takes := ns.all[k].takes(x, group)
		if len(ns.all) > 1 {
			ns.fits(k)
		}
		if takes && len(ns.all[k].ends) > 0 {
			return k
		}
	}
	k := ns.first(x, group)
	ns.seen[group] = k
	return k
}

func (ns *nests) first(x *looseSpan, group uint32) int {
	switch {
	case len(ns.all) == 0:
		return 0
	case len(ns.all) == 1 && ns.all[0].takes(x, group) && (group == 0 || len(ns.all[0].ends) == 0):
		return 0
	case len(ns.all) == 1:
		return 1
	}
	needs, undecided := x.end, &ns.flat
	if group != 0 {
		needs = anything
	}
	if x.end > x.start {
		undecided = &ns.tied
		for ns.ends.len() > 0 && ns.ends.min().at == x.start {
			ns.tied.push(ns.ends.pop().nest)
		}
	}
	for {
		k := ns.find(needs)
		if undecided.len() == 0 || undecided.min() > k {
			return k
		}
		k = undecided.pop()
		ns.all[k].takes(x, group)
		ns.fits(k)
	}
}

// index begins to look nests up: there is a second one.
func (ns *nests) index(now int64) {
	if len(ns.all) > 2 {
		return
	}
	ns.now = now
	ns.ends.before = func(a, b openEnd) bool { return a.at < b.at }
	ns.tied.before, ns.flat.before = cmp.Less[int], cmp.Less[int]
	for _, end := range ns.all[0].ends {
		ns.ends.push(openEnd{end, 0})
	}
	ns.fits(0)
}

// advance drops what has ended before a time.
func (ns *nests) advance(to int64) {
	if to == ns.now {
		return
	}
	ns.now = to
	drop := func(k int) {
		ns.all[k].drop(to)
		ns.fits(k)
	}
	for ns.tied.len() > 0 {
		drop(ns.tied.pop())
	}
	for ns.flat.len() > 0 {
		drop(ns.flat.pop())
	}
	for ns.ends.len() > 0 && ns.ends.min().at < to {
		drop(ns.ends.pop().nest)
	}
}

// fits notes what a nest takes now.
func (ns *nests) fits(k int) {
	half := len(ns.room) / 2
	if k >= half {
		old := ns.room[half:]
		half = max(8, 2*half)
		ns.room = make([]int64, 2*half)
		for i := range ns.room {
			ns.room[i] = math.MinInt64
		}
		copy(ns.room[half:], old)
		for i := half - 1; i > 0; i-- {
			ns.room[i] = max(ns.room[2*i], ns.room[2*i+1])
		}
	}
	room := int64(anything)
	if n := ns.all[k]; len(n.ends) > 0 {
		room = math.MinInt64
		if top := len(n.ends) - 1; n.groups[top] == 0 {
			room = n.ends[top]
		}
	}
	for i := half + k; i > 0; i /= 2 {
		ns.room[i] = room
		room = max(room, ns.room[i^1])
	}
}

// find is the first nest that takes what ends then, a new one where none does.
func (ns *nests) find(end int64) int {
	half := len(ns.room) / 2
	if ns.room[1] < end {
		return len(ns.all)
	}
	i := 1
	for i < half {
		if i *= 2; ns.room[i] < end {
			i++
		}
	}
	return i - half
}
