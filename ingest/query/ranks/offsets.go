package ranks

import (
	"context"
	"maps"
	"slices"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/gpu"
)

// Offsets compares the clocks of recordings, each of one or several ranks of a job, by the
// collective operations that end on all ranks at the same time. It returns for each recording
// the picoseconds to add to its times so that the operations end as in the first recording, and
// the largest spread: the median distance of the differences of one recording from their median.
// It returns false if the recordings do not have enough operations in common, if these do not
// end together, or if ctx has ended.
func Offsets(ctx context.Context, recs []*recording.Recording) (shift []int64, spread int64, ok bool) {
	all := make([]map[string][]operation, len(recs))
	for i, rec := range recs {
		devices, err := gpu.Devices(ctx, rec)
		if err != nil {
			return nil, 0, false
		}
		members, err := membersOf(ctx, rec, devices)
		if err != nil {
			return nil, 0, false
		}
		all[i] = pooled(members)
	}
	shift = make([]int64, len(recs))
	placed := []int{0}
	var next []int
	for i := 1; i < len(recs); i++ {
		next = append(next, i)
	}
	for len(next) > 0 { // not all groups of ranks contain one of the first recording
		var left []int
		for _, i := range next {
			found := false
			for _, k := range placed {
				by, around, fits := between(all[k], all[i])
				if fits {
					shift[i], spread, found = shift[k]+by, max(spread, around), true
					placed = append(placed, i)
					break
				}
			}
			if !found {
				left = append(left, i)
			}
		}
		if len(left) == len(next) || ctx.Err() != nil {
			return nil, 0, false
		}
		next = left
	}
	return shift, spread, len(recs) > 0
}

// pooled returns the operations of a recording: of each kind those of one rank, because they end
// on all at the same time.
func pooled(members []member) map[string][]operation {
	all := map[string][]operation{}
	for _, m := range members {
		for key, operations := range m.operations {
			if len(operations) > len(all[key]) {
				all[key] = operations
			}
		}
	}
	return all
}

// between returns the median distance from the ends of b's operations to those of a, and the
// median distance from it.
func between(a, b map[string][]operation) (by, spread int64, ok bool) {
	var ends []int64
	least := int64(-1)
	for _, key := range slices.Sorted(maps.Keys(a)) {
		if _, of := together(a[key], b[key]); of != nil {
			ends = append(ends, of...)
			if g := gap(a[key]); least < 0 || g < least {
				least = g
			}
		}
	}
	by, spread = middle(ends)
	return by, spread, ends != nil && tight*spread <= least
}
