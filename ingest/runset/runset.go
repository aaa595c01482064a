// Package runset joins runs of neighbouring spans, and takes some from others.
package runset

import (
	"slices"

	"ashlar/ingest/recording"
)

// Joined puts runs in order and joins those that touch or overlap; it may use what
// it is given.
func Joined(runs []recording.Run) []recording.Run {
	if !slices.IsSortedFunc(runs, func(a, b recording.Run) int { return a.First - b.First }) {
		slices.SortFunc(runs, func(a, b recording.Run) int { return a.First - b.First })
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

// Without leaves out of runs what other runs have; both are in order. It returns what
// it is given where there are no others.
func Without(runs, others []recording.Run) []recording.Run {
	if len(runs) == 0 || len(others) == 0 {
		return runs
	}
	left := make([]recording.Run, 0, len(runs))
	k := 0
	for _, r := range runs {
		for ; k < len(others) && others[k].Last <= r.First; k++ {
		}
		for i := k; i < len(others) && others[i].First < r.Last; i++ {
			if others[i].First > r.First {
				left = append(left, recording.Run{First: r.First, Last: others[i].First})
			}
			r.First = max(r.First, others[i].Last)
		}
		if r.First < r.Last {
			left = append(left, r)
		}
	}
	return left
}
