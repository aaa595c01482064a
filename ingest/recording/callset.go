package recording

import (
	"slices"
	"sort"
)

// CallSet is some calls of a recording, each with all that ran in it: what lies at
// or below it, in its thread and time. A span belongs to it that is one of them or
// whose parent belongs to it, a sample that was taken while one of them ran.
//
// Like a Scope it is never written to once it has been handed on.
type CallSet struct {
	// Text says which calls are meant; package calls reads and writes it. All else
	// comes of that in one recording, within a range of time and on some
	// tracks: a set that has not been looked up has no calls.
	Text string
	// Calls is how many they are, and Picked where.
	Calls  int
	Picked [][][]Run
	// Outer are those that lie in no other one of the set, Runs all spans that belong
	// to it, by track and lane; Times is when any of its calls ran, by track. All are
	// in order and apart from each other, as are Picked.
	Outer, Runs [][][]Run
	Times       [][]Time
}

// Run is a run of neighbours First..Last-1.
type Run struct{ First, Last int }

// Time is from one moment to another, in picoseconds.
type Time struct{ From, To int64 }

// EachOuter visits the calls that lie in no other one of the set, in order.
func (s *CallSet) EachOuter(rec *Recording, visit func(track int, l *Lane, i int)) {
	for track := range s.Outer {
		for lane, runs := range s.Outer[track] {
			for _, r := range runs {
				for i := r.First; i < r.Last; i++ {
					visit(track, &rec.Tracks[track].Lanes[lane], i)
				}
			}
		}
	}
}

// SpanRuns are the spans of a lane that belong to the set, of those first..last-1.
func (s *CallSet) SpanRuns(track, lane, first, last int) []Run {
	if track >= len(s.Runs) || lane >= len(s.Runs[track]) {
		return nil
	}
	return cut(s.Runs[track][lane], first, last)
}

// SampleRuns are the samples of a track that belong to the set, of those
// first..last-1. The moment at which a call ends is not in it, but for the last of
// the recording.
func (s *CallSet) SampleRuns(rec *Recording, track int, of *Samples, first, last int) (runs []Run) {
	if track >= len(s.Times) {
		return nil
	}
	for _, t := range s.Times[track] {
		r := Run{of.Search(t.From), of.Len()}
		if t.To < rec.End {
			r.Last = of.Search(t.To)
		}
		if r.First < r.Last {
			runs = append(runs, r)
		}
	}
	return cut(runs, first, last)
}

// cut leaves of runs what lies in first..last-1.
func cut(runs []Run, first, last int) []Run {
	lo := sort.Search(len(runs), func(k int) bool { return runs[k].Last > first })
	hi := lo + sort.Search(len(runs)-lo, func(k int) bool { return runs[lo+k].First >= last })
	runs = runs[lo:hi]
	if n := len(runs); n > 0 && (runs[0].First < first || runs[n-1].Last > last) {
		runs = slices.Clone(runs)
		runs[0].First, runs[n-1].Last = max(runs[0].First, first), min(runs[n-1].Last, last)
	}
	return runs
}
