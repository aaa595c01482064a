// Package scan visits the spans of a recording or of part of it on all cores.
package scan

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"ashlar/ingest/input/source"
	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/model/sets"
)

// A Stretch is a part of a lane, spans First..Last-1, for one goroutine.
type Stretch struct {
	Lane *lanes.Lane
	// Track is the index of the lane's track, Row the lane's index in that track, or
	// recording.StateLane.
	Track, Row  int
	First, Last int
	// Runs are the spans to count, nil for all.
	Runs []sets.Run
}

// A stretch has at most this many spans and runs: enough to be worth the dispatch, few
// enough that all goroutines end at about the same time.
const (
	stretchSpans = 1 << 16
	stretchRuns  = 1 << 12
)

// Len returns the number of spans to count.
func (s *Stretch) Len() int {
	if s.Runs == nil {
		return s.Last - s.First
	}
	n := 0
	for _, r := range s.Runs {
		n += r.Last - r.First
	}
	return n
}

// rooms saves an allocation for each lane: recordings can have a lane for each of a
// million threads or levels.
var rooms = sync.Pool{New: func() any { return new(lanes.Room) }}

// Each calls f with runs of the stretch's columns; i is the first span of the run.
func (s *Stretch) Each(f func(i int, starts, ends []int64, calls []recording.CallID)) {
	room := rooms.Get().(*lanes.Room)
	defer rooms.Put(room)
	runs := s.Runs
	if runs == nil {
		runs = []sets.Run{{First: s.First, Last: s.Last}}
	}
	for _, r := range runs {
		for i := r.First; i < r.Last; {
			starts, ends, calls := s.Lane.Columns(i, r.Last-i, room)
			f(i, starts, ends, calls)
			i += len(starts)
		}
	}
}

// EachCall is Each for calls only. If few times are needed, reading these from the lane
// instead of all columns takes a fifth of the memory traffic.
func (s *Stretch) EachCall(f func(i int, calls []recording.CallID)) {
	runs := s.Runs
	if runs == nil {
		runs = []sets.Run{{First: s.First, Last: s.Last}}
	}
	for _, r := range runs {
		for i := r.First; i < r.Last; {
			calls := s.Lane.Calls(i)
			calls = calls[:min(len(calls), r.Last-i)]
			f(i, calls)
			i += len(calls)
		}
	}
}

// Lanes lists the lanes of a scope's tracks, each with the spans that touch its range and
// belong to its calls. Lanes without such spans are left out.
func Lanes(rec *recording.Recording, in recording.Scope) (lanes []Stretch) {
	chosen := in.TrackTest()
	if in.IsWhole() { // growing a list for a million threads takes longer than the rest
		n := 0
		for _, t := range rec.Tracks {
			n += len(t.Lanes)
		}
		lanes = make([]Stretch, 0, n)
	}
	for ti, t := range rec.Tracks {
		if !chosen(ti) {
			continue
		}
		for i := range t.Lanes {
			if s := stretch(ti, i, &t.Lanes[i], in); s.First < s.Last {
				lanes = append(lanes, s)
			}
		}
	}
	return lanes
}

func stretch(track, lane int, l *lanes.Lane, in recording.Scope) Stretch {
	s := Stretch{Lane: l, Track: track, Row: lane}
	s.First, s.Last = in.SpansIn(l)
	if in.Calls == nil || s.First >= s.Last {
		return s
	}
	if s.Runs = in.Calls.SpanRuns(track, lane, s.First, s.Last); len(s.Runs) == 0 {
		return Stretch{}
	}
	s.First, s.Last = s.Runs[0].First, s.Runs[len(s.Runs)-1].Last
	return s
}

// Picked lists the calls of a set, without the calls inside them, or its states.
func Picked(rec *recording.Recording, set *recording.CallSet) (lanes []Stretch) {
	for track := range set.Picked {
		for row, runs := range set.Picked[track] {
			if len(runs) > 0 {
				lanes = append(lanes, Stretch{&rec.Tracks[track].Lanes[row], track, row, runs[0].First, runs[len(runs)-1].Last, runs})
			}
		}
	}
	for track, runs := range set.States {
		if len(runs) > 0 {
			lanes = append(lanes, Stretch{&rec.Tracks[track].States, track, recording.StateLane, runs[0].First, runs[len(runs)-1].Last, runs})
		}
	}
	return lanes
}

// Rest lists the spans that Lanes leaves out.
func Rest(rec *recording.Recording, in recording.Scope) (rest []Stretch) {
	chosen := in.TrackTest()
	for ti, t := range rec.Tracks {
		for i := range t.Lanes {
			l := &t.Lanes[i]
			if l.Len() == 0 {
				continue
			}
			s := Stretch{}
			if chosen(ti) {
				s = stretch(ti, i, l, in)
			}
			runs := s.Runs
			if runs == nil {
				runs = []sets.Run{{First: s.First, Last: s.Last}}
			}
			if gaps := sets.Without([]sets.Run{{First: 0, Last: l.Len()}}, runs); len(gaps) > 0 {
				rest = append(rest, Stretch{l, ti, i, gaps[0].First, gaps[len(gaps)-1].Last, gaps})
			}
		}
	}
	return rest
}

// Cut cuts stretches into pieces for several goroutines.
func Cut(lanes ...Stretch) (items []Stretch) {
	items = make([]Stretch, 0, len(lanes))
	for _, s := range lanes {
		if s.Runs == nil {
			for s.First < s.Last {
				n := min(stretchSpans, s.Len())
				items = append(items, Stretch{s.Lane, s.Track, s.Row, s.First, s.First + n, nil})
				s.First += n
			}
			continue
		}
		var runs []sets.Run
		n := 0
		hand := func() {
			if len(runs) > 0 {
				items = append(items, Stretch{s.Lane, s.Track, s.Row, runs[0].First, runs[len(runs)-1].Last, runs})
			}
			runs, n = nil, 0
		}
		for k, r := range s.Runs {
			for r.First < r.Last {
				if runs == nil {
					runs = make([]sets.Run, 0, min(stretchRuns, len(s.Runs)-k))
				}
				part := sets.Run{First: r.First, Last: min(r.Last, r.First+stretchSpans-n)}
				runs = append(runs, part)
				r.First = part.Last
				if n += part.Last - part.First; n >= stretchSpans || len(runs) >= stretchRuns {
					hand()
				}
			}
		}
		hand()
	}
	return items
}

// Spread calls do for each of n items, on all cores; each goroutine has its own
// worker number, below GOMAXPROCS. It ends early with ctx.
func Spread(ctx context.Context, n int, do func(worker, item int)) error {
	var next atomic.Int64
	var wg source.Group
	for worker := range min(runtime.GOMAXPROCS(0), max(1, n)) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= n {
					return
				}
				do(worker, i)
			}
		})
	}
	wg.Wait()
	return ctx.Err()
}

// Calls reports for each call whether its function is one of the given ones.
func Calls(rec *recording.Recording, of []recording.FuncID) []bool {
	set := make([]bool, rec.Functions.Len())
	for _, f := range of {
		set[f] = true
	}
	is := make([]bool, rec.Calls.Len())
	for c := 1; c < len(is); c++ {
		is[c] = set[rec.Func(recording.CallID(c))]
	}
	return is
}
