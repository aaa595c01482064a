package analyze

import (
	"context"
	"math"
	"runtime"
	"slices"

	"ashlar/ingest/model/column"
	"ashlar/ingest/model/lanes"
	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/scan"
)

// lanes returns the lanes of a query's scope, with the spans that overlap its range and
// belong to its calls.
func (q *Query) lanes(rec *recording.Recording) []scan.Stretch {
	return q.reached(rec, scan.Lanes(rec, q.Scope))
}

func (q *Query) reached(rec *recording.Recording, lanes []scan.Stretch) []scan.Stretch {
	return slices.DeleteFunc(lanes, func(s scan.Stretch) bool { return !q.reaches(rec, s.Lane) })
}

// reaches reports whether a lane, which must not be empty, is within the query's depth.
// All its spans have the same depth.
func (q *Query) reaches(rec *recording.Recording, l *lanes.Lane) bool {
	return q.Depth == 0 || rec.Calls.Depth(l.Call(0)) <= q.Depth
}

// Shallow returns a Query.Depth for which at most the given number of spans are visited,
// for a first answer that is exact down to that depth. It returns 0 if the whole answer
// needs no more spans than that, or if the outermost spans alone are more.
func Shallow(rec *recording.Recording, q Query, spans int) int {
	if q.Event < 0 || q.Event >= len(rec.Events) || rec.Events[q.Event].Basis != recording.FromSpans || q.Scope.IsWhole() && q.Scope.Beside == nil {
		return 0
	}
	if q.OfProcessors(rec) {
		return 0
	}
	var in, of []int // number of spans by depth: selected, and all
	count := func(to []int, l *lanes.Lane, n int) []int {
		d := rec.Calls.Depth(l.Call(0))
		for len(to) <= d {
			to = append(to, 0)
		}
		to[d] += n
		return to
	}
	for _, s := range scan.Lanes(rec, q.Scope) {
		in = count(in, s.Lane, s.Len())
	}
	for _, t := range rec.Tracks {
		for i := range t.Lanes {
			if l := &t.Lanes[i]; l.Len() > 0 {
				of = count(of, l, l.Len())
			}
		}
	}
	sumIn, sumOf := 0, 0
	for d := range of {
		if sumOf += of[d]; d < len(in) {
			sumIn += in[d]
		}
		if min(sumIn, sumOf-sumIn) > spans {
			return max(0, d-1)
		}
	}
	return 0
}

// spanSum is the sum of a call's spans. The two numbers are adjacent because they are
// always used together, and the calls of a large trace do not fit the cache.
type spanSum struct{ time, count int64 }

// scanSpans returns the clipped duration and the number of spans by call.
//
// The sums over the whole recording are known. So if more than half of it is selected,
// the rest is visited and subtracted: no query visits more than half of the spans.
func scanSpans(ctx context.Context, rec *recording.Recording, q Query) (time, count []int64, err error) {
	parts := q.lanes(rec)
	from, to := q.Scope.Bounds(rec)
	in, of := 0, 0
	for i := range parts {
		in += parts[i].Len()
	}
	for _, t := range rec.Tracks {
		for i := range t.Lanes {
			if l := &t.Lanes[i]; l.Len() > 0 && q.reaches(rec, l) {
				of += l.Len()
			}
		}
	}
	// Nothing can be subtracted from a sum that overflowed.
	if 2*in > of && !slices.Contains(rec.SpanTime, math.MaxInt64) {
		return spansBut(ctx, rec, &q, parts)
	}
	items := scan.Cut(parts...)
	sums, err := sumSpans(ctx, rec, items, func(s *scan.Stretch, sums []spanSum) {
		s.Each(func(_ int, starts, ends []int64, calls []recording.CallID) {
			for k, c := range calls {
				sum := &sums[c]
				recording.Add(&sum.time, min(ends[k], to)-max(starts[k], from))
				sum.count++
			}
		})
	})
	if err != nil {
		return nil, nil, err
	}
	time, count = column.Fresh[int64](len(sums)), column.Fresh[int64](len(sums))
	for c, s := range sums {
		time[c], count[c] = s.time, s.count
	}
	return time, count, nil
}

// spansBut subtracts the unselected spans from the sums of the whole recording: spans on
// other tracks, outside the range or outside the calls, and the parts of spans beyond the
// range.
func spansBut(ctx context.Context, rec *recording.Recording, q *Query, parts []scan.Stretch) (time, count []int64, err error) {
	from, to := q.Scope.Bounds(rec)
	rest := q.reached(rec, scan.Rest(rec, q.Scope))
	edge := map[recording.CallID]int64{}
	for i := range parts {
		// Spans of a lane do not overlap: only the first and the last can extend beyond
		// the range.
		l, first, last := parts[i].Lane, parts[i].First, parts[i].Last-1
		edge[l.Call(first)] += max(0, from-l.Start(first))
		edge[l.Call(last)] += max(0, l.End(last)-to)
	}
	sums, err := sumSpans(ctx, rec, scan.Cut(rest...), func(s *scan.Stretch, sums []spanSum) {
		s.Each(func(_ int, starts, ends []int64, calls []recording.CallID) {
			for k, c := range calls {
				sum := &sums[c]
				recording.Add(&sum.time, ends[k]-starts[k])
				sum.count++
			}
		})
	})
	if err != nil {
		return nil, nil, err
	}
	n := len(rec.SpanTime)
	time, count = column.Fresh[int64](n), column.Fresh[int64](n)
	for c := range n {
		if q.Depth == 0 || rec.Calls.Depth(recording.CallID(c)) <= q.Depth {
			time[c], count[c] = rec.SpanTime[c]-sums[c].time, rec.SpanCount[c]-sums[c].count
		}
	}
	for c, v := range edge {
		time[c] -= v
	}
	return time, count, nil
}

// sumSpans calls add for stretches on several goroutines and returns the sum of their
// results.
func sumSpans(ctx context.Context, rec *recording.Recording, items []scan.Stretch, add func(*scan.Stretch, []spanSum)) ([]spanSum, error) {
	all := make([][]spanSum, runtime.GOMAXPROCS(0))
	all[0] = make([]spanSum, rec.Calls.Len())
	err := scan.Spread(ctx, len(items), func(worker, i int) {
		if all[worker] == nil {
			all[worker] = make([]spanSum, rec.Calls.Len())
		}
		add(&items[i], all[worker])
	})
	for _, sums := range all[1:] {
		for c := range sums {
			recording.Add(&all[0][c].time, sums[c].time)
			all[0][c].count += sums[c].count
		}
	}
	return all[0], err
}

// firstSpans returns the start of each call's first span in a query's range;
// math.MaxInt64 if there is none.
func firstSpans(ctx context.Context, rec *recording.Recording, q Query) ([]int64, error) {
	items := scan.Cut(q.lanes(rec)...)
	all := make([][]int64, runtime.GOMAXPROCS(0))
	all[0] = never(rec.Calls.Len())
	err := scan.Spread(ctx, len(items), func(worker, i int) {
		if all[worker] == nil {
			all[worker] = never(rec.Calls.Len())
		}
		first := all[worker]
		items[i].Each(func(_ int, starts, _ []int64, calls []recording.CallID) {
			for k, c := range calls {
				if starts[k] < first[c] {
					first[c] = starts[k]
				}
			}
		})
	})
	for _, first := range all[1:] {
		for c, at := range first {
			all[0][c] = min(all[0][c], at)
		}
	}
	return all[0], err
}

func never(n int) []int64 {
	s := column.Fresh[int64](n)
	for i := range s {
		s[i] = math.MaxInt64
	}
	return s
}

// outermost visits the outermost calls of the query's set, each with the part of the
// range that it covers. Their parents are not in the set.
func (q *Query) outermost(rec *recording.Recording, visit func(track int, call recording.CallID, covered int64)) {
	if q.Scope.Calls == nil {
		return
	}
	from, to := q.Scope.Bounds(rec)
	chosen := q.Scope.TrackTest()
	q.Scope.Calls.EachOuter(rec, func(track int, l *lanes.Lane, i int) {
		if l.HasWakers() {
			return // a state is not a span
		}
		if start, end := l.Start(i), l.End(i); start < to && end > from && chosen(track) && q.reaches(rec, l) {
			visit(track, l.Call(i), min(end, to)-max(start, from))
		}
	})
}
