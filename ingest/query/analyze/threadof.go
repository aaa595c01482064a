package analyze

import (
	"context"

	"ashlar/ingest/model/recording"
)

// Results of ThreadOf for functions that do not run on exactly one thread.
const (
	NoThread    = -1 // on no known thread
	ManyThreads = -2
)

// ThreadOf returns, for each function that runs on exactly one track, that track. It visits
// every span and sample once.
func ThreadOf(ctx context.Context, rec *recording.Recording) ([]int32, error) {
	calls := make([]int32, rec.Calls.Len())
	for i := range calls {
		calls[i] = NoThread
	}
	for ti, t := range rec.Tracks {
		for l := range t.Lanes {
			lane := &t.Lanes[l]
			for i := 0; i < lane.Len(); {
				run := lane.Calls(i)
				for _, c := range run {
					calls[c] = joined(calls[c], int32(ti))
				}
				i += len(run)
				if ctx.Err() != nil {
					return nil, ctx.Err()
				}
			}
		}
		for _, s := range t.Samples {
			for i := range s.Len() {
				c := s.Call(i)
				calls[c] = joined(calls[c], int32(ti))
			}
		}
	}
	for _, s := range rec.Stacks {
		if s == nil {
			continue
		}
		for i := range s.Len() {
			if ti := s.Track(i); ti != recording.NoTrack {
				c := s.Call(i)
				calls[c] = joined(calls[c], int32(ti))
			}
		}
	}
	of := make([]int32, rec.Functions.Len())
	for i := range of {
		of[i] = NoThread
	}
	// A thread that has samples in a call also has them in the call's callers.
	for c := len(calls) - 1; c > 0; c-- {
		call := recording.CallID(c)
		f := rec.Func(call)
		of[f] = joined(of[f], calls[c])
		if up := rec.Calls.Parent(call); up != recording.NoCall {
			calls[up] = joined(calls[up], calls[c])
		}
	}
	return of, nil
}

func joined(a, b int32) int32 {
	switch {
	case a == NoThread:
		return b
	case b == NoThread || a == b:
		return a
	}
	return ManyThreads
}
