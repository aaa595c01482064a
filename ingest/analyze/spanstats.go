package analyze

import (
	"context"
	"math"
	"runtime"

	"ashlar/ingest/recording"
)

// SpanStat tells how long a function's spans are, in picoseconds.
type SpanStat struct {
	// Count is the number of spans that touch the selection, and Sum what their
	// lengths add up to. A length is always the whole span's, also where the
	// range cuts it, and that which is drawn for a span that never ended.
	Count, Sum int64
	Min, Max   int64
}

// Average is the mean length, rounded down; 0 without spans.
func (s *SpanStat) Average() int64 {
	if s.Count == 0 {
		return 0
	}
	return s.Sum / s.Count
}

func (s *SpanStat) add(o *SpanStat) {
	if o.Count == 0 {
		return
	}
	if s.Count == 0 {
		*s = *o
		return
	}
	s.Count += o.Count
	s.Sum += o.Sum
	s.Min, s.Max = min(s.Min, o.Min), max(s.Max, o.Max)
}

// SpanStats looks at every span of a query's range and tracks, and tells about
// their lengths by function: the answer is indexed by FuncID. It is nil for
// events that are not made of spans.
func SpanStats(ctx context.Context, rec *recording.Recording, q Query) ([]SpanStat, error) {
	if q.Event < 0 || q.Event >= len(rec.Events) || rec.Events[q.Event].Basis != recording.FromSpans {
		return nil, nil
	}
	parts, _, _ := selected(rec, &q)
	var items []stretch
	for _, s := range parts {
		items = cut(items, s.lane, s.track, s.first, s.last)
	}
	all := make([][]SpanStat, runtime.GOMAXPROCS(0)) // by worker and call
	err := spread(ctx, len(items), func(worker, i int) {
		if all[worker] == nil {
			all[worker] = make([]SpanStat, rec.Calls.Len())
			for c := range all[worker] {
				all[worker][c].Min = math.MaxInt64
			}
		}
		stats := all[worker]
		items[i].each(func(starts, ends []int64, calls []recording.CallID) {
			for k, c := range calls {
				s := &stats[c]
				d := ends[k] - starts[k]
				s.Count++
				s.Sum += d
				s.Min, s.Max = min(s.Min, d), max(s.Max, d)
			}
		})
	})
	if err != nil {
		return nil, err
	}
	out := make([]SpanStat, rec.Functions.Len())
	for _, stats := range all {
		for c := 1; c < len(stats); c++ {
			if stats[c].Count > 0 {
				out[rec.Func(recording.CallID(c))].add(&stats[c])
			}
		}
	}
	return out, nil
}

// Spans is what stats, by function as [SpanStats] has them, tell about the spans
// of a table's row: nil where that is no function of the recording, as with a
// module that stands for its functions, and where there are none.
func (r *Row) Spans(rec *recording.Recording, stats []SpanStat) *SpanStat {
	if int(r.Func) >= len(stats) || stats[r.Func].Count == 0 {
		return nil
	}
	if f := rec.Functions.At(int(r.Func)); f.Name != r.Name || f.Module != r.Module {
		return nil
	}
	return &stats[r.Func]
}

// SpanRank tells how many of a function's spans are longer than d picoseconds,
// and how many there are, in a query's range and tracks: the longest has none
// before it.
func SpanRank(ctx context.Context, rec *recording.Recording, q Query, of recording.FuncID, d int64) (longer, all int64, err error) {
	is := make([]bool, rec.Calls.Len())
	for c := 1; c < len(is); c++ {
		is[c] = rec.Func(recording.CallID(c)) == of
	}
	parts, _, _ := selected(rec, &q)
	var items []stretch
	for _, s := range parts {
		items = cut(items, s.lane, s.track, s.first, s.last)
	}
	type counts struct {
		longer, all int64
		_           [112]byte // a worker's own cache lines
	}
	sums := make([]counts, runtime.GOMAXPROCS(0))
	err = spread(ctx, len(items), func(worker, i int) {
		sum := &sums[worker]
		items[i].each(func(starts, ends []int64, calls []recording.CallID) {
			for k, c := range calls {
				if is[c] {
					sum.all++
					if ends[k]-starts[k] > d {
						sum.longer++
					}
				}
			}
		})
	})
	for _, s := range sums {
		longer, all = longer+s.longer, all+s.all
	}
	return longer, all, err
}
