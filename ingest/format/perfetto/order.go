package perfetto

import "sort"

// timed is an item that order can sort by time.
type timed interface {
	event | wide | pass
	when() int64
}

func (e event) when() int64 { return e.at }
func (w wide) when() int64  { return w.at }
func (p pass) when() int64  { return p.at }

// order sorts events by time; the sort is stable. The events of a sequence are mostly in
// order, and if several sequences write to one track, a few events come late. So it
// merges sorted runs, two neighbours at a time, but only where they overlap.
type order[T timed] struct {
	starts []int32 // start of each sorted run
	room   []T
	list   []T
}

func (o *order[T]) sort(list []T) {
	if len(list) == 0 {
		return
	}
	starts, last := append(o.starts[:0], 0), list[0].when()
	for i := range list {
		at := list[i].when()
		if at < last {
			starts = append(starts, int32(i))
		}
		last = at
	}
	starts = append(starts, int32(len(list)))
	for len(starts) > 2 {
		n := 0
		for i := 0; i+1 < len(starts); i += 2 {
			from, middle, to := starts[i], starts[i+1], starts[min(i+2, len(starts)-1)]
			if middle < to {
				o.merge(list[from:to], int(middle-from))
			}
			starts[n] = from
			n++
		}
		starts[n] = int32(len(list))
		starts = starts[:n+1]
	}
	o.starts = starts
}

// merge merges the two sorted parts of a list, which meet at middle; the merge is stable.
func (o *order[T]) merge(list []T, middle int) {
	first, last := list[middle].when(), list[middle-1].when()
	from := sort.Search(middle, func(i int) bool { return list[i].when() > first })
	to := middle + sort.Search(len(list)-middle, func(i int) bool { return list[middle+i].when() >= last })
	a, b := append(o.room[:0], list[from:middle]...), list[middle:to]
	o.room = a
	for k := from; len(a) > 0; k++ {
		if len(b) == 0 {
			copy(list[k:], a)
			return
		}
		if a[0].when() <= b[0].when() {
			list[k], a = a[0], a[1:]
		} else {
			list[k], b = b[0], b[1:]
		}
	}
}

// sortBlocks sorts a list stored in blocks.
func (o *order[T]) sortBlocks(blocks [][]T) {
	if len(blocks) == 1 {
		o.sort(blocks[0])
		return
	}
	list := o.list[:0]
	for _, b := range blocks {
		list = append(list, b...)
	}
	o.sort(list)
	o.list = list
	for _, b := range blocks {
		list = list[copy(b, list):]
	}
}
