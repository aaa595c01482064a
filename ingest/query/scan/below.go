package scan

import (
	"context"
	"slices"
	"sort"

	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/model/sets"
)

// Below returns the set of the picked spans of a recording, by track and lane, and
// everything that ran inside them. It ends early with ctx.
//
// It walks each track from the outermost lane inwards. In each lane, the set's spans are
// the picked ones and the children of the set's spans in the lane above. So the time
// depends on the number of runs, not on the number of spans.
func Below(ctx context.Context, rec *recording.Recording, text string, picked [][][]sets.Run) (*recording.CallSet, error) {
	set := &recording.CallSet{Text: text, Picked: picked, Outer: make([][][]sets.Run, len(rec.Tracks)), Runs: make([][][]sets.Run, len(rec.Tracks)), Times: make([][]recording.Time, len(rec.Tracks))}
	var on []int // tracks with picked spans
	for track, of := range picked {
		n := 0
		for _, runs := range of {
			for _, r := range runs {
				n += r.Last - r.First
			}
		}
		if set.Calls += n; n > 0 {
			on = append(on, track)
		}
	}
	return set, Spread(ctx, len(on), func(_, i int) { belowOn(ctx, rec, set, on[i], picked[on[i]]) })
}

// belowOn is Below for the spans of one track.
func belowOn(ctx context.Context, rec *recording.Recording, set *recording.CallSet, track int, picked [][]sets.Run) {
	t := rec.Tracks[track]
	set.Runs[track], set.Outer[track] = make([][]sets.Run, len(t.Lanes)), make([][]sets.Run, len(t.Lanes))
	for _, lanes := range t.Columns(&rec.Calls) {
		var runs []sets.Run
		for k, lane := range lanes {
			if len(runs) > 0 {
				var err error
				if runs, err = children(ctx, rec, &t.Lanes[lanes[k-1]], &t.Lanes[lane], runs); err != nil {
					return // the caller sees that ctx has ended
				}
			}
			outer := sets.Without(picked[lane], runs)
			switch {
			case len(runs) == 0:
				runs = outer
			case len(outer) > 0:
				runs = sets.Joined(slices.Concat(runs, outer))
			}
			set.Runs[track][lane], set.Outer[track][lane] = runs, outer
		}
	}
	set.Times[track] = times(t, set.Outer[track])
}

// times returns the times of spans. Times that touch or overlap are joined.
func times(t *recording.Track, of [][]sets.Run) []recording.Time {
	var lists [][]recording.Time // each list is in order; neighbouring lists are merged until one is left
	for lane, runs := range of {
		l, n := &t.Lanes[lane], 0
		for _, r := range runs {
			n += r.Last - r.First
		}
		if n == 0 {
			continue
		}
		list := make([]recording.Time, 0, n)
		for _, r := range runs {
			for i := r.First; i < r.Last; i++ {
				list = joinTime(list, recording.Time{From: l.Start(i), To: l.End(i)})
			}
		}
		lists = append(lists, list)
	}
	if len(lists) == 0 {
		return nil
	}
	for ; len(lists) > 1; lists = lists[:(len(lists)+1)/2] {
		for i := range len(lists) / 2 {
			lists[i] = mergeTimes(lists[2*i], lists[2*i+1])
		}
		if n := len(lists); n%2 > 0 {
			lists[n/2] = lists[n-1]
		}
	}
	return lists[0]
}

func mergeTimes(a, b []recording.Time) []recording.Time {
	all := make([]recording.Time, 0, len(a)+len(b))
	for len(a) > 0 && len(b) > 0 {
		if b[0].From < a[0].From {
			a, b = b, a
		}
		all, a = joinTime(all, a[0]), a[1:]
	}
	for _, x := range append(a, b...) { // one of the two is empty
		all = joinTime(all, x)
	}
	return all
}

// joinTime adds a time that begins no earlier than the last one.
func joinTime(to []recording.Time, x recording.Time) []recording.Time {
	if n := len(to); n > 0 && x.From <= to[n-1].To {
		to[n-1].To = max(to[n-1].To, x.To)
		return to
	}
	return append(to, x)
}

// pieceRuns is the number of runs of parents that one goroutine takes at a time.
const pieceRuns = 1 << 11

// children returns the spans of a lane whose parents, in the lane above, are in runs.
func children(ctx context.Context, rec *recording.Recording, above, lane *lanes.Lane, runs []sets.Run) ([]sets.Run, error) {
	pieces := make([][]sets.Run, (len(runs)+pieceRuns-1)/pieceRuns)
	err := Spread(ctx, len(pieces), func(_, i int) {
		f := family{rec: rec, above: above, lane: lane}
		for _, r := range runs[i*pieceRuns : min(len(runs), (i+1)*pieceRuns)] {
			f.of(r)
		}
		pieces[i] = f.found
	})
	return sets.Joined(slices.Concat(pieces...)), err
}

// family finds children along a lane.
type family struct {
	rec         *recording.Recording
	above, lane *lanes.Lane
	at          int // children of later runs are at or after this index, except at equal times
	found       []sets.Run
}

// of finds the children of a run of parents. Spans within the run's time have their
// parents in the run, except that a zero-length span at an edge may belong to a neighbour
// of the run.
func (f *family) of(r sets.Run) {
	from, to := f.above.Start(r.First), f.above.End(r.Last-1)
	n := f.lane.Len()
	first := f.at
	for first > 0 && f.lane.Start(first-1) >= from {
		first--
	}
	first = seek(first, n, func(i int) bool { return f.lane.Start(i) >= from })
	last := seek(first, n, func(i int) bool { return f.lane.End(i) > to })
	f.at = last
	lo, hi := first, last
	for lo < hi && f.lane.End(lo) == from {
		lo++
	}
	for hi > lo && f.lane.Start(hi-1) == to {
		hi--
	}
	for i := first; i < lo; i++ {
		f.edge(i, r)
	}
	if lo < hi {
		f.take(lo, hi)
	}
	for i := hi; i < last; i++ {
		f.edge(i, r)
	}
}

// edge adds a zero-length span at an edge of a run if its parent is in the run.
func (f *family) edge(i int, r sets.Run) {
	at, parent := f.lane.Start(i), f.rec.Calls.Parent(f.lane.Call(i))
	for k := r.First; k < r.Last && f.above.Start(k) <= at; k++ {
		if f.above.End(k) < at { // skip to parents that reach this moment
			k = max(k, min(r.Last, f.above.Search(at-1))-1)
			continue
		}
		if f.above.Call(k) == parent {
			f.take(i, i+1)
			return
		}
	}
}

func (f *family) take(first, last int) {
	if n := len(f.found); n > 0 && f.found[n-1].Last == first {
		f.found[n-1].Last = last
		return
	}
	f.found = append(f.found, sets.Run{First: first, Last: last})
}

// seek returns the first i in at..n-1 for which is(i) holds, or n if there is none. If is
// holds for an i, it must hold for all later ones. The search is fast if i is close to
// at.
func seek(at, n int, is func(int) bool) int {
	lo, step := at, 1
	for at < n && !is(at) {
		lo = at + 1
		at += step
		step *= 2
	}
	hi := min(at, n)
	return lo + sort.Search(hi-lo, func(k int) bool { return is(lo + k) })
}
