// Package scan looks at all spans of a recording, or those of a part, on all
// cores.
package scan

import (
	"context"
	"runtime"
	"sync"
	"sync/atomic"

	"ashlar/ingest/recording"
)

// Stretch is a part of a lane, spans First..Last-1, that one goroutine looks at.
type Stretch struct {
	Lane *recording.Lane
	// Track is the lane's.
	Track       int
	First, Last int
}

// stretchSpans is how many spans a stretch has at most: enough to be worth
// handing out, few enough that all goroutines end at the same time.
const stretchSpans = 1 << 16

// Len is the number of spans.
func (s *Stretch) Len() int { return s.Last - s.First }

// Each calls f with runs of the stretch's columns.
func (s *Stretch) Each(f func(starts, ends []int64, calls []recording.CallID)) {
	var room recording.Room
	for i := s.First; i < s.Last; {
		starts, ends, calls := s.Lane.Columns(i, &room)
		n := min(len(starts), s.Last-i)
		f(starts[:n], ends[:n], calls[:n])
		i += n
	}
}

// Lanes lists the lanes of a scope's tracks, each with the spans that touch its
// range: at least one.
func Lanes(rec *recording.Recording, in recording.Scope) (lanes []Stretch) {
	chosen := in.TrackTest()
	for ti, t := range rec.Tracks {
		if !chosen(ti) {
			continue
		}
		for i := range t.Lanes {
			l := &t.Lanes[i]
			if first, last := in.SpansIn(l); first < last {
				lanes = append(lanes, Stretch{l, ti, first, last})
			}
		}
	}
	return lanes
}

// Cut makes stretches smaller, so that they can be shared out.
func Cut(lanes ...Stretch) (items []Stretch) {
	for _, s := range lanes {
		for s.First < s.Last {
			n := min(stretchSpans, s.Len())
			items = append(items, Stretch{s.Lane, s.Track, s.First, s.First + n})
			s.First += n
		}
	}
	return items
}

// Spread calls do for each of n items, on all cores; each goroutine has its own
// worker number, below GOMAXPROCS. It ends early with ctx.
func Spread(ctx context.Context, n int, do func(worker, item int)) error {
	var next atomic.Int64
	var wg sync.WaitGroup
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

// Calls marks, by call, those that run one of some functions.
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
