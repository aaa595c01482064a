package recording

import (
	"cmp"
	"math"
	"slices"
)

// innermost finds the open span that began last among those that end late enough to contain
// another span. It considers the innermost open span of each nest, unless that has a group.
//
// Each open span has a slot, in the order in which they were added and thus of their starts.
// ends is a binary tree: its second half holds the end of each span that is considered, and
// MinInt64 for the other slots; each element of the first half is the maximum of its two
// children.
type innermost struct {
	ends []int64
	nest []int // by slot
	top  []int // by nest: the slot that is considered, -1 if none
}

// find returns the nest of the span that began last among those that end at a time or later.
func (in *innermost) find(end int64) (nest int, ok bool) {
	half := len(in.ends) / 2
	if half == 0 || in.ends[1] < end {
		return 0, false
	}
	i := 1
	for i < half {
		if i = 2*i + 1; in.ends[i] < end {
			i--
		}
	}
	return in.nest[i-half], true
}

// update considers the innermost span of nest k instead of the one before. It gives a slot to the
// span added last.
func (in *innermost) update(all []*nest, k int) {
	for k >= len(in.top) {
		in.top = append(in.top, -1)
	}
	n := all[k]
	n.slots = n.slots[:min(len(n.slots), len(n.ends))]
	if len(n.slots) < len(n.ends) {
		if len(in.nest) == len(in.ends)/2 {
			in.renumber(all)
		}
		n.slots, in.nest = append(n.slots, len(in.nest)), append(in.nest, k)
	}
	in.set(in.top[k], math.MinInt64)
	in.top[k] = -1
	if d := len(n.ends) - 1; d >= 0 && n.groups[d] == 0 {
		in.top[k] = n.slots[d]
		in.set(in.top[k], n.ends[d])
	}
}

// set sets the value of a slot.
func (in *innermost) set(slot int, end int64) {
	if slot < 0 {
		return
	}
	for i := len(in.ends)/2 + slot; i > 0; i /= 2 {
		in.ends[i] = end
		end = max(end, in.ends[i^1])
	}
}

// opened is an open span of a nest.
type opened struct{ nest, depth int }

// renumber drops the slots of spans that are no longer open, and makes room for as many again.
func (in *innermost) renumber(all []*nest) {
	var spans []opened
	for k, n := range all {
		for d := range n.slots {
			spans = append(spans, opened{k, d})
		}
	}
	slices.SortFunc(spans, func(x, y opened) int {
		return cmp.Compare(all[x.nest].slots[x.depth], all[y.nest].slots[y.depth])
	})
	in.assign(all, spans)
}

// restart gives slots to all open spans, in the order of their starts.
func (in *innermost) restart(all []*nest) {
	var spans []opened
	for k, n := range all {
		n.slots = make([]int, len(n.ends))
		for d := range n.ends {
			spans = append(spans, opened{k, d})
		}
	}
	start := func(o opened) int64 { return all[o.nest].lanes[o.depth].LastStart() }
	turn := func(o opened) uint32 { n := all[o.nest]; return n.markOf(o.depth, n.lanes[o.depth].Len()-1).turn }
	slices.SortStableFunc(spans, func(x, y opened) int {
		return cmp.Or(cmp.Compare(start(x), start(y)), cmp.Compare(turn(x), turn(y)))
	})
	in.assign(all, spans)
}

// assign gives slots to spans, in this order.
func (in *innermost) assign(all []*nest, spans []opened) {
	half := 8
	for half < 2*len(spans)+1 {
		half *= 2
	}
	in.ends, in.nest, in.top = make([]int64, 2*half), in.nest[:0], make([]int, len(all))
	for i := range in.ends {
		in.ends[i] = math.MinInt64
	}
	for _, o := range spans {
		all[o.nest].slots[o.depth], in.nest = len(in.nest), append(in.nest, o.nest)
	}
	for k, n := range all {
		in.top[k] = -1
		if d := len(n.slots) - 1; d >= 0 && len(n.slots) == len(n.ends) && n.groups[d] == 0 {
			in.top[k] = n.slots[d]
			in.set(in.top[k], n.ends[d])
		}
	}
}
