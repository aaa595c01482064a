package recording

import (
	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/sets"
)

// CallSet is a set of calls of a recording, with the spans and samples inside them. A
// span belongs to the set if it is one of the calls or its parent belongs to the set; a
// sample belongs if it was taken while one of the calls ran on its thread.
//
// Like a Scope, a CallSet is never written to once it has been passed on.
type CallSet struct {
	// Text describes the calls; package calls reads and writes it. The other fields are
	// the result of looking Text up in a recording, within a range of time and on some
	// tracks: a set that has not been looked up has no calls.
	Text string
	// Calls is the number of calls; Picked holds their places, by track and lane.
	Calls  int
	Picked [][][]sets.Run
	// Outer holds the calls that lie in no other call of the set, and Runs all spans of
	// the set, both by track and lane. Times holds, by track, when any of the calls ran.
	// Like Picked, they are in order and do not overlap.
	Outer, Runs [][][]sets.Run
	Times       [][]Time
	// States, in a set of thread states, are the states, by track; the set then has no
	// spans.
	States [][]sets.Run
}

// Time is a range of time, in picoseconds.
type Time struct{ From, To int64 }

// EachOuter visits, in order, the calls that lie in no other call of the set, and the
// states of a set of states.
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
	for track, runs := range s.States {
		for _, r := range runs {
			for i := r.First; i < r.Last; i++ {
				visit(track, &rec.Tracks[track].States, i)
			}
		}
	}
}

// SpanRuns returns which of the spans first..last-1 of a lane belong to the set.
func (s *CallSet) SpanRuns(track, lane, first, last int) []sets.Run {
	if track >= len(s.Runs) || lane >= len(s.Runs[track]) {
		return nil
	}
	return sets.Cut(s.Runs[track][lane], first, last)
}

// SampleRuns returns which of the samples first..last-1 of a track belong to the set. The
// moment at which a call ends is excluded, except at the end of the recording.
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
