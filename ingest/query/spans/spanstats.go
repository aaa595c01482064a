// Package spans answers questions about single spans: the durations of a function's calls,
// the longest ones, their trend over time, and the flows through a span. For samples it
// reports how often and for how long at a stretch a function was seen. Package analyze
// sums their cost.
package spans

import (
	"context"
	"math"
	"math/bits"
	"runtime"

	"ashlar/ingest/model/recording"
	"ashlar/ingest/query/analyze"
	"ashlar/ingest/query/scan"
)

// Stat summarizes the lengths of a function's spans, in picoseconds.
type Stat struct {
	// Count is the number of spans that touch the selection. A length is always the
	// length of the whole span, even if the range cuts it. The length of an unfinished
	// span is the length drawn.
	Count    int64
	Min, Max int64
	sum      wide // sum of the lengths
}

// wide is a sum that cannot overflow.
type wide struct{ hi, lo uint64 }

func (s *wide) add(o wide) {
	var carry uint64
	s.lo, carry = bits.Add64(s.lo, o.lo, 0)
	s.hi += o.hi + carry
}

// Average returns the mean length, rounded down; 0 without spans.
func (s *Stat) Average() int64 {
	if s.Count == 0 {
		return 0
	}
	mean, _ := bits.Div64(s.sum.hi, s.sum.lo, uint64(s.Count))
	return int64(mean)
}

func (s *Stat) add(o *Stat) {
	if o.Count == 0 {
		return
	}
	if s.Count == 0 {
		*s = *o
		return
	}
	s.Count += o.Count
	s.sum.add(o.sum)
	s.Min, s.Max = min(s.Min, o.Min), max(s.Max, o.Max)
}

// Stats summarizes the lengths of all spans in a scope by function. The result is indexed
// by FuncID.
func Stats(ctx context.Context, rec *recording.Recording, in recording.Scope) ([]Stat, error) {
	items := scan.Cut(scan.Lanes(rec, in)...)
	all := make([][]Stat, runtime.GOMAXPROCS(0)) // by worker and call
	err := scan.Spread(ctx, len(items), func(worker, i int) {
		if all[worker] == nil {
			all[worker] = make([]Stat, rec.Calls.Len())
			for c := range all[worker] {
				all[worker][c].Min = math.MaxInt64
			}
		}
		stats := all[worker]
		items[i].Each(func(_ int, starts, ends []int64, calls []recording.CallID) {
			for k, c := range calls {
				s := &stats[c]
				d := ends[k] - starts[k]
				s.Count++
				s.sum.add(wide{0, uint64(d)})
				s.Min, s.Max = min(s.Min, d), max(s.Max, d)
			}
		})
	})
	if err != nil {
		return nil, err
	}
	out := make([]Stat, rec.Functions.Len())
	for _, stats := range all {
		for c := 1; c < len(stats); c++ {
			if stats[c].Count > 0 {
				out[rec.Func(recording.CallID(c))].add(&stats[c])
			}
		}
	}
	return out, nil
}

// OfRow returns the stats of a table row's function; stats is indexed as in [Stats]. It
// returns nil if the row is not a function of the recording, such as a module that
// replaces its functions, or has no spans.
func OfRow(rec *recording.Recording, r *analyze.Row, stats []Stat) *Stat {
	if int(r.Func) >= len(stats) || stats[r.Func].Count == 0 || !r.IsFunction(rec) {
		return nil
	}
	return &stats[r.Func]
}

// A Length is a duration shown for a function's spans, such as their average.
type Length struct {
	Name string
	of   func(*Stat) int64
}

// Lengths are the columns of function tables.
var Lengths = [...]Length{
	{"average", (*Stat).Average},
	{"least", func(s *Stat) int64 { return s.Min }},
	{"most", func(s *Stat) int64 { return s.Max }},
}

// OfRow returns the length for the spans of a table's row (see [OfRow]), or -1 if it has
// none.
func (l *Length) OfRow(rec *recording.Recording, r *analyze.Row, stats []Stat) int64 {
	if s := OfRow(rec, r, stats); s != nil {
		return l.of(s)
	}
	return -1
}
