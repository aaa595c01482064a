package criticalpath

import (
	"cmp"
	"errors"

	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
)

var errTooLong = errors.New("the critical path has too many steps; restrict the time range or the calls")

// Words describes how a step was spent: the state with its reason or, for threads without
// states, what the thread did.
func (s *Step) Words(rec *recording.Recording) string {
	switch {
	case s.Sent:
		return "in transit: " + cmp.Or(rec.Flows[s.Flow].Name, "flow")
	case s.Index < 0:
		return "nothing"
	case s.State != recording.NoState:
		name := rec.FuncName(s.Call)
		return name[1 : len(name)-1] // the name without its brackets
	}
	return "span"
}

// Function returns the function in which a step was spent, from its state or span; "" if
// unknown.
func (s *Step) Function(rec *recording.Recording) string {
	call := s.Call
	if s.State != recording.NoState && call != recording.NoCall {
		call = rec.Calls.Parent(call)
	}
	if call == recording.NoCall {
		return ""
	}
	return rec.FuncName(call)
}

// By is the grouping of summed steps.
type By string

// Groupings.
const (
	ByState    By = "state"
	ByThread   By = "thread"
	ByFunction By = "function"
)

// A Sum is the time that paths spent in something, in picoseconds, and the number of
// steps.
type Sum struct {
	Name string
	// Track is the thread, for ByThread.
	Track int
	Time  int64
	Steps int
}

// nothing is the name for time in no known function.
const nothing = "[no data]"

// Sums sums up the steps of paths, the longest sum first. With ByFunction, a step whose
// state has no stack counts for the innermost spans that ran meanwhile.
func Sums(rec *recording.Recording, paths []Path, by By) []Sum {
	type key struct {
		name  string
		track int
	}
	at := map[key]*Sum{}
	add := func(name string, track int, time int64) {
		k := key{name, track}
		if at[k] == nil {
			at[k] = &Sum{Name: name, Track: track}
		}
		at[k].Time += time
		at[k].Steps++
	}
	for i := range paths {
		for k := range paths[i].Steps {
			s := &paths[i].Steps[k]
			switch by {
			case ByState:
				add(s.Words(rec), recording.NoTrack, s.To-s.From)
			case ByThread:
				name := nothing
				if s.Track != recording.NoTrack {
					name = rec.Tracks[s.Track].Title()
				}
				add(name, s.Track, s.To-s.From)
			default:
				s.each(rec, func(call recording.CallID, time int64) {
					name := nothing
					if call != recording.NoCall {
						name = rec.FuncName(call)
					}
					add(name, recording.NoTrack, time)
				})
			}
		}
	}
	sums := make([]Sum, 0, len(at))
	for _, s := range at {
		sums = append(sums, *s)
	}
	order.By(sums, func(a, b Sum) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(a.Name, b.Name), cmp.Compare(a.Track, b.Track))
	})
	return sums
}

// each visits the functions in which a step was spent, with their times.
func (s *Step) each(rec *recording.Recording, visit func(call recording.CallID, time int64)) {
	if s.Track == recording.NoTrack || s.Sent {
		visit(recording.NoCall, s.To-s.From)
		return
	}
	outer := recording.NoCall
	if s.State != recording.NoState {
		if outer = rec.Calls.Parent(s.Call); outer != recording.NoCall {
			visit(outer, s.To-s.From)
			return
		}
	}
	t := rec.Tracks[s.Track]
	for _, column := range t.Columns(&rec.Calls) {
		if s.State != recording.NoState || s.Index < 0 || column[0] == s.Lane {
			t.Innermost(column, outer, s.From, s.To, visit)
			return
		}
	}
	visit(outer, s.To-s.From)
}
