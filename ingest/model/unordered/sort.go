package unordered

import "math/bits"

// sortSpans sorts spans stably. Spans that are in order, or nearly, are hardly touched.
func sortSpans(all []Span) {
	const block = 16
	if scattered(all) {
		sortRoughly(all)
	}
	for from := 0; from < len(all); from += block {
		b := all[from:min(from+block, len(all))]
		for i := 1; i < len(b); i++ {
			x, k := b[i], i
			for ; k > 0 && x.Before(&b[k-1]); k-- {
				b[k] = b[k-1]
			}
			b[k] = x
		}
	}
	var room []Span
	for size := block; size < len(all); size *= 2 {
		for from := 0; from+size < len(all); from += 2 * size {
			mid, end := from+size, min(from+2*size, len(all))
			if !all[mid].Before(&all[mid-1]) {
				continue
			}
			room = mergeHalves(all[from:end], size, room)
		}
	}
}

// mergeHalves merges two sorted halves, the second of which begins at mid, in place.
func mergeHalves(all []Span, mid int, room []Span) []Span {
	// Spans that come before the whole second half stay in place.
	from, to := 0, mid
	for x := all[mid]; from < to; {
		if h := (from + to) / 2; x.Before(&all[h]) {
			to = h
		} else {
			from = h + 1
		}
	}
	room = append(room[:0], all[from:mid]...)
	out, right := from, mid
	for i := 0; i < len(room); out++ {
		if right < len(all) && all[right].Before(&room[i]) {
			all[out] = all[right]
			right++
		} else {
			all[out] = room[i]
			i++
		}
	}
	return room
}

// scattered reports whether spans are in random order, and enough of them to matter. It
// looks only at every 16th span: among those, spans that are merely nested are in order.
func scattered(all []Span) bool {
	const every = 16
	if len(all) < manySpans {
		return false
	}
	back := 0
	for i := every; i < len(all); i += every {
		if all[i].Start < all[i-every].Start {
			back++
		}
	}
	return back > len(all)/every/4
}

// roughBits is the number of bits of a time that each of sortRoughly's two passes uses;
// manySpans is the number of spans that make it worthwhile.
const (
	roughBits = 11
	manySpans = 1 << 10
)

// sortRoughly sorts spans by the leading bits of their starts, without comparisons, whose
// results would be unpredictable here. Hardly any spans are out of place afterwards.
// Equal spans stay in order of arrival.
func sortRoughly(all []Span) {
	low, high := all[0].Start, all[0].Start
	for i := range all {
		low, high = min(low, all[i].Start), max(high, all[i].Start)
	}
	shift := max(0, bits.Len64(uint64(high)-uint64(low))-2*roughBits)
	var first, second [1 << roughBits]uint32
	of := func(x *Span) uint64 { return (uint64(x.Start) - uint64(low)) >> shift }
	for i := range all {
		k := of(&all[i])
		first[k&(1<<roughBits-1)]++
		second[k>>roughBits]++
	}
	var sums [2]uint32
	for k := range first {
		first[k], sums[0] = sums[0], sums[0]+first[k]
		second[k], sums[1] = sums[1], sums[1]+second[k]
	}
	room := make([]Span, len(all))
	for i := range all {
		at := &first[of(&all[i])&(1<<roughBits-1)]
		room[*at] = all[i]
		*at++
	}
	for i := range room {
		at := &second[of(&room[i])>>roughBits]
		all[*at] = room[i]
		*at++
	}
}
