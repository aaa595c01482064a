package recording

import (
	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/sets"
)

// CallSet is some calls of a recording, each with all that ran in it: what is at
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
	Picked [][][]sets.Run
	// Outer are those that are in no other one of the set, Runs all spans that belong
	// to it, by track and lane; Times is when any of its calls ran, by track. All are
	// in order and apart from each other, as are Picked.
	Outer, Runs [][][]sets.Run
	Times       [][]Time
}

// Time is from one moment to another, in picoseconds.
type Time struct{ From, To int64 }

// EachOuter visits the calls that are in no other one of the set, in order.
func (s *CallSet) EachOuter(rec *Recording, visit func(track int, l *lanes.Lane, i int)) {
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
func (s *CallSet) SpanRuns(track, lane, first, last int) []sets.Run {
	if track >= len(s.Runs) || lane >= len(s.Runs[track]) {
		return nil
	}
	return sets.Cut(s.Runs[track][lane], first, last)
}

// SampleRuns are the samples of a track that belong to the set, of those
// first..last-1. The moment at which a call ends is not in it, except for the last of
// the recording.
func (s *CallSet) SampleRuns(rec *Recording, track int, of *Samples, first, last int) (runs []sets.Run) {
	if track >= len(s.Times) {
		return nil
	}
	for _, t := range s.Times[track] {
		r := sets.Run{First: of.Search(t.From), Last: of.Len()}
		if t.To < rec.End {
			r.Last = of.Search(t.To)
		}
		if r.First < r.Last {
			runs = append(runs, r)
		}
	}
	return sets.Cut(runs, first, last)
}
