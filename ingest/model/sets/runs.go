// Package sets implements sets of indices in a column: ranges, bit sets, and indices
// grouped by key.
package sets

import (
	"slices"
	"sort"
)

// Run is the range of indices from First up to, but not including, Last.
type Run struct{ First, Last int }

// Joined sorts runs and merges runs that touch or overlap. It may reuse the memory of
// runs.
func Joined(runs []Run) []Run {
	if !slices.IsSortedFunc(runs, func(a, b Run) int { return a.First - b.First }) {
		slices.SortFunc(runs, func(a, b Run) int { return a.First - b.First })
	}
	out := runs[:0]
	for _, r := range runs {
		if n := len(out); n > 0 && r.First <= out[n-1].Last {
			out[n-1].Last = max(out[n-1].Last, r.Last)
			continue
		}
		out = append(out, r)
	}
	return out
}

// Without removes others from runs; both are in order. It returns runs itself if there
// are no others.
func Without(runs, others []Run) []Run {
	if len(runs) == 0 || len(others) == 0 {
		return runs
	}
	left := make([]Run, 0, len(runs))
	k := 0
	for _, r := range runs {
		for ; k < len(others) && others[k].Last <= r.First; k++ {
		}
		for i := k; i < len(others) && others[i].First < r.Last; i++ {
			if others[i].First > r.First {
				left = append(left, Run{First: r.First, Last: others[i].First})
			}
			r.First = max(r.First, others[i].Last)
		}
		if r.First < r.Last {
			left = append(left, r)
		}
	}
	return left
}

// Cut returns the part of runs within first..last-1; it does not write to runs.
func Cut(runs []Run, first, last int) []Run {
	lo := sort.Search(len(runs), func(k int) bool { return runs[k].Last > first })
	hi := lo + sort.Search(len(runs)-lo, func(k int) bool { return runs[lo+k].First >= last })
	runs = runs[lo:hi]
	if n := len(runs); n > 0 && (runs[0].First < first || runs[n-1].Last > last) {
		runs = slices.Clone(runs)
		runs[0].First, runs[n-1].Last = max(runs[0].First, first), min(runs[n-1].Last, last)
	}
	return runs
}
