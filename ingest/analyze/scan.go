package analyze

import (
	"context"
	"math"
	"runtime"
	"sort"
	"sync"
	"sync/atomic"

	"ashlar/ingest/recording"
)

// stretch is a part of a lane, spans first..last-1, that one goroutine looks
// at.
type stretch struct {
	lane        *recording.Lane
	track       int
	first, last int
}

// stretchSpans is how many spans a stretch has at most: enough to be worth
// handing out, few enough that all goroutines end at the same time.
const stretchSpans = 1 << 16

// cut appends the spans first..last-1 of a lane in parts.
func cut(dst []stretch, lane *recording.Lane, track, first, last int) []stretch {
	for first < last {
		n := min(stretchSpans, last-first)
		dst = append(dst, stretch{lane, track, first, first + n})
		first += n
	}
	return dst
}

// spread calls do for each of n items, on all cores; each goroutine has its own
// worker number. It ends early with ctx.
func spread(ctx context.Context, n int, do func(worker, item int)) error {
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

// selected lists the lanes of a query's tracks with the spans that touch its
// range: at least one.
func selected(rec *recording.Recording, q *Query) (parts []stretch, from, to int64) {
	from, to = rec.Start, rec.End
	if q.Ranged {
		from, to = q.From, q.To
	}
	chosen := q.chosen()
	for ti, t := range rec.Tracks {
		if !chosen(ti) {
			continue
		}
		for i := range t.Lanes {
			l := &t.Lanes[i]
			if first, last := spansIn(l, from, to); first < last && q.has(rec, l) {
				parts = append(parts, stretch{l, ti, first, last})
			}
		}
	}
	return parts, from, to
}

// has tells whether a lane, which is not empty, is not too deep. All its spans
// are equally deep.
func (q *Query) has(rec *recording.Recording, l *recording.Lane) bool {
	return q.Depth == 0 || rec.Calls.Depth(l.Call(0)) <= q.Depth
}

// Shallow returns a Query.Depth for which at most a number of spans have to be
// looked at: for a first answer that is exact as far down as it goes. It is 0
// when the whole answer costs no more than that, or when even the outermost
// spans are more.
func Shallow(rec *recording.Recording, q Query, spans int) int {
	if q.Event < 0 || q.Event >= len(rec.Events) || rec.Events[q.Event].Basis != recording.FromSpans || !q.Ranged && q.Tracks == nil {
		return 0
	}
	parts, _, _ := selected(rec, &q)
	var in, of []int // spans by depth: selected, and all
	count := func(to []int, l *recording.Lane, n int) []int {
		d := rec.Calls.Depth(l.Call(0))
		for len(to) <= d {
			to = append(to, 0)
		}
		to[d] += n
		return to
	}
	for _, s := range parts {
		in = count(in, s.lane, s.last-s.first)
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

// each calls f with runs of a stretch's columns.
func (s *stretch) each(f func(starts, ends []int64, calls []recording.CallID)) {
	var room recording.Room
	for i := s.first; i < s.last; {
		starts, ends, calls := s.lane.Columns(i, &room)
		n := min(len(starts), s.last-i)
		f(starts[:n], ends[:n], calls[:n])
		i += n
	}
}

// spanSum is what the spans of a call add up to: beside each other, since they
// are always used together and the calls of a large trace do not fit the cache.
type spanSum struct{ time, count int64 }

// scanSpans sums the clipped duration and the number of spans by call.
//
// The sums of the whole recording are known. So when more than half of it is
// selected, what is looked at is the rest: an answer never costs more than half
// of the spans.
func scanSpans(ctx context.Context, rec *recording.Recording, q Query) (time, count []int64, err error) {
	parts, from, to := selected(rec, &q)
	in, of := 0, 0
	for i := range parts {
		in += parts[i].last - parts[i].first
	}
	for _, t := range rec.Tracks {
		for i := range t.Lanes {
			if l := &t.Lanes[i]; l.Len() > 0 && q.has(rec, l) {
				of += l.Len()
			}
		}
	}
	if 2*in > of {
		return spansBut(ctx, rec, &q, from, to)
	}
	var items []stretch
	for _, s := range parts {
		items = cut(items, s.lane, s.track, s.first, s.last)
	}
	sums, err := sumSpans(ctx, rec, items, func(s *stretch, sums []spanSum) {
		s.each(func(starts, ends []int64, calls []recording.CallID) {
			for k, c := range calls {
				sum := &sums[c]
				sum.time += min(ends[k], to) - max(starts[k], from)
				sum.count++
			}
		})
	})
	if err != nil {
		return nil, nil, err
	}
	time, count = make([]int64, len(sums)), make([]int64, len(sums))
	for c, s := range sums {
		time[c], count[c] = s.time, s.count
	}
	return time, count, nil
}

// spansBut takes from the sums of the whole recording the spans of other tracks,
// those outside a range, and what sticks out of it.
func spansBut(ctx context.Context, rec *recording.Recording, q *Query, from, to int64) (time, count []int64, err error) {
	var items []stretch
	edge := map[recording.CallID]int64{}
	chosen := q.chosen()
	for ti, t := range rec.Tracks {
		for i := range t.Lanes {
			l := &t.Lanes[i]
			if l.Len() == 0 || !q.has(rec, l) {
				continue
			}
			if !chosen(ti) {
				items = cut(items, l, ti, 0, l.Len())
				continue
			}
			first, last := spansIn(l, from, to)
			items = cut(items, l, ti, 0, first)
			items = cut(items, l, ti, last, l.Len())
			if first < last {
				// Spans of a lane do not overlap: only its first and its last
				// can stick out.
				edge[l.Call(first)] += max(0, from-l.Start(first))
				edge[l.Call(last-1)] += max(0, l.End(last-1)-to)
			}
		}
	}
	sums, err := sumSpans(ctx, rec, items, func(s *stretch, sums []spanSum) {
		s.each(func(starts, ends []int64, calls []recording.CallID) {
			for k, c := range calls {
				sum := &sums[c]
				sum.time += ends[k] - starts[k]
				sum.count++
			}
		})
	})
	if err != nil {
		return nil, nil, err
	}
	n := len(rec.SpanTime)
	time, count = make([]int64, n), make([]int64, n)
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

// sumSpans lets several goroutines add stretches up and adds up what they have.
func sumSpans(ctx context.Context, rec *recording.Recording, items []stretch, add func(*stretch, []spanSum)) ([]spanSum, error) {
	all := make([][]spanSum, runtime.GOMAXPROCS(0))
	all[0] = make([]spanSum, rec.Calls.Len())
	err := spread(ctx, len(items), func(worker, i int) {
		if all[worker] == nil {
			all[worker] = make([]spanSum, rec.Calls.Len())
		}
		add(&items[i], all[worker])
	})
	for _, sums := range all[1:] {
		for c := range sums {
			all[0][c].time += sums[c].time
			all[0][c].count += sums[c].count
		}
	}
	return all[0], err
}

// firstSpans tells when the first span of each call starts that is in a query's
// range; math.MaxInt64 where there is none.
func firstSpans(ctx context.Context, rec *recording.Recording, q Query) ([]int64, error) {
	parts, _, _ := selected(rec, &q)
	var items []stretch
	for _, s := range parts {
		items = cut(items, s.lane, s.track, s.first, s.last)
	}
	all := make([][]int64, runtime.GOMAXPROCS(0))
	all[0] = never(rec.Calls.Len())
	err := spread(ctx, len(items), func(worker, i int) {
		if all[worker] == nil {
			all[worker] = never(rec.Calls.Len())
		}
		first := all[worker]
		items[i].each(func(starts, _ []int64, calls []recording.CallID) {
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
	s := make([]int64, n)
	for i := range s {
		s[i] = math.MaxInt64
	}
	return s
}

// spansIn returns the spans first..last-1 of a lane that touch from..to. A span
// of no length counts where it lies, both edges included.
func spansIn(l *recording.Lane, from, to int64) (first, last int) {
	first = l.Search(from)
	for first > 0 && l.End(first-1) == from && l.Start(first-1) == from {
		first--
	}
	n := l.Len()
	last = first + sort.Search(n-first, func(k int) bool { return l.Start(first+k) >= to })
	for last < n && l.Start(last) == to && l.End(last) == to {
		last++
	}
	return first, last
}
