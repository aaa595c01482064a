package waits

import (
	"cmp"
	"context"

	"ashlar/ingest/model/order"
	"ashlar/ingest/model/recording"
)

// By is a grouping of waits.
type By string

// Groupings of waits.
const (
	// ByWaker groups by the thread that ended the wait, ByWakerStack by its stack.
	ByWaker      By = "waker"
	ByWakerStack By = "waker-stack"
	// ByWaiter groups by the thread that waited, ByWaiterStack by its stack.
	ByWaiter      By = "waiter"
	ByWaiterStack By = "waiter-stack"
)

// A Sum has the total time of the waits of one group within a scope, in picoseconds, their
// number and the longest of them.
type Sum struct {
	// Track is the thread, for groups of threads; NoTrack if unknown. Call is the stack,
	// for groups of stacks; NoCall if unknown.
	Track         int
	Call          recording.CallID
	Time, Longest int64
	Count         int64
}

// Sums groups the waits of a scope and returns the longest sum first. It counts only waits
// for which only returns true; if only is nil it counts all, and the sums add up to the
// blocked time of the scope.
func Sums(ctx context.Context, rec *recording.Recording, in recording.Scope, by By, only func(*Wait) bool) ([]Sum, error) {
	type key struct {
		track int
		call  recording.CallID
	}
	at := map[key]int{}
	var sums []Sum
	err := Each(ctx, rec, in, func(w *Wait, from, to int64) {
		if only != nil && !only(w) {
			return
		}
		k := key{track: recording.NoTrack}
		switch by {
		case ByWaker:
			k.track = int(w.Waker.Track)
		case ByWakerStack:
			k.call, _ = w.Doing(rec)
		case ByWaiter:
			k.track = w.Track
		default:
			k.call = w.Stack(rec)
		}
		i, ok := at[k]
		if !ok {
			i = len(sums)
			at[k] = i
			sums = append(sums, Sum{Track: k.track, Call: k.call})
		}
		s := &sums[i]
		recording.Add(&s.Time, to-from)
		s.Count++
		s.Longest = max(s.Longest, to-from)
	})
	order.By(sums, func(a, b Sum) int {
		return cmp.Or(cmp.Compare(b.Time, a.Time), cmp.Compare(b.Count, a.Count), cmp.Compare(a.Track, b.Track), cmp.Compare(a.Call, b.Call))
	})
	return sums, err
}
